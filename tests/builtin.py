"""The built-in robots that are trees of joints of one degree of freedom: what every function and method knows."""

import dalembert as da


def _plain(robot):
    single = all(link.joint.kind in ("revolute", "prismatic", "helical") for link in robot.links)
    return single and robot.is_tree and not getattr(robot, "loops", ())


ARMS = tuple(name for name in da.robot_names() if _plain(da.robot(name)))
