"""Names that other libraries have for what is here, so that a user of theirs finds ours."""

from typing import Any

NAMES = {
    # Robotics Toolbox
    "fkine": "pose(q)",
    "fkine_all": "poses(q)",
    "ikine_LM": "inverse_kinematics(pose)",
    "ik_LM": "inverse_kinematics(pose)",
    "jacob0": 'jacobian(q, frame="world_aligned")',
    "jacobe": 'jacobian(q, frame="body")',
    "jacob0_dot": 'jacobian_rate(q, qd, frame="world_aligned")',
    "rne": "inverse_dynamics(q, qd, qdd)",
    "gravload": "gravity_force(q)",
    "inertia": "mass_matrix(q)",
    "inertia_x": "task_inertia(q)",
    "coriolis": "coriolis_matrix(q, qd)",
    "accel": "forward_dynamics(q, qd, tau)",
    "fdyn": "simulate(q, duration=...)",
    "itorque": "mass_matrix(q) @ qdd",
    "friction": "friction_force(qd)",
    "nofriction": "without_friction()",
    "payload": "with_payload(mass)",
    # Pinocchio
    "rnea": "inverse_dynamics(q, qd, qdd)",
    "aba": "forward_dynamics(q, qd, tau)",
    "crba": "mass_matrix(q)",
    "computeGeneralizedGravity": "gravity_force(q)",
    "computeCoriolisMatrix": "coriolis_matrix(q, qd)",
    "computeRNEADerivatives": "inverse_dynamics_derivatives(q, qd, qdd)",
    "computeABADerivatives": "forward_dynamics_derivatives(q, qd, tau)",
    "computeMinverse": "inverse_mass_matrix(q)",
    "computeJointTorqueRegressor": "regressor(q, qd, qdd)",
    "nonLinearEffects": "bias_force(q, qd)",
    "nle": "bias_force(q, qd)",
    "forwardKinematics": "poses(q)",
    "centerOfMass": "center_of_mass(q)",
    "jacobianCenterOfMass": "com_jacobian(q)",
    "computeFrameJacobian": 'jacobian(q, link, frame="body")',
    "computeJointJacobian": 'jacobian(q, link, frame="body")',
    "computeKineticEnergy": "kinetic_energy(q, qd)",
    "computePotentialEnergy": "potential_energy(q)",
    "randomConfiguration": "random_configuration(rng)",
    "buildReducedModel": "lock({joint: position})",
    "nv": "n",
    # Modern Robotics
    "InverseDynamics": "inverse_dynamics(q, qd, qdd)",
    "ForwardDynamics": "forward_dynamics(q, qd, tau)",
    "MassMatrix": "mass_matrix(q)",
    "VelQuadraticForces": "coriolis_force(q, qd)",
    "GravityForces": "gravity_force(q)",
    "FKinBody": "pose(q)",
    "FKinSpace": "pose(q)",
    "JacobianBody": 'jacobian(q, frame="body")',
    "JacobianSpace": 'jacobian(q, frame="world")',
    # what one would guess
    "forward_kinematics": "pose(q)",
    "inverse_inertia": "inverse_mass_matrix(q)",
    "dof": "n",
    "ndof": "n",
    "coriolis_vector": "coriolis_force(q, qd)",
    "gravity_vector": "gravity_force(q)",
    "gravity_torque": "gravity_force(q)",
    "mass": "total_mass",
}
LOADERS = ("from_urdf", "load_urdf", "URDF", "buildModelFromUrdf", "from_file", "load_model", "loadModel")


def hint(name: str) -> str:
    """What a name of another library is called here."""
    return "load a robot with dalembert.load(path)" if name in LOADERS else f"use robot.{NAMES[name]}"


class Foreign:
    """A name that a robot does not have: reading it from a robot, or calling it on the class, raises what to use instead."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, instance: object, owner: type) -> Any:
        if instance is None:
            return self  # tools that list a class read everything in it
        raise self._missing()

    def __call__(self, *_: Any, **__: Any) -> Any:
        """For `Robot.from_urdf(...)`."""
        raise self._missing()

    def _missing(self) -> AttributeError:
        return AttributeError(f"Robot has no attribute {self.name!r}; {hint(self.name)}")


class Hinting(type):
    """The type of a class with foreign names: completion after the class leaves them out."""

    def __dir__(cls) -> list[str]:
        return [name for name in super().__dir__() if name not in FOREIGN]


class Hints(metaclass=Hinting):
    """Foreign names of a robot. A `__getattr__` would do the same, and slow down every other attribute of every robot."""

    __slots__ = ()

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if name not in FOREIGN]


FOREIGN = {*NAMES, *LOADERS}
for _name in FOREIGN:
    setattr(Hints, _name, Foreign(_name))
