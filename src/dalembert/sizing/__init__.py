"""The choice of motors: what an arm asks of them over all its states and payloads, and over a duty cycle.

May import: algebra, derived, model, quantities, simulation, storage, sweeps.
"""
