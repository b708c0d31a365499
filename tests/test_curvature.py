"""The curvature of the mass matrix."""

import numpy as np
import pytest
from conftest import REFERENCE, close, reference_robot, sweep

import dalembert as da

ROBOTS = [("RPR", None), ("RRRR", None), ("RPHR", (-1, 0, 0, 2))]


@pytest.fixture(params=sweep([(s,) for s in ROBOTS], quick=(2,)), ids=lambda s: s[0])
def robot(request):
    return da.random_robot(3, *request.param).with_armature(0.2)


def positions(robot, batch=(3,)):
    return np.random.default_rng(0).uniform(-1, 1, (*batch, robot.n))


def test_symmetries(robot):
    """Antisymmetric in each pair, symmetric under their exchange, and Bianchi's first identity."""
    R = robot.riemann_curvature(positions(robot))
    size = np.abs(R).max()
    assert size > 1e-3
    close(R, -np.swapaxes(R, -4, -3), 1e-11, scale=size)
    close(R, -np.swapaxes(R, -2, -1), 1e-11, scale=size)
    close(R, np.einsum("...ijkl->...klij", R), 1e-11, scale=size)
    cyclic = R + np.einsum("...iklj->...ijkl", R) + np.einsum("...iljk->...ijkl", R)
    close(cyclic, np.zeros_like(R), 1e-11, scale=size)


def test_against_derivatives_of_the_connection(robot):
    """R^i_jkl = d_k Gamma^i_lj - d_l Gamma^i_kj + Gamma Gamma - Gamma Gamma, from symbols of the second kind."""
    q, h = positions(robot, ()), 1e-30

    def second_kind(x):
        return np.einsum("ir,rjk->ijk", robot.inverse_mass_matrix(x), robot.christoffel(x))

    G = second_kind(q)
    dG = np.stack([second_kind(q + 1j * h * e).imag / h for e in np.eye(robot.n)], axis=-1)  # [i, j, k, l]
    up = np.einsum("iljk->ijkl", dG) - np.einsum("ikjl->ijkl", dG)
    up = up + np.einsum("ikm,mlj->ijkl", G, G) - np.einsum("ilm,mkj->ijkl", G, G)
    lowered = np.einsum("ai,ijkl->ajkl", robot.mass_matrix(q), up)
    close(robot.riemann_curvature(q), lowered, 1e-9)


def test_two_link_value():
    arm = da.robot("two_link")
    for q2 in (0.0, 0.4, 1.3, 2.9):
        d = arm.diagonalize([0.7, q2])
        R = arm.riemann_curvature([0.7, q2])
        close(R[0, 1, 0, 1], 7 * np.cos(q2) / (72 * d.det), 1e-13)
        close(arm.sectional_curvature([0.7, q2], [1, 0], [0, 1]), R[0, 1, 0, 1] / d.det, 1e-12)
        close(arm.scalar_curvature([0.7, q2]), 2 * R[0, 1, 0, 1] / d.det, 1e-12)
    ref = REFERENCE["FGL_2R"]
    close(reference_robot("FGL_2R").riemann_curvature(ref["q"])[0, 1, 0, 1], ref["curvature"]["R_1212"], 1e-12)
    close(arm.sectional_curvature(ref["q"], [1.0, 2.0], [0.3, -1.0]), ref["curvature"]["gauss_curvature"], 1e-12)


@pytest.mark.slow
def test_flat_robots():
    gantry = da.random_robot(1, "PPP")
    assert gantry.is_flat(np.zeros((5, 3)))
    # a point mass on a massless swinging rod: polar coordinates of the plane
    arm = (
        da.Link("swing", "base", da.Joint("swing"), inertia=da.Inertia.zero()),
        da.Link(
            "mass",
            "swing",
            da.Joint("slide", "prismatic"),
            before=da.Pose.of(rpy=(0, np.pi / 2, 0)),
            inertia=da.Inertia.from_com(2.0, (0, 0, 0)),
        ),
    )
    polar = da.Robot("polar", arm)
    assert polar.is_flat([[0.3, 0.7], [1.2, 2.0]])
    assert not da.robot("rp").is_flat([0.3, 0.8])
    assert not da.robot("two_link").is_flat([[0.0, 0.5], [0.0, 1.0]])
    assert da.robot("two_link").is_flat([0.0, np.pi / 2])  # at this one position it vanishes
    assert not da.robot("two_link").is_flat([[0.0, np.pi / 2], [0.0, np.pi / 2 + 1e-6]])
    arm = da.robot("two_link")
    speck = da.Link("speck", "base", da.Joint("speck"), inertia=da.Inertia.from_com(1e-6, (0, 0, 0), (1e-7, 1e-7, 1e-7)))
    assert not da.Robot("both", (*arm.links, speck)).is_flat([0.1, 0.5, 0.0])
    with pytest.raises(da.Error, match="tolerance"):
        arm.is_flat([0.0, 0.0], tolerance="a")


@pytest.mark.slow
def test_light_wrists_are_not_taken_for_flat():
    """A million times lighter than the shoulder."""
    assert not da.robot("puma560").is_flat(np.linspace(0.3, 1.1, 6))


def test_planes():
    arm = da.random_robot(3, "RRR")
    q = positions(arm, ())
    u, v = np.array([1.0, 0.2, -0.4]), np.array([0.1, 1.0, 0.3])
    same = arm.sectional_curvature(q, u + 2 * v, 3 * v)
    close(arm.sectional_curvature(q, u, v), same, 1e-10)
    with pytest.raises(da.Error, match="parallel"):
        arm.sectional_curvature(q, u, -2 * u)
    assert arm.sectional_curvature(np.stack([q, q]), u, v).shape == (2,)
    with pytest.warns(da.SingularWarning, match="not span a plane at 1 of 2 states"):
        found = arm.sectional_curvature(q, u, np.stack([u, v]))
    assert np.isnan(found).tolist() == [True, False]
    with pytest.raises(da.Error, match=r"sectional_curvature: u has shape \(2,\)"):
        arm.sectional_curvature(q, u[:2], v)
