"""From a call to a number: the registry of quantities, their programs and kernels, and the evaluation on arrays.

May import: algebra, model, formulations, derived, trace, native.
"""
