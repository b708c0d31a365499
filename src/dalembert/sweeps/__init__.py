"""Extremes over all states of a range: sweeps and their reductions, proven bounds, the choice of motors.

May import: algebra, derived, engine, model, native, quantities, simulation, storage, trace.
"""
