"""Studies of a robot: every formulation compared, counted, timed and proven equal, and a report.

May import: algebra, codegen, derived, engine, files, formulations, model, motion, native, robots, simulation, sizing, storage,
symbolic, trace, visuals.
"""
