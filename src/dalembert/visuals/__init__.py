"""How a robot looks: the shapes of its URDF file, meshes read and simplified, each fixed in one link.

Nothing here is read when a robot is loaded, and no dynamics depends on it.

May import: algebra, model, storage.
"""
