"""Messages are worded for Python; after a command they name its options instead."""

import re

RULES = tuple(
    (re.compile(python), option)
    for python, option in {
        r"robot\.snapped\(([^)]*)\)": r"--snap \1",
        r"robot\.with_payload\(([\d.]+), link='([^']*)'\)": r"--payload \1:\2",
        r"robot\.check\(\)": "dalembert check",
        r"da\.load\(\.\.\., mimic=False\)": "--mimic off",
        r"\bor a frame, with link=\.\.\.": "or a frame, with --link",
        r"\(with_armature\)": "(--armature)",
        r"robot\.with_friction\(damping=\.\.\.\)": "--damping",
        r"see with_armature": "--armature sets it",
        r"derive\(robot, \.\.\., longest=(\d+)\)": r"--longest \1",
        r"symbols=\(\)": "--symbols none",
        r"least_effort: cost 'energy' needs motor_constants": "--cost energy needs --motor-constants",
        r"\bmethod='(\w+)'": r"--method \1",
        r"simulate: every=(\S+)": r"--every \1",
        r"\(every=\.\.\.\)": "(--every)",
        r"\bstep=([\d.e+-]+) would fit": r"--step \1 would fit",
        r"reduce rtol and atol": "choose another with --integrator",
        r"the tolerance of snapped\(\)": "--snap",
        r'\bintegrator="(\w+)"': r"--integrator \1",
        r"\brestitution=": "--restitution ",
        r"\bslip_speed=": "--slip-speed ",
        r"\bslip_speed\b": "--slip-speed",
        r"robot\.without_friction\(\)": "--coulomb 0",
        r"equations\(robot\)\.shared\(\)": "dalembert equations --shared",
        r"equations\(robot\)": "dalembert equations",
        r"symbols=\('mass', 'gravity'\)": "--symbols mass,gravity",
        r"; for one constant per rollout use torque\[:, None, :\]": "",
        r"Got unexpected extra argument\S* \(([-+.\de ]+)\)": r"unexpected \1: numbers need commas between them, as in --q0 0.5,0",
        r"(needs \d+ \(q, qd, qdd\).*; or name the columns)": r"\1; --at-rest takes positions only",
        r"degrees=True converts them, degrees=False takes them as they are": "--degrees converts them",
        r"gains=\.\.\., in N m/A": "--gains, in N m/A",
        r"columns=\{'current': \.\.\.\}": "--column current=...",
        r'columns=\{"(\w+)": \["([^"]*)", "([^"]*)"\]\}': r"--column \1=\2,\3",
        r'columns=\{"(\w+)": \[\.\.\.\]\}': r"--column \1=...,...",
        r"; allow_nan=True [\w ]+": "",  # commands that have the option name it
        r'time_unit="(\w+)"': r"--time-unit \1",
        r'columns=\{"(\w+)": "([^"]*)"\}': r"--column \1=\2",
        r"give velocity=1\.5 ": "give --velocity 1.5 ",
        r"\b(velocity|acceleration|torque)=\.\.\.": r"--\1",
        r"give motor= for": "give --motor for",
        r"give lower=\{.*\} and upper=": "give --lower and --upper",
        r"; raise limit=, or read it in chunks with read_states": ", too large for this command",
        r"\bover=\{'(\w+)': \{'([^']+)': \((-?\d)\.0, (\d)\.0\)\}\}": r"--over \1.\2=\3:\4",
        r"\bover=\{'(\w+)': \((-?\d)\.0, (\d)\.0\)\}": r"--over \1=\2:\3",
        r"^over: ": "--over: ",
        r"give \(low, high\)": "give LOW:HIGH",
        r"^only must": "--only must",
        r"give them: reduce=.*": "leave limits out of --reduce",
        r"; robot\.\S*without_loops\(\)\S* leaves them open": "",
        r"robot\.settle\(q0\) closes them": "without --q0 the motion starts where they are closed",
        r"leave restitution out": "leave out --restitution",
        r"lock joints \(robot\.lock\), or give several q0 instead": "lock joints (--lock), or leave out --every",
        r"give poses \(\.\.\., 4, 4\) instead": "give ROLL,PITCH,YAW as well",
        r"give torque=\.\.\., acceleration=\.\.\., or both": "give --torque, --acceleration, or both",
        r"^payload: ": "--payload: ",
        r"^columns are named for": "--column names",
    }.items()
)


def in_words(message: str) -> str:
    """A message as somebody who has typed a command should read it.

    >>> in_words("rotation before the joint is 3.7e-06 off a right angle; fix with robot.snapped(7e-06)")
    'rotation before the joint is 3.7e-06 off a right angle; fix with --snap 7e-06'
    """
    for python, option in RULES:
        message = python.sub(option, message)
    return message
