"""In which inputs a program is a polynomial of low degree, read from its nodes."""

from collections.abc import Collection

from dalembert.trace.program import Program, operands

BEYOND = 3  # any degree above 2, or no polynomial

Key = tuple[int, int]  # input, and scalar of it


def used(program: Program) -> list[Key]:
    """The scalars of inputs that results depend on, in the order of the inputs."""
    return sorted((node[1], node[2]) for node in program.nodes if node[0] == "input")


def degree(program: Program, of: Collection[Key]) -> int:
    """The degree of the results as polynomials in some scalars of inputs together, at most `BEYOND`.

    >>> from dalembert.trace import trace
    >>> p = trace(lambda x: x[0] * x[1] + x[2].sin(), {"x": (3,)})
    >>> degree(p, [(0, 0)]), degree(p, [(0, 0), (0, 1)]), degree(p, [(0, 2)])
    (1, 2, 3)
    """
    found: list[int] = []
    for op, *rest in program.nodes:
        if op == "input":
            found.append(int((rest[0], rest[1]) in of))
        elif op == "const":
            found.append(0)
        else:
            given = [found[k] for k in operands((op, *rest))]
            if op in ("add", "sub", "neg"):
                now = max(given)
            elif op == "mul":
                now = sum(given)
            elif op in ("div", "where"):  # a polynomial as long as the divisor, or what decides, does not depend on them
                fixed, free = (given[1], given[0]) if op == "div" else (given[0], max(given[1:]))
                now = free if not fixed else BEYOND
            else:
                now = BEYOND if given[0] else 0
            found.append(min(now, BEYOND))
    return max((found[i] for i in program.results), default=0)


def quadratic(program: Program, among: Collection[Key]) -> list[Key]:
    """Scalars of inputs in which all results together are polynomials of degree 2 or less: affine ones first, as many as can be."""
    alone = {key: degree(program, (key,)) for key in among}
    able = sorted((key for key in among if alone[key] < BEYOND), key=lambda key: alone[key])
    if degree(program, able) < BEYOND:
        return sorted(able)
    chosen: list[Key] = []
    for key in able:
        if degree(program, [*chosen, key]) < BEYOND:
            chosen.append(key)
    return sorted(chosen)


def angles(program: Program) -> set[Key]:
    """The scalars of inputs of which results know only sine and cosine: a turn more or less changes nothing."""
    inputs = {i: (node[1], node[2]) for i, node in enumerate(program.nodes) if node[0] == "input"}
    other = {k for node in program.nodes if node[0] not in ("sin", "cos") for k in operands(node)} | set(program.results)
    return {key for i, key in inputs.items() if i not in other}
