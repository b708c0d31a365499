"""Small MJCF models, one for each thing that they may have; `test_mjcf` compares them with MuJoCo itself."""

BALL = '<inertial pos="0.02 -0.01 0.1" mass="0.7" diaginertia="0.004 0.005 0.002" euler="20 30 40"/>'


def mjcf(bodies, *, more="", gravity="0.3 -0.2 -9.5", name="tester"):
    """A whole file around bodies."""
    return f'<mujoco model="{name}"><option gravity="{gravity}"/>{more}<worldbody>{bodies}</worldbody></mujoco>'


def nested(*bodies):
    """Each in the one before it."""
    return "".join(f"<body {head}>{inside}" for head, inside in bodies) + "</body>" * len(bodies)


PENDULUM = mjcf(
    '<body name="rod" pos="0.1 0.2 0.3" euler="10 20 30"><joint name="pin" pos="0.1 0 0.2" axis="1 2 -1" ref="25" damping="0.3" '
    f'armature="0.02" frictionloss="0.1" range="-90 120"/>{BALL}<site name="tip" pos="0 0 0.4" euler="5 6 7"/></body>'
)
CART_POLE = mjcf(
    nested(
        ('name="cart" pos="0 0 0.5"', '<joint name="slider" type="slide" axis="1 0.2 0" ref="0.1" damping="0.4"/><geom type="box" size="0.2 0.1 0.05" mass="1"/>'),
        ('name="pole" pos="0 0.1 0"', '<joint name="hinge" axis="0 1 0" pos="0 0 -0.1"/><geom type="capsule" fromto="0 0 0 0.1 0 0.6" size="0.03" density="900"/>'),
    ),
    more='<default><geom density="500"/></default>',
)  # fmt: skip
STACK = mjcf(  # five joints on one body, each in the frame that the one before it has moved
    '<body name="stack" pos="0.3 0 0" quat="0.9 0.1 -0.3 0.2"><joint name="x" type="slide" axis="1 0 0.3"/><joint name="turn" axis="0 1 0.2" pos="0.1 0.2 0" ref="40"/>'
    '<joint name="y" type="slide" axis="0 1 0" ref="-0.2" pos="0.3 0 0"/><joint axis="0 0 1" pos="-0.1 0 0.1"/><joint axis="1 0 0"/>'
    f'{BALL}<body name="after" pos="0 0.2 0.1" euler="0 40 0"><joint axis="1 1 0"/>{BALL}</body></body>'
)
BALLS = mjcf(
    nested(
        ('name="upper" pos="0 0 1" euler="30 0 10"', f'<joint name="shoulder" type="ball" pos="0.05 0 -0.1" damping="0.2" armature="0.01"/>{BALL}'),
        ('name="lower" pos="0.3 0 0" euler="0 50 0"', f'<joint name="elbow" type="ball"/>{BALL}'),
        ('name="hand" pos="0.2 0.1 0"', f'<joint name="reach" type="slide" axis="1 0 1"/><joint name="wrist" type="ball" pos="0 0 0.1"/>{BALL}'),
    )
)  # fmt: skip
FREE = mjcf(f'<body name="thing" pos="0.1 0.2 0.3" euler="30 40 50"><joint name="root" type="free" damping="0.1"/>{BALL}</body>')
HUMANOID = mjcf(
    '<body name="torso" pos="0 0 1.2"><freejoint name="root"/><geom type="capsule" fromto="0 -0.1 0 0 0.1 0" size="0.1"/>'
    '<site name="imu" pos="0 0 0.1"/>'
    + "".join(
        f'<body name="{side}_arm" pos="0 {y} 0.1"><joint name="{side}_shoulder" type="ball" damping="0.5"/><geom type="capsule" fromto="0 0 0 0 {y} -0.3" size="0.04"/>'
        f'<body name="{side}_hand" pos="0 {y} -0.3"><joint name="{side}_elbow" axis="0 1 0" range="-120 0" damping="0.1"/><geom size="0.05"/></body></body>'
        f'<body name="{side}_leg" pos="0 {y / 2} -0.2"><joint name="{side}_hip_x" axis="1 0 0" armature="0.01"/><joint name="{side}_hip_z" axis="0 0 1"/>'
        f'<joint name="{side}_hip_y" axis="0 1 0" pos="0 0 0.02"/><geom type="capsule" fromto="0 0 0 0 0 -0.4" size="0.06"/>'
        f'<body name="{side}_shin" pos="0 0 -0.4"><joint name="{side}_knee" axis="0 -1 0" ref="-20"/><geom type="cylinder" size="0.04 0.2" pos="0 0 -0.2"/></body></body>'
        for side, y in (("left", 0.2), ("right", -0.2))
    )
    + '<body name="head" pos="0 0 0.3"><geom type="ellipsoid" size="0.1 0.08 0.12"/></body></body>'
)  # fmt: skip
QUADRUPED = mjcf(
    '<body name="trunk" pos="0 0 0.5"><freejoint/><geom type="box" size="0.25 0.1 0.05" density="800"/>'
    '<replicate count="4" euler="0 0 90"><body name="leg" pos="0.2 0.1 0"><joint name="yaw" axis="0 0 1"/><joint name="lift" axis="0 1 0"/>'
    '<geom type="capsule" fromto="0 0 0 0.2 0 0" size="0.03"/><body name="foot" pos="0.2 0 0"><joint name="knee" axis="0 1 0" pos="0 0 0.01"/>'
    '<geom type="capsule" fromto="0 0 0 0 0 -0.3" size="0.02"/><site name="toe" pos="0 0 -0.3"/></body></body></replicate></body>'
)
GRIPPER = mjcf(
    '<body name="palm" pos="0 0 0.3"><joint name="roll" axis="0 0 1"/><geom type="box" size="0.05 0.05 0.02" mass="0.3"/>'
    '<body name="left"><joint name="a" type="slide" axis="0 1 0" ref="0.01" range="0 0.05"/><geom type="box" size="0.01 0.01 0.04" mass="0.05" pos="0 0.02 0.05"/></body>'
    '<body name="right"><joint name="b" type="slide" axis="0 -1 0" ref="0.03"/><geom type="box" size="0.01 0.02 0.04" mass="0.08" pos="0.1 0.02 0.05"/></body></body>',
    more='<equality><joint name="close" joint1="b" joint2="a" polycoef="0.005 1.5 0 0 0"/></equality>',
)  # fmt: skip
FIXED = mjcf(  # bodies without joints, one of them moved by hand, and a geom that has no mass
    '<geom type="plane" size="1 1 1"/><body name="desk" pos="1 0 0.7" euler="0 0 30"><geom type="box" size="0.3 0.3 0.02" mass="8"/>'
    '<body name="post" pos="0.1 0 0.1" euler="20 0 0"><geom size="0.05" mass="1"/>'
    f'<body name="arm"><joint name="one" axis="1 0 0"/>{BALL}<body name="bracket" pos="0.2 0 0" euler="0 90 0">{BALL}<site name="on_bracket" pos="0.1 0 0"/>'
    f'<body name="tool" pos="0 0 0.1"><joint name="two" axis="0 1 0"/>{BALL}</body></body></body></body></body>'
    '<body name="target" mocap="true" pos="1 1 1"><site name="goal"/></body>'
)  # fmt: skip
SHAPES = mjcf(
    nested(
        ('name="a"', '<joint axis="0 0 1"/><geom type="ellipsoid" size="0.1 0.2 0.3" euler="10 20 30" pos="0.1 0 0"/><geom size="0.1" pos="0 0 0.3" mass="0.4"/>'),
        ('name="b" pos="0.2 0 0.1"', '<joint axis="0 1 0"/><geom type="cylinder" size="0.05 0.2" zaxis="1 1 0"/><geom type="box" size="0.1 0.05 0.02" group="3"/>'),
        ('name="c" pos="0.2 0 0.1"', '<joint axis="1 0 0"/><inertial pos="0 0 0.1" mass="1" fullinertia="0.05 0.06 0.07 0.01 -0.01 0.005"/><geom size="2"/>'),
        ('name="d" pos="0 0.1 0"', '<joint axis="1 0 1"/><geom type="mesh" mesh="wedge"/>'),
    ),
    more='<compiler inertiagrouprange="0 2" angle="radian"/><asset><mesh name="wedge" vertex="0 0 0 0.2 0 0 0 0.3 0 0 0 0.1"/></asset>',
)  # fmt: skip
SEVERAL = mjcf(  # two free bodies and an arm between them in the file
    f'<body name="first" pos="0 0 1"><freejoint/>{BALL}<body pos="0.1 0 0"><joint type="ball"/>{BALL}</body></body>'
    f'<body name="arm" pos="1 0 0"><joint name="turn"/>{BALL}</body><body name="second" pos="2 0 1"><freejoint/>{BALL}</body>'
)
MOTORS = mjcf(
    nested(
        ('name="a"', f'<joint name="j1" axis="0 1 0" damping="0.2" actuatorfrcrange="-40 30"/>{BALL}'),
        ('name="b" pos="0 0 0.3"', f'<joint name="j2" axis="0 1 0"/>{BALL}'),
        ('name="c" pos="0 0 0.3"', f'<joint name="j3" axis="1 0 0"/>{BALL}'),
    ),
    more='<tendon><fixed name="belt"><joint joint="j2" coef="2"/><joint joint="j3" coef="-0.5"/></fixed></tendon>'
    '<actuator><motor name="m1" joint="j1" gear="50" ctrlrange="-2 2" armature="1e-4" damping="2e-4"/>'
    '<motor name="m2" joint="j2" gear="-3" forcerange="-5 5" ctrlrange="-9 9"/><motor name="pull" tendon="belt" gear="10" armature="2e-4"/></actuator>',
)  # fmt: skip

MODELS = {
    "pendulum": PENDULUM, "cart_pole": CART_POLE, "stack": STACK, "balls": BALLS, "free": FREE, "humanoid": HUMANOID,
    "quadruped": QUADRUPED, "gripper": GRIPPER, "fixed": FIXED, "shapes": SHAPES, "several": SEVERAL, "motors": MOTORS,
}  # fmt: skip
