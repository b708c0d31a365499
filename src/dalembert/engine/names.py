"""Names that users pass, as types: a type checker then finds a wrong one. Tests compare them with the registry."""

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Result = NDArray[np.float64]  # complex where an input is
Backend = Literal["auto", "native", "numpy"]
TwistFrame = Literal["body", "world_aligned", "world"]
Out = NDArray[Any] | None
InverseDynamicsMethod = Literal[
    "newton_euler",
    "newton_euler_base",
    "lie_group",
    "lie_group_com",
    "spatial_operator",
    "recursive_lagrange_3x3",
    "recursive_lagrange_4x4",
    "angular_velocity_lagrange",
    "generalized_dalembert",
    "stacked_operators",
    "lie_closed_form",
    "lagrange_euler",
    "uicker_kahn",
]
DerivativesMethod = Literal["composite_body_world"] | InverseDynamicsMethod
ForwardDynamicsMethod = Literal[
    "articulated_body",
    "brandl",
    "kalman",
    "walker_orin_1",
    "walker_orin_2",
    "walker_orin_3",
    "walker_orin_4",
    "joint_acceleration",
    "diagonalized_normalized",
    "diagonalized_unnormalized",
]
MassMatrixMethod = Literal[
    "spatial_operator",
    "generalized_dalembert",
    "stacked_operators",
    "lie_closed_form",
    "lagrange_euler",
    "composite_body",
    "composite_body_world",
    "body_jacobians",
    "probing",
]
InverseMassMatrixMethod = Literal["spatial_operator", "composite_body"]
CoriolisMatrixMethod = Literal["lie_closed_form", "composite_body", "composite_body_world"]
ChristoffelMethod = Literal["lie_closed_form", "differentiated"]
