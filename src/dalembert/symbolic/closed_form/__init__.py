"""Closed forms of the equations of motion: canonical trigonometric polynomials, shared subexpressions, the Lie-group form."""
