"""Quantities made from formulations, from the programs of other quantities, or from the chain itself.

A recipe is a function (model, make, method, optional, **options); `make(quantity, method, optional)` gives the program of another
quantity of the same robot, `make.derivative` its Jacobians. It returns a function of arrays by name, to be recorded, or a finished
program.
May import: algebra, model, formulations, trace.
"""
