"""Paths in time to follow. May import: algebra, model."""
