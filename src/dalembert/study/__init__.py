"""Studies of a robot: every formulation compared and counted, a report, and what a terminal shows of it."""
