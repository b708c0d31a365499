"""Controllers: functions of time and state that give joint forces.

May import: algebra, derived, engine, model, motion, quantities, robots.
"""
