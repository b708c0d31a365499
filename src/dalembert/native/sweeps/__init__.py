"""Sweeps: states drawn by their number, computed and reduced by one native function, and in NumPy to the same bits."""
