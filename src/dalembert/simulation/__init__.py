"""Motion in time: integrators, and the Trajectory that comes out.

May import: algebra, derived, engine, files, model, motion, native, quantities, storage, trace.
"""
