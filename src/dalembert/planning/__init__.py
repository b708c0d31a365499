"""Motions found by computation: inverse kinematics, the fastest and the least-effort motions, feedback along them.

May import: algebra, derived, engine, model, motion, native, quantities, simulation, trace.
"""
