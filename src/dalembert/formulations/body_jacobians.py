"""The mass matrix from the body Jacobians of the links: Park and Lynch, equations (9.59)-(9.61).

M = sum_i J_i^T G_i J_i, where V_i = J_i qd is the twist of link i in its own frame and G_i its inertia there.
"""

from typing import Any

from dalembert.algebra.spatial import Ad_inverse, Array, dot, matrix, rotate, spatial_inertia
from dalembert.model.tree import Tree


def mass_matrix(tree: Tree, q: Any) -> Array:
    """M (..., n, n), the matrix of twice the kinetic energy (9.59), (9.60); rotors left out."""
    n = len(tree.parents)
    M: dict[tuple[int, int], Any] = {}
    columns: list[dict[int, Any]] = []  # of J_i, by the joints on the path to link i
    for i, parent in enumerate(tree.parents):
        after = tree.joint(i)[1]
        pose = tree.pose(i, q[..., i])
        J = {} if parent < 0 else {j: Ad_inverse(pose, column) for j, column in columns[parent].items()}
        J[i] = Ad_inverse(after, tree.axis(i))
        columns.append(J)
        G = spatial_inertia(tree.mass[i], tree.com[i], tree.inertia[i])
        momentum = {j: rotate(G, column) for j, column in J.items()}
        for a in J:
            for b in J:
                if a <= b:
                    M[a, b] = M[b, a] = M.get((a, b), 0) + dot(J[a], momentum[b])  # (9.61)
    return matrix(M, n)
