"""States given by formulas, so that stored results need no stored inputs."""

import numpy as np


def joint_states(n, s):
    """q, qd, qdd of state s, by position in the sorted joint names."""
    k = np.arange(n)
    return 1.2 * np.sin(1.0 + 2.3 * k + 0.7 * s), np.cos(0.4 + 1.7 * k + 1.1 * s), 1.5 * np.sin(0.2 + 0.9 * k - 1.3 * s)


def link_wrenches(n):
    """A wrench (moment, force) on every link, in its own axes at its origin."""
    k = np.arange(6 * n).reshape(n, 6)
    return np.sin(0.3 + 1.9 * k)


def base_motion():
    """Twist and acceleration of the base, angular part first, in the base frame."""
    return np.array([0.3, -0.2, 0.5, 0.4, 0.1, -0.6]), np.array([-0.7, 0.2, 0.1, 0.9, -0.3, 0.8])


def free_state(n):
    """q, qd, qdd of a free base and n joints, and one more vector like qd."""
    q, qd, qdd = joint_states(n, 3)
    base = np.array([0.8, -0.3, 0.5, 0.2, 0.4, -1.1, 0.7])  # the quaternion is not of length 1, and need not be
    k = np.arange(6)
    twists = [0.3 + 0.2 * k - 0.07 * k**2, -0.5 + 0.35 * k - 0.02 * k**2, 0.9 - 0.25 * k]
    x = np.cos(1.0 + 0.7 * np.arange(n))
    return np.concatenate([base, q]), *(np.concatenate(pair) for pair in zip(twists, (qd, qdd, x), strict=True))


def _link(name, mass):
    moments = 'ixx="0.5" iyy="0.6" izz="0.7" ixy="0.1" ixz="-0.05" iyz="0.02"'
    inertial = f'<origin xyz="0.1 0.2 -0.1"/><mass value="{mass}"/><inertia {moments}/>'
    return f'<link name="{name}"><inertial>{inertial}</inertial></link>'


def _joint(name, kind, parent, child, axis="0 0 1"):
    limit = '<limit lower="-2" upper="2" effort="9" velocity="9"/>' if kind in ("revolute", "prismatic") else ""
    ends = f'<parent link="{parent}"/><child link="{child}"/><origin xyz="0.3 0.1 0.2" rpy="0.1 0.2 0.3"/>'
    return f'<joint name="{name}" type="{kind}">{ends}<axis xyz="{axis}"/>{limit}</joint>'


# a robot with joints of all kinds of URDF, whose order in the file is not that of names, with a fixed joint among them
KINDS = "".join(
    [
        '<robot name="kinds">',
        *(_link(name, 1.0 + 0.25 * k) for k, name in enumerate("abcdefgh")),
        _joint("wheel", "continuous", "a", "b", "0 1 0"),
        _joint("turn", "revolute", "a", "c", "0 1 -1"),
        _joint("skid", "planar", "a", "d"),
        _joint("lift", "prismatic", "d", "e", "1 0 0"),
        _joint("hook", "floating", "d", "f"),
        _joint("bolt", "fixed", "a", "g"),
        _joint("zoom", "continuous", "g", "h", "1 2 3"),
        "</robot>",
    ]
)
