"""Bounds of quantities that no state of a range exceeds, proven by branch and bound.

May import: algebra, engine, model, native, sweeps, trace.
"""
