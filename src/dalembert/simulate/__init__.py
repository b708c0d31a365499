"""Motion in time: simulation, motions to follow, and controllers."""
