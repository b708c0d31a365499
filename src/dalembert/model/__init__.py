"""What a robot is: links, joints, inertias, poses, wrenches, files of robots, and the plain Tree that formulations take.

May import: algebra, storage.
"""
