"""How much a file may hold, checked before memory is taken for it. Honest files stay far below; hostile ones end here."""

from dalembert.errors import Error

# robots
ROBOT_BYTES = 64 << 20
XML_ITEMS = 2_000_000  # elements and attributes: a robot of 20,000 joints has about a million
XML_DEPTH = 64
XML_TOKEN = 4 << 20  # bytes of one tag or comment
XML_ATTRIBUTE = 1 << 16  # characters
MJCF_ELEMENTS = 20_000  # copies of <replicate> counted; of more MuJoCo takes minutes. Robots have some hundred
MJCF_DEPTH = 300  # bodies stand in bodies
MJCF_MESHES = 300  # that inertias come from
MJCF_MESH_BYTES = 64 << 20  # of their files, each counted once for each mesh made of it: MuJoCo takes sixteen times as much
TOML_KEYS = 600_000  # and tables; a robot of 20,000 joints has 400,000
TOML_TABLES = 40_000  # headers such as [[link]]; of 20,000 joints 20,000
TOML_LINES = 2_000_000
TOML_VALUES = 2_000_000  # commas and brackets; of 20,000 joints 1,100,000
TOML_WORD = 1 << 16  # characters of a key or a number
TOML_DOTS = 4  # in one key, as in base.pose.translation
TOML_DOTTED = 100_000  # in all keys
TOML_ESCAPES = 100_000
COUPLED = 1_006  # joints, coordinates or motors: couplings are of 1,000 joints, to which a free base adds six

# how a robot looks
MESH_BYTES = 64 << 20
MESH_FACES = 1_000_000  # the largest of the robots of example-robot-data has 350,000
MESH_SIZE = 1e9  # of a coordinate
MESH_COLOURS = 1_000
MESH_LINES = 3_000_000  # of an OBJ file
MESH_LINE = 1 << 16  # bytes
MESH_LIBRARIES = 100  # MTL files that an OBJ file names
LIBRARY_BYTES = 1 << 20  # of an MTL file
MESH_ITEMS = 500_000  # elements and attributes of a COLLADA file
MESH_NODES = 100_000  # of the scene in a COLLADA file, counted as often as they are shown
MESH_NUMBERS = 12_000_000  # of a COLLADA file, and elements that its scene shows, counted as often as they are read
MESH_COPIES = 10_000  # how many more of them there may be than bytes in the file
VISUALS = 5_000
VISUALS_FILES = 300  # mesh files of a robot; of those in example-robot-data 50
VISUALS_BYTES = 128 << 20  # in all of them, and in their colours; 60 MB
VISUALS_FACES = 3_000_000  # of all of them, before they are simplified; 700,000
SHOWN_FACES = 500_000  # of all meshes of a robot when they are simplified, counted once for each scale

# tables
LINE = 16 << 20  # bytes of a line of CSV
COLUMNS = 1 << 17  # of CSV: a robot of 20,000 joints has 80,001
HEADER = 1 << 16  # bytes of the header of a NumPy array
CONTENTS = 1 << 20  # bytes of the list of contents of an NPZ file
NAMES = 16 << 20  # bytes of the names of joints in an NPZ file
DISK = 4 << 30  # bytes of an array in Fortran order, which is copied to disk to be read by rows
ARRAYS = 1 << 30  # bytes of all arrays that are held in memory at once, unless the caller raises it


def at_most(count: int, most: int, what: str) -> None:
    """An Error if there are more than so many, which are named in the plural.

    >>> at_most(3, 2, "links")
    Traceback (most recent call last):
    dalembert.errors.Error: more than 2 links, too many
    """
    if count > most:
        raise Error(f"more than {most} {what}, too many")
