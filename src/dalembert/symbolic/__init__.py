"""Letters instead of numbers: symbolic parameters, closed forms, derivations.

May import: algebra, derived, engine, formulations, model, quantities, storage, trace.
"""
