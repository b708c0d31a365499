"""The table of docs/support.md: what it says works does, and all else is refused in one line."""

import re
from pathlib import Path

import numpy as np
import pytest

import dalembert as da

PAGE = (Path(__file__).parents[1] / "docs" / "support.md").read_text(encoding="utf-8")
ROD = da.Inertia.from_com(1.0, (0.3, 0.0, 0.1), (0.1, 0.2, 0.15))


def chain(*kinds):
    """A chain of joints, on which all that have limits have them."""
    links, parent = [], "base"
    for k, kind in enumerate(kinds):
        limits = {} if kind in ("free", "ball", "planar") else {"lower": -2, "upper": 2, "velocity_limit": 2, "effort_limit": 80}
        pose = da.Pose.of((0.3, 0, 0.1), rpy=(0.4 * k, 1.2, 0.3))
        links.append(da.Link(f"link{k}", parent, da.Joint(f"joint{k}", kind, **limits), pose, inertia=ROD))
        parent = f"link{k}"
    return da.Robot("-".join(kinds), tuple(links))


ROBOTS = {
    "coupled": (chain(*["revolute"] * 4).with_coupling({"joint3": {"joint1": 0.5}}),),
    "loops": (da.robot("four_bar"),),
    "free, ball": (chain("free", "revolute"), chain("ball", "revolute")),
    "planar": (chain("planar", "revolute"),),
}


# a row of the table, by how it begins, and a call for each function that it names; q are positions, z zeros, h the hand
CALLS = {
    "inverse and forward": [lambda r, q, z, h: r.forward_dynamics(q, z, r.inverse_dynamics(q, z, z)), lambda r, q, z, h: r.coriolis_matrix(q, z)],
    "their derivatives": [lambda r, q, z, h: r.linearize(q, z, z), lambda r, q, z, h: r.regressor(q, z, z)],
    "poses": [lambda r, q, z, h: r.jacobian(q, h) + r.pose(q, h).sum()],
    "`base_parameters`": [
        lambda r, q, z, h: r.base_parameters(),
        lambda r, q, z, h: r.joint_wrenches(q, z, z),
        lambda r, q, z, h: r.base_wrench(q, z, z),
        lambda r, q, z, h: r.centroidal_momentum_matrix(q),
    ],
    "task space": [lambda r, q, z, h: r.task_inertia(q, h, damping=0.1)],
    "second derivatives": [
        lambda r, q, z, h: r.inverse_dynamics_second_derivatives(q, z, z),
        lambda r, q, z, h: r.mass_matrix_gradient(q),
        lambda r, q, z, h: r.geometry_derivatives(q, z, z),
        lambda r, q, z, h: r.christoffel(q),
        lambda r, q, z, h: r.scalar_curvature(q),
    ],
    "diagonalized": [
        lambda r, q, z, h: r.diagonalize(q),
        lambda r, q, z, h: r.quasi_velocity(q, z),
        lambda r, q, z, h: r.stacked_operators(q),
    ],
    "`newton_euler_pass`": [lambda r, q, z, h: r.newton_euler_pass(q, z, z)],
    "`lagrange_euler_terms`": [
        lambda r, q, z, h: r.lagrange_euler_terms(q, z),
        lambda r, q, z, h: r.dalembert_terms(q, z),
        lambda r, q, z, h: r.probe(q, z),
    ],
    "other terms of": [
        lambda r, q, z, h: r.stacked_terms(q, z),
        lambda r, q, z, h: r.partial_velocities(q, z),
        lambda r, q, z, h: r.lagrange_euler_matrices(q),
        lambda r, q, z, h: r.dalembert_velocity_terms(q, z),
        lambda r, q, z, h: r.zero_pose_factors(q),
        lambda r, q, z, h: r.kinetic_energy_partials(q, z, z),
        lambda r, q, z, h: r.kinetic_energy_parts(q, z),
        lambda r, q, z, h: r.suffix_sums(q, z, z),
        lambda r, q, z, h: r.torque_components(q, z, z),
        lambda r, q, z, h: r.diagonalized_terms(q, z, z),
        lambda r, q, z, h: r.dominance(q, z, z),
    ],
    "`simulate`, integrators": [lambda r, q, z, h: r.simulate(q, duration=2e-3, integrator="rk4"), lambda r, q, z, h: r.simulate(q, duration=2e-3, integrator="implicit_midpoint")],
    "`simulate`, SciPy": [
        lambda r, q, z, h: r.simulate(q, duration=2e-3, integrator="DOP853"),
        lambda r, q, z, h: r.with_friction(coulomb=1.0).simulate(q, duration=2e-3),
        lambda r, q, z, h: r.simulate(q, duration=2e-3, restitution=0.0),
    ],
    "`GravityPD`": [
        lambda r, q, z, h: da.GravityPD(r, target=q, kp=1.0, kd=1.0)(0.0, q, z),
        lambda r, q, z, h: da.ComputedTorque(r, da.quintic(q, q + 0.1, 1.0), kp=1.0, kd=1.0)(0.0, q, z),
    ],
    "`GravityCompensation`": [lambda r, q, z, h: da.GravityCompensation(r)(0.0, q, z)],
    "`Impedance`": [
        lambda r, q, z, h: da.Impedance(r, np.eye(4), np.ones(6), np.ones(6), link=h)(0.0, q, z),
        lambda r, q, z, h: da.TaskSpaceControl(r, r.pose(q, h)[:3, 3], kp=1.0, kd=1.0, link=h, damping=0.1)(0.0, q, z),
    ],
    "`MomentumObserver`": [lambda r, q, z, h: da.MomentumObserver(r, gain=10.0, dt=1e-3)(q, z, z, z)],
    "`SlotineLi`": [lambda r, q, z, h: r.simulate(q, duration=2e-3, torque=da.SlotineLi(r, da.quintic(q, q + 0.1, 1.0), slope=1.0, gain=1.0, rate=1.0))],
    "`inverse_kinematics`": [
        lambda r, q, z, h: r.inverse_kinematics(r.pose(q, h), link=h),
        lambda r, q, z, h: r.follow(da.line(r.pose(q, h), r.pose(q, h), duration=0.01), q0=q, link=h),
        lambda r, q, z, h: r.fastest([q, q + 0.3], torque=80.0, velocity=2.0, points=20),
        lambda r, q, z, h: r.least_effort(q, q + 0.3, 1.0, knots=6, limits=False),
        lambda r, q, z, h: r.lqr(q),
        lambda r, q, z, h: r.optimal_control(q, q + 0.1, 0.1, progress=False),
        lambda r, q, z, h: r.rollout(q, duration=2e-3),
        lambda r, q, z, h: r.bound("gravity_force", over={"q": (0.0, 0.1)}, tolerance=0.5),
    ],
    "`sweep`": [lambda r, q, z, h: r.sweep("gravity_force", over={"q": (-1.0, 1.0)}, samples=100, progress=False)],
    "`size`": [lambda r, q, z, h: r.size(acceleration=1.0, samples=1000)],
    "identification": [lambda r, q, z, h: da.Recording(r, 0.01 * np.arange(50), np.tile(q, (50, 1)), np.zeros((50, r.n)))],
    "`da.equations`": [lambda r, q, z, h: da.equations(r, symbols=())],
    "`da.derive`": [lambda r, q, z, h: da.derive(r, "newton_euler", symbols=(), longest=6), lambda r, q, z, h: r.symbolic("mass")],
    "generated code": [lambda r, q, z, h: r.generate("c", ["inverse_dynamics"]), lambda r, q, z, h: da.live(r, "live.html")],
}  # fmt: skip


def rows():
    """Cells of the table: what, and for each kind of robot whether it works."""
    lines = PAGE.partition("## By kind of robot\n")[2].partition("\n## ")[0].splitlines()
    head, _, *body = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    kinds = [re.sub(r"\[([^]]*)\].*", r"\1", cell) for cell in head[1:]]
    assert kinds == list(ROBOTS)
    return {row[0]: dict(zip(kinds, (cell.startswith("•") for cell in row[1:]), strict=True)) for row in body}


def test_every_row_has_its_calls():
    begun = [sum(row.startswith(words) for words in CALLS) for row in rows()]
    assert set(begun) == {1} and len(begun) == len(CALLS)


@pytest.mark.parametrize("words", CALLS)
def test_every_function_of_a_row_is_called(words):
    (row,) = (row for row in rows() if row.startswith(words))
    called = {name for call in CALLS[words] for name in call.__code__.co_names}
    assert {name.removeprefix("da.") for name in re.findall("`([^`]*)`", row)} <= called


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("words", CALLS)
def test_what_the_table_says(words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (works,) = (works for row, works in rows().items() if row.startswith(words))
    for kind, robots in ROBOTS.items():
        for robot in robots:
            q, z, hand = robot.neutral(), np.zeros(robot.n), robot.link_names[-1]
            for call in CALLS[words]:
                if works[kind]:
                    call(robot, q, z, hand)
                else:
                    with pytest.raises(da.Error, match=r"^[^\n]*$"):
                        call(robot, q, z, hand)
