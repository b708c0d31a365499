"""Where every formulation is described: its page, its paper and the equations that the code follows."""

from typing import NamedTuple


class Entry(NamedTuple):
    """One method: the page in docs/formulations (whose label is the method's own name), the paper, its equations."""

    page: str
    paper: str
    equations: str


FU = "Fu, Gonzalez and Lee 1987"
SILVER = "Silver 1981"
PARK_LYNCH = "Park and Lynch"
PARK = "Park, Bobrow and Ploen 1995"
KOZLOWSKI = "Kozlowski 1995"
WALKER = "Walker and Orin 1982"

METHODS = {
    "newton_euler": Entry("newton_euler", FU, "(3.3-47) to (3.3-59), table 3.3"),
    "newton_euler_base": Entry("newton_euler_base", FU, "(3.3-36) to (3.3-46), table 3.2"),
    "lagrange_euler": Entry("lagrange_euler", FU, "(3.2-25) to (3.2-38)"),
    "uicker_kahn": Entry("uicker_kahn", SILVER, "(1.2)"),
    "recursive_lagrange_4x4": Entry("recursive_lagrange", f"{SILVER}, after Hollerbach", "section 1.4"),
    "recursive_lagrange_3x3": Entry("recursive_lagrange", f"{SILVER}, after Hollerbach", "section 1.4"),
    "angular_velocity_lagrange": Entry("angular_velocity_lagrange", SILVER, "(3.11) to (3.16)"),
    "generalized_dalembert": Entry("generalized_dalembert", FU, "(3.4-1) to (3.4-28)"),
    "lie_group": Entry("lie_group", PARK, "(21) to (27)"),
    "lie_group_com": Entry("lie_group_com", PARK_LYNCH, "(9.53) to (9.57)"),
    "lie_closed_form": Entry("lie_closed_form", PARK, "(29), (36) to (40), (53) to (59)"),
    "stacked_operators": Entry("stacked_operators", PARK_LYNCH, "(9.62) to (9.84)"),
    "spatial_operator": Entry("spatial_operator", KOZLOWSKI, "(12) to (29), (38), table 1"),
    "composite_body": Entry("composite_body", f"{WALKER}, third method; Echeandia and Wensing 2021", "in the text"),
    "composite_body_world": Entry(
        "composite_body_world", "Carpentier and Mansard 2018; Singh, Russell and Wensing 2022", "in the text"
    ),
    "body_jacobians": Entry("body_jacobians", PARK_LYNCH, "(9.59) to (9.61)"),
    "probing": Entry("probing", FU, "problems 3.11 and 3.12"),
    "articulated_body": Entry("articulated_body", "Featherstone 1983, 1987", "in the text"),
    "brandl": Entry("articulated_body", "Brandl, Johanni and Otter 1986", "in the text"),
    "kalman": Entry("kalman", f"Rodriguez 1987; {KOZLOWSKI}", "(12), table 3"),
    "walker_orin_1": Entry("walker_orin", WALKER, "first method"),
    "walker_orin_2": Entry("walker_orin", WALKER, "second method"),
    "walker_orin_3": Entry("walker_orin", WALKER, "third method"),
    "walker_orin_4": Entry("walker_orin", WALKER, "fourth method"),
    "joint_acceleration": Entry("joint_acceleration", PARK_LYNCH, "(9.89), section 9.5"),
    "diagonalized_normalized": Entry("diagonalized", KOZLOWSKI, "(26) to (42), (48)"),
    "diagonalized_unnormalized": Entry("diagonalized", KOZLOWSKI, "(34), (43) to (46)"),
    "regressor": Entry("regressor", "Atkeson, An and Hollerbach 1986", "in the text"),
}
