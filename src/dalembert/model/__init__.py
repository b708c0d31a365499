"""What a robot is: links, joints, inertias, poses, and the plain Tree that formulations take."""
