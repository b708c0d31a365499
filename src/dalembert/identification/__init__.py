"""From recordings to a robot: exciting motions, identification, validation.

May import: algebra, files, formulations, model, motion, native, quantities, robots, simulation, storage, studies, trace.
"""
