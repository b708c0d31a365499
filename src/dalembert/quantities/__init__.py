"""The quantities of a robot, one function each, bound to `Robot`.

May import: algebra, derived, engine, files, formulations, model, trace.
"""
