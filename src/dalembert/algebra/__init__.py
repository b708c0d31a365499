"""Arrays of any scalar (floats, fractions, traced expressions), rigid-body algebra on them, and small linear algebra.

May import: nothing.
"""
