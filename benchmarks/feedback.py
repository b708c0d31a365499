"""Differential dynamic programming and gradients of rollouts, one thread; beside crocoddyl where it is installed."""

import json
import os
import subprocess
import time
from pathlib import Path

import numpy as np
from reporting import heading, report
from timing import best_pair

import dalembert as da

START, GOAL = [0.0, -0.5, 0.2, -2.0, 0.1, 1.6, 0.5], [0.8, 0.3, -0.4, -1.4, 0.6, 2.0, 0.0]
STEPS, H = 50, 0.02
CROCODDYL = Path(__file__).parents[1] / ".crocoddyl-venv/bin/python"  # of its own: it needs an older Pinocchio
WEIGHTS = {"position": 1.0, "velocity": 0.1, "effort": 1e-3, "end_position": 1e3, "end_velocity": 1e2}


def figures():
    heading("feedback and gradients of rollouts, one thread")
    da.set_threads(1)
    _reach()
    _horizon()
    _gradients()
    da.set_threads(None)


def _reach():
    arm = da.robot("panda").without_friction()
    solve = lambda **more: arm.optimal_control(START, GOAL, STEPS * H, step=H, **WEIGHTS, **more)  # noqa: E731
    found = solve()
    limits = [30, 60, 30, 30, 4, 4, 4.0]
    for name, more in (("", {}), (", limits of forces", {"limits": limits}), (", second derivatives", {"second_order": True})):
        count = int(solve(**more).iterations)
        seconds, one = best_pair(lambda m=more: solve(**m), lambda m=more: solve(iterations=1, **m), rounds=20, least=0)
        words = f"Panda, {STEPS} steps{name}"
        bar = 0.5 if not more else None
        report(f"{words}: an iteration", (seconds - one) / (count - 1) * 1e3, "ms", at_most=bar)
        report(f"{words}: {count} iterations and the rest", seconds * 1e3, "ms")
    _beside_crocoddyl(arm, solve, found)


def _beside_crocoddyl(arm, solve, found):
    if not CROCODDYL.exists():
        print("  crocoddyl: left out; `make .crocoddyl-venv/ready` makes an environment with it")
        return
    peer = Path(__file__).with_name("crocoddyl_peer.py")
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    with subprocess.Popen([CROCODDYL, peer], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment) as process:

        def asked(line):
            process.stdin.write(line + "\n")
            process.stdin.flush()
            return json.loads(process.stdout.readline())

        theirs = asked(json.dumps(_as_json(arm)))
        times = []
        for _ in range(40):
            start = time.perf_counter()
            solve()
            times.append((time.perf_counter() - start, asked("again")))
        process.stdin.close()
    ours, other = (min(x) for x in zip(*times, strict=True))
    report(f"crocoddyl {theirs['version']}: its solution, {theirs['iterations']} iterations", other * 1e3, "ms")
    report("Panda, 50 steps: our cost, relative to crocoddyl's, less 1", found.cost / theirs["cost"] - 1, "", at_most=1e-6)
    report("Panda, 50 steps: our time to the same cost, of crocoddyl's", ours / other, "x", at_most=1 / 1.5)


def _as_json(arm):
    tree, n = arm.tree, arm.n
    links = []
    for i in range(n):
        place = (tree.before.rotation[i], tree.before.translation[i])
        if i:  # the frame of a joint in that of the joint before
            R, t = tree.after.rotation[i - 1], tree.after.translation[i - 1]
            place = R @ place[0], R @ place[1] + t
        after = tree.after.rotation[i], tree.after.translation[i]
        names = ("rotation", "translation", "after_rotation", "after_translation", "mass", "com", "inertia")
        values = (*place, *after, tree.mass[i], tree.com[i], tree.inertia[i])
        links.append({name: np.asarray(x, dtype=float).tolist() for name, x in zip(names, values, strict=True)})
    wide = lambda *names: np.concatenate([np.full(n, WEIGHTS[name]) for name in names]).tolist()  # noqa: E731
    return {
        "links": links, "h": H, "steps": STEPS, "start": [*START, *np.zeros(n)], "goal": [*GOAL, *np.zeros(n)],
        "running": wide("position", "velocity"), "ending": wide("end_position", "end_velocity"), "effort": wide("effort"),
        "forces": arm.gravity_force(START).tolist(),
    }  # fmt: skip


def _horizon():
    """One plan of a receding horizon, from the call to its forces."""
    arm = da.robot("panda").without_friction()
    limits = [joint.effort_limit for joint in arm.joints]
    forces = arm.optimal_control(START, GOAL, 0.5, limits=limits).feedback.tau
    plan = lambda: arm.optimal_control(START, GOAL, 0.5, limits=limits, guess=forces, iterations=1)  # noqa: E731
    times = []
    for _ in range(200):
        start = time.perf_counter()
        plan()
        times.append(time.perf_counter() - start)
    report("Panda, a receding horizon of 25 steps: one plan, median", np.median(times) * 1e3, "ms", at_most=2.0)


def _gradients():
    for name, count in (("panda", 1), ("panda", 64), ("puma560", 64)):
        arm = da.robot(name).without_friction()
        rng = np.random.default_rng(0)
        q0 = 0.5 * arm.random_configuration(rng, count)
        forces = arm.gravity_force(q0)[:, None] + rng.normal(size=(count, 1000, arm.n))
        for words, more in (("", {}), (" and parameters", {"parameters": arm.parameters()})):
            run = arm.rollout(q0, torque=forces, **more)
            seed = np.zeros_like(run.q)
            seed[:, -1] = run.q[:, -1]
            forward, backward = best_pair(
                lambda a=arm, q=q0, f=forces, m=more: a.rollout(q, torque=f, **m),
                lambda r=run, s=seed: r.gradient(s),
                rounds=40 if count == 1 else 8,
                least=0,
            )
            label = f"{name}, {count} rollout{'s' if count > 1 else ''} of 1,000 steps of RK4"
            report(f"{label}{words}: the rollout", forward * 1e3, "ms")
            report(f"{label}: gradients by start, forces{words}, of the rollout", backward / forward, "x", at_most=3.0)
