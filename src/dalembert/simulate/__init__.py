"""Motion in time: integrators, paths to follow, controllers, and the Trajectory that comes out."""
