"""How much a file may hold, checked before memory is taken for it. Honest files stay far below; hostile ones end here."""

# robots
ROBOT_BYTES = 64 << 20
XML_ITEMS = 2_000_000  # elements and attributes: a robot of 20,000 joints has about a million
XML_DEPTH = 64
XML_TOKEN = 4 << 20  # bytes of one tag or comment
XML_ATTRIBUTE = 1 << 16  # characters
MJCF_ELEMENTS = 100_000  # copies of <replicate> counted
MJCF_DEPTH = 300  # bodies stand in bodies
TOML_KEYS = 800_000  # a robot of 20,000 joints has half of that
TOML_VALUES = 5_000_000  # dots, commas and brackets
TOML_DOTS = 4  # in one key, as in base.pose.translation
TOML_DOTTED = 100_000  # in all keys
TOML_ESCAPES = 100_000

# how a robot looks
MESH_BYTES = 128 << 20
MESH_FACES = 3_000_000
MESH_SIZE = 1e9  # of a coordinate
MESH_NODES = 100_000  # of the scene in a COLLADA file, counted as often as they are shown
VISUALS = 5_000

# tables
LINE = 16 << 20  # bytes of a line of CSV
COLUMNS = 1 << 17  # of CSV: a robot of 20,000 joints has 80,001
HEADER = 1 << 16  # bytes of the header of a NumPy array
CONTENTS = 1 << 20  # bytes of the list of contents of an NPZ file
NAMES = 16 << 20  # bytes of the names of joints in an NPZ file
DISK = 4 << 30  # bytes of an array in Fortran order, which is copied to disk to be read by rows
ARRAYS = 1 << 30  # bytes of all arrays that are held in memory at once, unless the caller raises it
