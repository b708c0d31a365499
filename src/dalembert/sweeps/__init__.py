"""Quantities over all states of a range, reduced as they are computed, and the local optima near the best of them.

May import: algebra, derived, engine, model, native, storage, trace.
"""
