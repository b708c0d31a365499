"""From recordings to a robot: what is read, what is found, what is told, and what cannot be."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from recorded import SIGMA, fourier, other, recorded, three_joints, truth

import dalembert as da
from dalembert.identification import motions as pieces
from dalembert.identification.columns import drives
from dalembert.identification.consistent import Problem, _parts, _value, _whitened, fit, pseudo, repaired


def possible(robot):
    return all(np.linalg.eigvalsh(pseudo(np.array(link.inertia.parameters)))[0] > 0 for link in robot.links)


def errors(found, arm):
    """Of the base parameters, in parts of what would be large."""
    return np.abs(found.base.values - truth(found, arm)) / found.sizes


@pytest.fixture(scope="module")
def noisy():
    arm = three_joints()
    recording = recorded(arm, 1, sigma=SIGMA, lag=0.008, step=1e-4, jitter=0.05)
    return da.identify(other(arm), recording, validate=recorded(arm, 2, motion=1, sigma=SIGMA, lag=0.008, step=1e-4))


# --- recordings ---------------------------------------------------------------------------------------------------------------


def arrays(T=100):
    arm = three_joints()
    t = np.arange(T) / 100
    q, qd, qdd = fourier(t, 3)
    return arm, t, q, arm.inverse_dynamics(q, qd, qdd)


def test_rows_that_cannot_be_used_are_told_by_number():
    arm, t, q, tau = arrays()
    t, q = t.copy(), q.copy()
    t[5] = t[4]
    q[8, 1] = np.nan
    t[50:] += 0.1
    with pytest.warns(
        da.DataWarning, match=r"row 9 without a number in q .*; row 6 with the time .*; 3 gaps .* 0.11 s, after rows 6, 9, 50"
    ):
        recording = da.Recording(arm, t, q, tau)
    assert len(recording) == 98 and len(recording.notes) == 3
    made = recording.prepare(cutoff=5.0, delay=0.0)
    assert len(made.segments) == 2  # nothing is guessed over a long gap


def test_time_that_goes_back_is_an_error():
    arm, t, q, tau = arrays()
    t = t.copy()
    t[7] = 0.0
    with pytest.raises(da.Error, match=r"row 8: time goes back, from 0.06 to 0 s"):
        da.Recording(arm, t, q, tau)
    with pytest.raises(da.Error, match=r"needs time \(T,\) and tau \(T, 3\)"):
        da.Recording(arm, t, q, tau[:-1])
    with pytest.raises(da.Error, match="60 of 100 rows have no number in tau"):
        da.Recording(arm, np.arange(100) / 100, q, np.where(np.arange(100)[:, None] < 60, np.nan, tau))


def test_degrees_are_told_and_converted():
    arm, t, q, tau = arrays()
    with pytest.raises(da.Error, match="positions look like degrees: q of joint1 reaches"):
        da.Recording(arm, t, np.degrees(q), tau)
    assert np.allclose(da.Recording(arm, t, np.degrees(q), tau, degrees=True).q, q)
    assert da.Recording(arm, t, np.degrees(q), tau, degrees=False).q.max() > 30


def test_torque_that_never_changes_is_told():
    arm, t, q, tau = arrays()
    with pytest.warns(da.DataWarning, match="the torque of joint2 is 0 throughout"):
        da.Recording(arm, t, q, tau * [1, 0, 1])


def test_files_by_name_by_map_and_with_currents(tmp_path):
    arm, t, q, tau = arrays()
    G = np.array([[50.0, 0, 0], [0, 80.0, 0], [0, 20.0, 20.0]])
    current = np.linalg.solve(G.T, tau.T).T / 0.1
    table = np.column_stack([t, q, current])
    np.savetxt(tmp_path / "a.csv", table, delimiter=";", comments="", header="stamp;" + ";".join(f"x{k}" for k in range(6)))
    names = {"t": "stamp", "q": ["x0", "x1", "x2"], "current": ["x3", "x4", "x5"]}
    read = da.Recording.load(tmp_path / "a.csv", arm, columns=names, gains=0.1, motors=G)
    assert np.allclose(read.tau, tau) and np.allclose(read.q, q)
    with pytest.raises(da.Error, match="currents need gains"):
        da.Recording.load(tmp_path / "a.csv", arm, columns=names)
    np.savetxt(tmp_path / "b.csv", np.column_stack([t, q, tau]), delimiter=",")
    assert np.allclose(da.Recording.load(tmp_path / "b.csv", arm).tau, tau)  # t, q, tau without names
    np.savez(tmp_path / "c.npz", time=t, positions=q, tau=tau)
    assert np.allclose(da.Recording.load(tmp_path / "c.npz", arm, columns={"q": "positions"}).q, q)
    lines = (tmp_path / "a.csv").read_text().splitlines()
    (tmp_path / "a.csv").write_text("\n".join([*lines[:40], lines[40][:30]]))
    with pytest.raises(da.Error, match=r"a.csv, line 41: 2 columns, but 7 above"):
        da.Recording.load(tmp_path / "a.csv", arm, columns=names, gains=0.1)
    with pytest.raises(da.Error, match="there is no column actual_q_joint1"):
        da.Recording.load(tmp_path / "a.csv", arm, columns={"q": "actual_q_{}", "t": "stamp"}, gains=0.1)


def table(path, head, *columns):
    """Columns as CSV; those that hold words are lists of one word for each row, or a word."""
    rows = len(columns[0])
    cells = [[x] * rows if isinstance(x, str) else [str(y) for y in x] for x in columns]
    path.write_text("\n".join([head, *map(",".join, zip(*cells, strict=True))]) + "\n")
    return path


@pytest.mark.parametrize(("unit", "scale", "rate"), [("ns", 10**9, "1e-07"), ("us", 10**6, "0.0001"), ("ms", 1000, "0.1")])
def test_clocks_in_other_units_are_refused_and_converted(tmp_path, unit, scale, rate):
    arm, t, q, tau = arrays()
    clock = 1_700_000_000 * scale + np.round(t * scale).astype(np.int64)  # since 1970
    says = (
        rf'has {rate} Hz and takes .* s if it is in seconds, 100 Hz in {unit}; time_unit="{unit}" converts it, time_unit="s" takes'
    )
    with pytest.raises(da.Error, match=f"the recording: time {says}"):
        da.Recording(arm, clock, q, tau)
    run = da.Recording(arm, clock, q, tau, time_unit=unit)
    assert run.time[0] == 0 and np.abs(run.time - t).max() < 1e-15  # from integers: a float would hold 256 ns
    assert run.rate == pytest.approx(100) and run.time_unit == "s"
    assert da.Recording(arm, clock, q, tau, time_unit="s").rate == pytest.approx(float(rate), rel=1e-4)
    head = "stamp,q1,q2,q3,tau1,tau2,tau3"
    path = table(tmp_path / "run.csv", head, clock, *q.T, *tau.T)
    with pytest.raises(da.Error, match=f"run.csv: column stamp {says}"):
        da.Recording.load(path, arm, columns={"t": "stamp"})
    assert np.abs(da.Recording.load(path, arm, columns={"t": "stamp"}, time_unit=unit).time - t).max() < 3e-7
    np.savez(tmp_path / "run.npz", t=clock, q=q, tau=tau)
    with pytest.raises(da.Error, match=f"run.npz: t {says}"):
        da.Recording.load(tmp_path / "run.npz", arm)
    assert da.Recording.load(tmp_path / "run.npz", arm, time_unit=unit).rate == pytest.approx(100, rel=1e-4)


def test_clocks_that_could_be_in_two_units_and_clocks_in_seconds():
    arm, t, q, tau = arrays()
    with pytest.raises(da.Error, match=r'in seconds, 10 Hz in us, 1e\+04 Hz in ns; time_unit="us" converts it, time_unit="ns"'):
        da.Recording(arm, 1e7 * t, q, tau)
    assert da.Recording(arm, 20 * t, q, tau).rate == pytest.approx(5)  # as slow as may be
    assert da.Recording(arm, 1.7e9 + t, q, tau).rate == pytest.approx(100, rel=1e-3)  # seconds since 1970
    with pytest.raises(da.Error, match="unknown time_unit 'minutes'"):
        da.Recording(arm, t, q, tau, time_unit="minutes")


def test_a_clock_in_two_columns(tmp_path):
    """Whole seconds alone stand still; with their nanoseconds they are a clock."""
    arm, t, q, tau = arrays(1000)
    nanoseconds = np.round(1e9 * t).astype(np.int64)
    head = "header.stamp.secs,header.stamp.nsecs,q1,q2,q3,tau1,tau2,tau3"
    columns = 1_700_000_000 + nanoseconds // 10**9, nanoseconds % 10**9, *q.T, *tau.T
    path = table(tmp_path / "run.csv", head, *columns)
    both = {"t": ["header.stamp.secs", "header.stamp.nsecs"], "q": ["q1", "q2", "q3"], "tau": ["tau1", "tau2", "tau3"]}
    with pytest.raises(da.Error, match=r'header.stamp.secs stays the same in most rows: .* columns=\{"t": \["secs", "nsecs"\]\}'):
        da.Recording.load(path, arm, columns={**both, "t": "header.stamp.secs"})
    assert np.abs(da.Recording.load(path, arm, columns=both).time - t).max() < 1e-12
    with pytest.raises(da.Error, match="are seconds and nanoseconds, so time_unit must be left out, got 'ns'"):
        da.Recording.load(path, arm, columns=both, time_unit="ns")
    with pytest.raises(da.Error, match="t is one column, or two, seconds and nanoseconds"):
        da.Recording.load(path, arm, columns={**both, "t": ["a", "b", "c"]})


@pytest.mark.parametrize(("count", "largest"), [(1e6, r"9.9e\+05"), (1e3, "990"), (1.0, "0.99")])
def test_a_second_column_that_is_not_of_nanoseconds(tmp_path, count, largest):
    """Microseconds, as C has them in timeval, milliseconds, and parts of a second."""
    arm, t, q, tau = arrays(1000)
    path = table(tmp_path / "run.csv", "secs,part,q1,q2,q3,tau1,tau2,tau3", t // 1, np.round(t % 1 * count, 6), *q.T, *tau.T)
    says = f"column secs and part must be seconds and nanoseconds, but the second column goes up to {largest} in 10 seconds"
    with pytest.raises(da.Error, match=says):
        da.Recording.load(path, arm, columns={"t": ["secs", "part"]})
    with pytest.raises(da.Error, match=r"but the second column goes up to 1.7e\+09 in"):
        table(path, "nsecs,secs,q1,q2,q3,tau1,tau2,tau3", t % 1 * 1e9, 1.7e9 + t // 1, *q.T, *tau.T)
        da.Recording.load(path, arm, columns={"t": ["nsecs", "secs"]})


def test_clocks_that_are_too_fast():
    arm, t, q, tau = arrays()
    with pytest.raises(
        da.Error, match=r"time has 3.6e\+05 Hz and takes .* s if it is in seconds; arms are recorded at 5 to 20000 Hz"
    ):
        da.Recording(arm, t / 3600, q, tau)  # in hours
    with pytest.raises(da.Error, match=r"time has 1e\+05 Hz and takes .* s if it is in ms, 100 Hz in s; time_unit=\"s\" takes it"):
        da.Recording(arm, t, q, tau, time_unit="ms")
    with pytest.raises(da.Error, match=r'has 0.1 Hz and takes .* s if it is in us, 100 Hz in ns; time_unit="ns" converts it'):
        da.Recording(arm, 1e9 * t, q, tau, time_unit="us")
    assert da.Recording(arm, t / 3600, q, tau, time_unit="s").rate == pytest.approx(3.6e5)
    assert da.Recording(arm, t / 200, q, tau).rate == pytest.approx(20_000)


def test_one_column_is_not_that_of_all_joints(tmp_path):
    arm, t, q, tau = arrays()
    path = table(tmp_path / "run.csv", "t,position,q2,q3,tau1,tau2,tau3", t, *q.T, *tau.T)
    with pytest.raises(
        da.Error, match=r"""q has 3 columns, and 'position' names one; write {} .* columns=\{"q": "position_{}"\}"""
    ):
        da.Recording.load(path, arm, columns={"q": "position"})
    with pytest.raises(da.Error, match=r"q needs 3 columns, got 2: \['position', 'position', 'q2'\]"):
        da.Recording.load(path, arm, columns={"q": ["position", "position", "q2"]})
    with pytest.raises(da.Error, match="columns: q must be a list, got 5"):
        da.Recording.load(path, arm, columns={"q": 5})
    with pytest.raises(da.Error, match="columns: t must be a list, got 5"):
        da.Recording.load(path, arm, columns={"t": 5})
    twice = table(tmp_path / "twice.csv", "t,q1,q2,q3,q2,tau1,tau2,tau3", t, *q.T, q[:, 0], *tau.T)
    with pytest.raises(da.Error, match="two columns are named 'q2'"):
        da.Recording.load(twice, arm)


@pytest.mark.parametrize(
    ("numbers", "is_refused"), [((0, 1, 2), False), ((1, 2, 3), False), ((0, 1, 2, 3), True), ((1, 2, 3, 4), True)]
)
def test_numbers_of_joints(tmp_path, numbers, is_refused):
    """Of more columns than joints no number says which is which: a gripper may be the first or the last of them."""
    arm, t, q, tau = arrays()
    extra = [np.zeros((len(t), len(numbers) - 3))]
    head = ",".join(["t", *(f"p{k}" for k in numbers), *(f"f{k}" for k in numbers)])
    path = table(tmp_path / "run.csv", head, t, *np.hstack([q, *extra]).T, *np.hstack([tau, *extra]).T)
    named = {"q": "p{}", "tau": "f{}"}
    if is_refused:
        with pytest.raises(da.Error, match=r"p0?.* are more than the 3 of q, .* list its columns in the order of the joints"):
            da.Recording.load(path, arm, columns=named)
        named = {part: [f"{name[0]}{k}" for k in numbers[:3]] for part, name in named.items()}
    assert np.array_equal(da.Recording.load(path, arm, columns=named).q, q)


ROS = {"t": "%time", "q": "field.position{}", "qd": "field.velocity{}", "tau": "field.effort{}"}


def message(path, arm, t, order, *, names=None, parts=(), extra=0):
    """A ROS message as `rostopic echo -p` writes it, of joints in some order and others behind them."""
    n = arm.n + extra
    words = [arm.joint_names[k] for k in order] + [f"finger{k}" for k in range(extra)] if names is None else names
    kinds = ("name", "position", "velocity", "effort") if words else ("position", "velocity", "effort")
    head = ",".join(["%time", "field.header.seq", *(f"field.{kind}{k}" for kind in kinds for k in range(n))])
    columns = [np.hstack([x[:, order], np.zeros((len(t), extra))]).T for x in parts]
    stamps = 1_700_000_000_000_000_000 + np.round(1e9 * t).astype(np.int64)
    return table(path, head, stamps, range(len(t)), *words, *(x for part in columns for x in part))


def test_the_order_of_the_joints_of_a_message(tmp_path):
    arm = three_joints()
    t = np.arange(100) / 100
    q, qd, qdd = fourier(t, 3)
    parts = q, qd, arm.inverse_dynamics(q, qd, qdd)
    path = message(tmp_path / "run.csv", arm, t, [2, 0, 1], parts=parts, extra=2)
    told = "joint1 is field.position1, joint2 is field.position2, joint3 is field.position0"
    with pytest.warns(da.DataWarning, match=f"run.csv, line 1: joints are in the order that field.name0, .* say: {told}"):
        run = da.Recording.load(path, arm, columns=ROS, time_unit="ns")
    for part, x in zip(("q", "qd", "tau"), parts, strict=True):
        assert np.array_equal(getattr(run, part), x)
    same = message(tmp_path / "same.csv", arm, t, [0, 1, 2], parts=parts)
    assert np.array_equal(da.Recording.load(same, arm, columns=ROS, time_unit="ns").q, q)  # and nothing to tell
    other = message(tmp_path / "other.csv", arm, t, [0, 1, 2], names=["joint1", "joint2", "elbow"], parts=parts)
    with pytest.raises(da.Error, match="the file names the joints joint1, joint2, elbow, and 'joint3' is not among them"):
        da.Recording.load(other, arm, columns=ROS, time_unit="ns")


@pytest.mark.parametrize("head", ["joint{}", "joints[{}]", "joint_id[{}]", "name_{}"])
def test_columns_that_hold_the_names_of_joints(tmp_path, head):
    """Whatever they are called; unless they are of another topic, whose order is its own."""
    arm, t, q, tau = arrays()
    order = [2, 0, 1]
    words = [arm.joint_names[k] for k in order]
    columns = {"q": "/state/pos[{}]", "tau": "/state/force[{}]"}
    numbered = [name.replace("{}", str(k)) for name in columns.values() for k in range(3)]
    for topic in ("/state/", "/other/"):
        names = ["t", *(topic + head.format(k) for k in range(3)), *numbered]
        path = table(tmp_path / "run.csv", ",".join(names), t, *words, *q[:, order].T, *tau[:, order].T)
        if topic == "/state/":
            with pytest.warns(da.DataWarning, match="joints are in the order that /state/"):
                run = da.Recording.load(path, arm, columns=columns)
            assert np.array_equal(run.q, q) and np.array_equal(run.tau, tau)
        else:
            with pytest.raises(da.Error, match=r"/other/.* hold names of joints, but of another message than /state/pos"):
                da.Recording.load(path, arm, columns=columns)


def test_messages_that_only_their_first_word_tells_apart(tmp_path):
    arm, t, q, tau = arrays()
    order = [2, 0, 1]
    words = [arm.joint_names[k] for k in order]
    names = [
        "t",
        *(f"js_{part}_{k}" for part in ("name", "position", "effort") for k in range(3)),
        *(f"rt_torque_{k}" for k in range(3)),
    ]
    path = table(tmp_path / "run.csv", ",".join(names), t, *words, *q[:, order].T, *tau[:, order].T, *tau.T)
    with pytest.warns(da.DataWarning, match="joints are in the order that js_name_0"):
        run = da.Recording.load(path, arm, columns={"q": "js_position_{}", "tau": "js_effort_{}"})
    assert np.array_equal(run.q, q) and np.array_equal(run.tau, tau)
    with pytest.raises(da.Error, match=r"js_name_0.* hold names of joints, but of another message than rt_torque"):
        da.Recording.load(path, arm, columns={"q": "js_position_{}", "tau": "rt_torque_{}"})


def numbered_joints(names="123"):
    """An arm whose joints have numbers for names."""
    arm = three_joints()
    links = [replace(link, joint=replace(link.joint, name=name)) for link, name in zip(arm.links, names, strict=True)]
    return da.Robot("numbered", tuple(links))


def test_joints_whose_names_are_numbers(tmp_path):
    """What the columns hold decides; numbers alone do where they can mean one thing only."""
    arm, (_, t, q, tau) = numbered_joints(), arrays()
    order = [2, 0, 1]
    columns = {"q": "position_{}", "tau": "effort_{}"}
    names = ["t", *(f"{part}_{k}" for part in ("name", "position", "effort") for k in (1, 2, 3))]
    words = [arm.joint_names[k] for k in order]
    path = table(tmp_path / "run.csv", ",".join(names), t, *words, *q[:, order].T, *tau[:, order].T)
    with pytest.warns(da.DataWarning, match="1 is position_2, 2 is position_3, 3 is position_1"):
        run = da.Recording.load(path, arm, columns=columns)
    assert np.array_equal(run.q, q) and np.array_equal(run.tau, tau)
    lines = path.read_text().splitlines()
    lines[60] = lines[60].replace(",3,1,2,", ",1,3,2,")
    path.write_text("\n".join(lines))
    with (
        pytest.warns(da.DataWarning, match="joints are in the order"),
        pytest.raises(da.Error, match=r"run.csv, line 61, column 2 \(name_1\): '1', but '3' above"),
    ):
        da.Recording.load(path, arm, columns=columns)
    for first in (0, 1):
        head = ",".join(["t", *(f"{part}_{first + k}" for part in ("position", "effort") for k in range(3))])
        table(path, head, t, *q.T, *tau.T)
        assert np.array_equal(da.Recording.load(path, arm, columns=columns).q, q)
    with pytest.raises(da.Error, match="the joints 3, 1, 2 are named by numbers, in another order than theirs"):
        da.Recording.load(path, numbered_joints("312"), columns=columns)
    head = ",".join(["t", *(f"{part}_{k}" for part in ("position", "effort") for k in range(4))])
    table(path, head, t, *q.T, t, *tau.T, t)
    with pytest.raises(da.Error, match="position_3 are more than the 3 of q"):
        da.Recording.load(path, arm, columns=columns)


def test_a_message_whose_order_nobody_knows(tmp_path):
    arm, t, q, tau = arrays()
    silent = message(tmp_path / "run.csv", arm, t, [2, 0, 1], names=[], parts=(q, q, tau))
    with pytest.raises(da.Error, match=r"field.position0, .* are in the order of a ROS message, .* list its columns in the order"):
        da.Recording.load(silent, arm, columns=ROS, time_unit="ns")
    topic = tmp_path / "plotjuggler.csv"
    order = [2, 0, 1]
    for kinds in (("/joint_states/position", "/joint_states/effort"), ("/jtc/feedback.positions", "/jtc/feedback.actual_efforts")):
        head = ["t", *(f"{kind}[{k}]" for kind in kinds for k in range(3))]
        table(topic, ",".join(head), t, *q[:, order].T, *tau[:, order].T)
        with pytest.raises(da.Error, match="are in the order of a ROS message"):
            da.Recording.load(topic, arm, columns={"q": f"{kinds[0]}[{{}}]", "tau": f"{kinds[1]}[{{}}]"})
    listed = {"t": "%time"} | {p: [f"field.{kind}{k}" for k in (1, 2, 0)] for p, kind in (("q", "position"), ("tau", "effort"))}
    assert np.array_equal(da.Recording.load(silent, arm, columns=listed, time_unit="ns").q, q)
    path = message(tmp_path / "swapped.csv", arm, t, [2, 0, 1], parts=(q, q, tau))
    lines = path.read_text().splitlines()
    lines[60] = lines[60].replace("joint3,joint1", "joint1,joint3")  # of another publisher
    path.write_text("\n".join(lines))
    with (
        pytest.warns(da.DataWarning, match="joints are in the order"),
        pytest.raises(da.Error, match=r"swapped.csv, line 61, column 3 \(field.name0\): 'joint1', but 'joint3' above"),
    ):
        da.Recording.load(path, arm, columns=ROS, time_unit="ns")


def test_rows_of_a_file_without_numbers(tmp_path):
    arm, t, q, tau = arrays()
    q = q.copy()
    q[40, 1] = np.nan
    path = table(tmp_path / "run.csv", "t,q1,q2,q3,tau1,tau2,tau3", t, *q.T, *tau.T)
    with pytest.raises(
        da.Error, match=r"run.csv, line 42, column 3 \(q2\): nan is not a finite number; allow_nan=True leaves such rows out"
    ):
        da.Recording.load(path, arm)
    with pytest.warns(da.DataWarning, match="row 41 without a number in q left out"):
        assert len(da.Recording.load(path, arm, allow_nan=True)) == 99
    for word in ("", "NA", "null"):
        (tmp_path / "empty.csv").write_text(path.read_text().replace("nan", word))
        with pytest.raises(da.Error, match=rf"line 42, column 3 \(q2\): {word or 'an empty field'} is not a finite number"):
            da.Recording.load(tmp_path / "empty.csv", arm)
        with pytest.warns(da.DataWarning, match="row 41 without a number in q left out"):
            assert len(da.Recording.load(tmp_path / "empty.csv", arm, allow_nan=True)) == 99
    np.savez(tmp_path / "run.npz", t=t, q=q, tau=tau)
    with pytest.raises(da.Error, match=r"run.npz, row 41, column 2 of q: nan is not a finite number; allow_nan=True leaves"):
        da.Recording.load(tmp_path / "run.npz", arm)


# --- preparation --------------------------------------------------------------------------------------------------------------


def test_an_irregular_clock_gives_the_motion_all_the_same():
    arm = three_joints()
    made = recorded(arm, 0, jitter=0.3).prepare(cutoff=5.0, delay=0.0)
    q, qd, qdd = fourier(made.time + made.recording.time[0], 3)
    assert np.abs(made.q - q).max() < 2e-5 and np.abs(made.qd - qd).max() < 1e-3 and np.abs(made.qdd - qdd).max() < 0.06
    assert np.ptp(np.diff(made.time)) < 1e-9


@pytest.mark.parametrize("lag", [-0.02, 0.0, 0.0137])
def test_the_lag_of_forces_is_found(lag):
    made = recorded(three_joints(), 0, lag=lag, sigma=0.05 * SIGMA).prepare()
    assert abs(made.delay - lag) < 3e-4


def test_the_default_filter_passes_the_motion():
    made = recorded(three_joints(), 0, encoder=1e-4, sigma=SIGMA).prepare(delay=0.0)
    assert 2.0 < made.cutoff < 5.0  # the motion has harmonics up to 0.5 Hz


def test_a_joint_at_rest_is_marked_and_turning_round_is_not():
    arm, t, q, tau = arrays(1000)
    pause = np.clip((np.abs(t - 4.5) - 1.5) / 0.5, 0, 1)  # none from 3 to 6 s
    q = q * np.stack([1 + 0 * t, pause**3 * (10 - 15 * pause + 6 * pause**2), 1 + 0 * t], axis=1)
    made = da.Recording(arm, t, q, tau).prepare(cutoff=5.0, delay=0.0)
    inside = (made.time > 3.2) & (made.time < 5.8)
    assert not made.moving[inside, 1].any() and made.moving[made.time > 7].all() and made.moving[:, [0, 2]].all()


# --- identification -----------------------------------------------------------------------------------------------------------


def test_exact_recordings_give_exact_parameters():
    arm = three_joints()
    found = da.identify(other(arm), recorded(arm), delay=0.0)
    assert errors(found, arm).max() < 0.02  # the width of tanh, and jumps between samples
    q, qd, qdd = fourier(np.linspace(0, 9, 50), 3, seed=5)
    tau = arm.inverse_dynamics(q, qd, qdd)
    assert np.abs(found.robot.inverse_dynamics(q, qd, qdd) - tau).max() < 0.01 * np.abs(tau).max()
    fast = np.abs(qd).min(axis=1) > 0.2
    assert np.allclose(found.predict(q, qd, qdd)[fast], found.robot.inverse_dynamics(q, qd, qdd)[fast], rtol=1e-4)


def test_noise_lag_steps_and_an_irregular_clock(noisy):
    arm = three_joints()
    assert abs(noisy.motion.delay - 0.008) < 3e-3
    inside = np.mean([x.low <= p <= x.high for x, p in zip(noisy.intervals(), truth(noisy, arm), strict=True)])
    assert inside > 0.8 and possible(noisy.robot)
    assert (noisy.validation.filtered < 6).all() and (noisy.validation.raw > noisy.validation.filtered).all()
    assert "validation, %" in repr(noisy) and "filtered, %" in repr(noisy.validation)


def test_validation_has_the_cutoff_of_the_fit():
    """Recordings of other motions have other cutoffs of their own."""
    arm = three_joints()
    fast, slow = recorded(arm, 1, sigma=SIGMA), recorded(arm, 2, motion=7, sigma=SIGMA, size=0.2)
    own = slow.prepare(delay=0.0).cutoff
    found = da.identify(other(arm), fast, delay=0.0, validate=slow)
    assert found.motion.cutoff != pytest.approx(own, rel=0.2)
    assert found.validation.cutoff == found.motion.cutoff == found.cutoffs[0] == found.cutoffs[1]
    same = da.identify(other(arm), fast, delay=0.0, validate=slow, cutoff=found.motion.cutoff, q_cutoff=found.motion.q_cutoff)
    for part in ("filtered", "raw", "rms"):
        assert getattr(found.validation, part) == pytest.approx(getattr(same.validation, part), rel=1e-9)
    assert f"filtered below {found.motion.cutoff:.3g} Hz" in repr(found) and "filtered below" in repr(found.validation)
    both = da.identify(other(arm), [slow, fast], delay=0.0, validate=slow)
    low, high = f"{own:.3g}", f"{found.motion.cutoff:.3g}"
    assert f"filtered below {low} to {high} Hz, validation below {high} Hz" in repr(both)
    assert f"forces filtered below {high} Hz" in both.section().body


def test_possible_bodies_fit_almost_as_well(noisy):
    free = da.identify(noisy.prior, noisy.motion.recording, consistent=False, delay=noisy.motion.delay)
    assert (noisy.residual < free.residual + 0.5).all()


def test_bodies_stay_possible_where_least_squares_are_not():
    arm = three_joints()
    recording = recorded(arm, 3, sigma=20 * SIGMA, duration=4.0)
    free = da.identify(other(arm), recording, consistent=False, delay=0.0)
    found = da.identify(other(arm), recording, delay=0.0)
    assert not possible(free.robot) and possible(found.robot)
    assert not found.robot.check().errors


def test_a_robot_that_saves_simulates_and_generates(noisy, tmp_path):
    noisy.robot.save(tmp_path / "found.toml")
    assert noisy.robot.source == f"identified by dalembert {da.__version__} from {noisy.motion.recording.name}; prior: robot"
    assert da.load(tmp_path / "found.toml") == noisy.robot
    assert "double" in noisy.robot.generate("c", ["inverse_dynamics"])
    control = da.SlotineLi(noisy.robot, np.zeros(3), slope=5.0, gain=10.0, rate=0.1)
    assert noisy.robot.simulate(np.zeros(3), duration=0.01, torque=control).q.shape[1] == 3


def test_what_is_rounding_is_0():
    arm = da.robot("planar_3r")
    q, qd, qdd = fourier(np.arange(0, 10, 0.01), 3)
    recordings = [
        da.Recording(arm, np.arange(0, 10, 0.01), q, arm.inverse_dynamics(q, qd, qdd), name=f"run{k}.csv") for k in range(30)
    ]
    found = da.identify(arm, recordings, delay=0.0).robot
    assert all(link.inertia.com[2] == 0 for link in found.links)
    assert "from run0.csv, run1.csv" in found.source and "more; prior: a textbook arm" in found.source


def test_an_impossible_prior_is_repaired_and_told():
    arm = da.robot("puma560")
    recording = recorded(arm, 0, size=0.4, sigma=0.1)
    with pytest.warns(da.DataWarning, match="the prior of link1 has a mass of 0 kg"):
        found = da.identify(arm, recording, delay=0.0)
    assert possible(found.robot) and any("link3 has an impossible inertia" in note for note in found.notes)
    phi, why = repaired(np.array(arm.links[1].inertia.parameters))
    assert why == "" and np.array_equal(phi, arm.links[1].inertia.parameters)


def test_known_parameters_are_kept():
    arm = three_joints()
    fixed = {"total_mass": 11.0, "m[link3]": 2.0, "damping[joint1]": 3.0, "friction_offset[joint2]": -0.1}
    found = da.identify(other(arm), recorded(arm, 1, sigma=SIGMA), fixed=fixed, delay=0.0)
    assert found.robot.links[2].inertia.mass == pytest.approx(2.0, abs=1e-8)
    assert sum(link.inertia.mass for link in found.robot.links) == pytest.approx(11.0, abs=1e-8)
    assert found.robot.joints[0].damping == pytest.approx(3.0, abs=1e-8) and possible(found.robot)
    with pytest.raises(da.Error, match=r"unknown parameter to fix: 'm\[link9\]'"):
        da.identify(other(arm), recorded(arm), fixed={"m[link9]": 1.0})


def test_without_a_prior_what_is_open_is_named():
    arm = three_joints()
    with pytest.warns(da.DataWarning, match=r"forces do not determine \d+ parameters: m\[link1\]"):
        found = da.identify(arm, recorded(arm), prior=False, delay=0.0)
    assert errors(found, arm).max() < 0.03 and possible(found.robot)


def test_another_robot_as_the_prior():
    arm = three_joints()
    near, far = (da.identify(other(arm), recorded(arm), prior=prior, delay=0.0) for prior in (arm, None))
    off = [np.abs(x.robot.parameters() - arm.parameters()).max() for x in (near, far)]
    assert off[0] < 1e-2 < off[1]
    with pytest.raises(da.Error, match="has other links or joints"):
        da.identify(arm, recorded(arm), prior=da.robot("two_link"))


def test_a_joint_at_rest_keeps_its_prior():
    arm = three_joints()
    t = np.arange(0, 10, 0.01)
    q, qd, qdd = (x * [1, 0, 1] for x in fourier(t, 3))
    tau = arm.inverse_dynamics(q, qd, qdd) + np.array([0, 1.2, 0])  # held by any friction
    prior = other(arm).with_friction(damping=0.7, coulomb=0.3)
    with pytest.warns(da.DataWarning, match="joint2 is at rest throughout") as told:
        found = da.identify(prior, da.Recording(arm, t, q, tau), delay=0.0)
    assert (found.robot.joints[1].damping, found.robot.joints[1].coulomb) == (0.7, 0.3)
    assert told[0].filename == __file__
    assert (found.residual[[0, 2]] < 1).all() and np.isnan(found.residual[1]) and possible(found.robot)
    assert "at rest" in repr(found) and len(found.plot().axes) == 2 * 4 + 1 and found.section().body.count('class="chart"') == 2 * 4
    advice = {x.name: x.motion for x in found.weak()}
    assert all(advice[name] == "motion of joint2, at rest so far" for name in ("friction_offset[joint2]", "armature[joint2]"))
    assert (
        advice["armature[joint1]"].startswith("motion of joint2, at rest so far; faster motion of joint1")
        and "∞" not in found.section().body.partition("What the motion")[0]
    )
    named = {x.name for x in found.weak()}
    assert {"damping[joint2]", "coulomb[joint2]", "armature[joint2]"} <= named
    assert found.robot.joints[0].coulomb == pytest.approx(2.0, rel=0.02)


def test_what_a_motion_does_not_excite_is_told_with_one_that_would():
    arm = three_joints()
    t = np.arange(0, 10, 0.01)
    q, qd, qdd = (0.05 * x for x in fourier(t, 3))
    rng = np.random.default_rng(0)
    tau = arm.inverse_dynamics(q, qd, qdd) + SIGMA * rng.standard_normal(q.shape)
    found = da.identify(other(arm), da.Recording(arm, t, q, tau), delay=0.0)
    weak = {x.name: x for x in found.weak()}
    assert len(weak) > 5 and possible(found.robot)
    assert "joint1" in weak["armature[joint1]"].motion and weak["armature[joint1]"].deviation > 0.1
    sure = da.identify(other(arm), recorded(arm, 0, sigma=0.01 * SIGMA), delay=0.0)
    assert len(sure.weak()) == 0 and "all base parameters are well determined" in repr(sure)


def mistaken(change):
    arm = three_joints()
    recording = recorded(arm, 0)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        da.identify(other(arm), da.Recording(arm, recording.time, recording.q, change(recording.tau)), delay=0.0)
    return " ".join(str(x.message) for x in told)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda tau: tau * [1, 10, 1], "the torque of joint2 is"),
        (lambda tau: tau * [1, 0.1, 1], "check its gain or unit"),
        (lambda tau: tau * [1, -1, 1], "the torque of joint2 has the opposite sign"),
    ],
    ids=["gain", "unit", "sign"],
)
def test_wrong_gains_and_signs_are_told(change, says):
    assert says in mistaken(change)
    assert mistaken(lambda tau: tau) == ""


def test_swapped_columns_are_told():
    arm = da.robot("ur5")
    recording = recorded(arm, 0, size=0.4)
    tau = recording.tau[:, [0, 2, 1, 3, 4, 5]]
    with pytest.warns(da.DataWarning, match="shoulder_lift_joint and elbow_joint look as if their columns were swapped"):
        da.identify(arm, da.Recording(arm, recording.time, recording.q, tau), delay=0.0)


def test_motors_that_move_two_joints():
    arm = three_joints().without_armature()
    G = np.array([[50.0, 0, 0], [0, 60.0, 0], [0, 30.0, 30.0]])
    inertia = np.array([1e-4, 6e-5, 9e-5])
    arm = arm.with_transmission(G, rotor_inertia=inertia)
    t = np.arange(0, 10, 0.01)
    q, qd, qdd = fourier(t, 3)
    motor = 0.02 * np.tanh(qd @ G[2] / 0.5) + 1e-3 * qd @ G[2]
    tau = arm.inverse_dynamics(q, qd, qdd) + motor[:, None] * G[2]
    blank = other(arm)
    with pytest.warns(da.DataWarning, match=r"only the prediction: damping\[motor3\], coulomb\[motor3\]"):
        found = da.identify(blank, da.Recording(blank, t, q, tau), delay=0.0)
    assert "damping[motor3]" in found.columns.names and drives(arm)[0].shape == (6, 3)
    assert found.residual.max() < 1
    assert found.robot.transmission.rotor_inertia[1:] == pytest.approx(inertia[1:], rel=0.2)


@pytest.mark.parametrize("term", ["load", "stribeck", "sqrt"])
def test_further_friction(term):
    arm = three_joints()
    t = np.arange(0, 10, 0.01)
    q, qd, qdd = fourier(t, 3)
    if term == "load":
        real = arm.with_friction(load_friction=[0.0, 0.12, 0.1])
    elif term == "stribeck":
        real = arm.with_friction(static_friction=[4.0, 3.0, 1.2], stribeck_speed=0.05 * np.abs(qd).max(axis=0))
    else:
        real = arm
    tau = real.inverse_dynamics(q, qd, qdd) + (np.sign(qd) * np.sqrt(np.abs(qd)) if term == "sqrt" else 0)
    terms = ("viscous", "coulomb", "offset")
    recording = da.Recording(arm, t, q, tau)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", da.DataWarning)
        plain = da.identify(other(arm), recording, terms, delay=0.0)
        found = da.identify(other(arm), recording, (*terms, term), delay=0.0)
    assert (found.residual[1:] < 0.6 * plain.residual[1:]).all() and possible(found.robot)
    if term == "load":
        assert found.robot.joints[1].load_friction == pytest.approx(0.12, abs=0.03)
    if term == "stribeck":
        assert found.robot.joints[0].static_friction == pytest.approx(4.0, rel=0.2)


def test_friction_terms_have_names():
    with pytest.raises(da.Error, match="unknown friction term: 'dry'"):
        da.identify(three_joints(), recorded(three_joints()), ("dry",))


def test_a_coupled_robot():
    arm = three_joints().with_coupling({"joint3": {"joint2": -1.0}})
    t = np.arange(0, 10, 0.01)
    q, qd, qdd = fourier(t, 2)
    found = da.identify(
        arm.with_parameters(1.2 * arm.parameters()), da.Recording(arm, t, q, arm.inverse_dynamics(q, qd, qdd)), delay=0.0
    )
    assert found.residual.max() < 1 and possible(found.robot)


def test_long_recordings_in_pieces_and_from_disk(monkeypatch, tmp_path):
    arm = three_joints()
    recording = recorded(arm, 0, duration=60.0, sigma=SIGMA)
    whole = da.identify(other(arm), recording, delay=0.0, cutoff=4.0)
    for name in ("time", "q", "tau"):
        np.save(tmp_path / f"{name}.npy", getattr(recording, name))
    held = [np.load(tmp_path / f"{name}.npy", mmap_mode="r") for name in ("time", "q", "tau")]
    mapped = da.Recording(arm, *held)
    assert np.shares_memory(mapped.q, held[1])  # not copied
    monkeypatch.setattr(pieces, "PIECE", 1500)
    parts = da.identify(other(arm), (x for x in [mapped]), delay=0.0, cutoff=4.0)
    assert len(parts.data.kept) == 4 and parts.data.count[0] == pytest.approx(whole.data.count[0], abs=4)
    assert np.abs(parts.base.values - whole.base.values).max() < (0.5 * whole.deviations).max()
    assert whole.validate(mapped).filtered == pytest.approx(whole.residual, rel=0.1)


def test_forces_that_were_not_recorded():
    arm, time = da.robot("two_link"), np.arange(0, 4, 0.02)
    with pytest.warns(da.DataWarning, match="the torque of joint1 is 0 throughout"):
        silent = da.Recording(arm, time, 0.3 * np.sin(np.outer(time, [3, 4])), np.zeros((len(time), 2)))
    with pytest.raises(da.Error, match="forces of the recordings are zero throughout"):
        da.identify(arm, silent)
    with pytest.raises(da.Error, match="no load on link2 explains what"):
        da.identify_payload(arm, silent)


def test_several_recordings_are_one_after_the_other():
    arm = three_joints()
    runs = [recorded(arm, k, sigma=SIGMA, motion=k) for k in range(3)]
    one, all_ = (da.identify(other(arm), some, delay=0.0) for some in (runs[0], runs))
    assert all_.deviations.mean() < 0.8 * one.deviations.mean()
    with pytest.raises(da.Error, match="at least one recording"):
        da.identify(arm, [])
    with pytest.raises(da.Error, match="no joint moves"):
        still = recorded(arm)
        da.identify(arm, da.Recording(arm, still.time, 0 * still.q, still.tau), delay=0.0)


# --- the consistent fit -------------------------------------------------------------------------------------------------------


def test_derivatives_of_the_consistent_fit():
    rng = np.random.default_rng(0)
    phi = np.array([link.inertia.parameters for link in three_joints().links]).ravel()
    prior, R = np.concatenate([phi, [1.0, 0.5]]), rng.standard_normal((40, 32))
    problem = Problem(R, R @ prior, prior, 3, [30], np.ones(32), np.zeros((0, 32)), np.zeros(0), 0.3)
    T, y = _whitened(problem)
    y = y + 0.05 * rng.standard_normal(32)
    _, g, H = _parts(problem, R @ T, y, 0.3)
    h = 1e-5
    for k in range(32):
        e = h * np.eye(32)[k]
        assert (_value(problem, R @ T, y + e, 0.3) - _value(problem, R @ T, y - e, 0.3)) / (2 * h) == pytest.approx(
            g[k], rel=1e-6, abs=1e-5
        )
        slope = (_parts(problem, R @ T, y + e, 0.3)[1] - _parts(problem, R @ T, y - e, 0.3)[1]) / (2 * h)
        assert np.allclose(slope, H[k], rtol=1e-6, atol=1e-5)
    x, _ = fit(problem)
    assert np.allclose(x, prior, rtol=1e-6)  # what both terms want


# --- loads --------------------------------------------------------------------------------------------------------------------


def test_a_load_is_found():
    arm = da.robot("ur5").with_friction(damping=2.0, coulomb=1.0)
    load = da.Inertia.box(2.5, (0.1, 0.2, 0.15), center=(0.02, -0.03, 0.12))
    loaded = arm.with_payload(load.mass, load.com, load.tensor)
    recording = recorded(loaded, 0, size=0.4, sigma=0.05, lag=0.004, duration=20.0)
    found = da.identify_payload(arm, da.Recording(arm, recording.time, recording.q, recording.tau))
    assert found.inertia.mass == pytest.approx(2.5, rel=0.01)
    assert np.abs(found.inertia.com - load.com).max() < 3e-3 and not found.inertia.impossible()
    assert found.robot.total_mass - arm.total_mass == pytest.approx(found.inertia.mass)
    assert "a load of 2." in repr(found) and found.unknown == ()
    assert found.robot.source.startswith("load identified by dalembert") and "Universal Robots UR5" in found.robot.source
    with pytest.raises(da.Error, match="does not move"):
        da.identify_payload(arm, recording, link=arm.base_name)


def test_a_load_on_a_planar_arm_has_parameters_that_nobody_can_know():
    arm = da.robot("planar_3r")
    path = da.excitation(arm, {"velocity": 2.0}, period=4.0, harmonics=3, starts=1).trajectory(0.01)
    tau = arm.with_payload(1.0, (0.1, 0.0, 0.0), 0.01).inverse_dynamics(path.q, path.qd, path.qdd)
    found = da.identify_payload(arm, da.Recording(arm, path.time, path.q, tau), delay=0.0)
    assert {"mz", "Ixx", "Iyy"} <= set(found.unknown) and found.inertia.mass == pytest.approx(1.0, rel=1e-3)


# --- what is shown ------------------------------------------------------------------------------------------------------------


def test_figures_and_pages(noisy, tmp_path):
    assert len(noisy.plot().axes) == 3 * 4 + 1 and len(noisy.motion.recording.plot().axes) == 2
    page = noisy.report(tmp_path / "found.html").read_text()
    assert "<script" not in page and page.count('<svg class="chart"') == 12 and "velocity, rad/s" in page
    assert "Base parameters" in page and "validation, %" in page and "is named after one of them" in page
    assert "which the torques do not determine" in page.partition("</header>")[0] and not noisy.mass_is_determined


def test_base_parameters_are_combinations_in_words(noisy):
    words = {x.name: x.combination for x in noisy.intervals()}
    assert words["mx[link3]"] == "mx[link3] + 0.3 m[link3]" and words["my[link3]"] == "my[link3]"
    assert words["Ixx[link3]"].startswith("Ixx[link3] - Iyy[link3] + ")
    assert tuple(words.values()) == noisy.base.combinations and len(repr(noisy.base)) < 120
    assert "m[link3]" in noisy.undetermined and "my[link3]" not in noisy.undetermined
    assert f"{len(noisy.undetermined)} parameters do not affect the torques by themselves" in repr(noisy)


@pytest.mark.slow
def test_a_study_has_the_section(noisy, tmp_path):
    study = da.study(noisy.robot, tmp_path, identified=noisy, progress=False).read_text()
    assert '<section id="identification">' in study


def test_scipy_that_is_missing_is_told(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "scipy.signal", None)
    with pytest.raises(da.Error, match="this needs scipy, which is not installed"):
        da.identify(three_joints(), recorded(three_joints()))


# --- the command line ---------------------------------------------------------------------------------------------------------


def test_commands(tmp_path, capsys, monkeypatch):
    from dalembert.cli import main

    monkeypatch.chdir(tmp_path)
    arm = da.robot("planar_3r").with_friction(damping=0.5, coulomb=0.3)
    assert (
        main(["excite", "planar_3r", "-o", "motion.csv", "--period", "5", "--harmonics", "3", "--starts", "1", "--velocity", "2"])
        == 0
    )
    told = capsys.readouterr().out
    assert "condition of the scaled columns" in told and "Collisions with the floor and with itself are not checked" in told
    move = da.Trajectory.load("motion.csv", da.robot("planar_3r"))
    table = np.column_stack([move.time, np.degrees(move.q), arm.inverse_dynamics(move.q, move.qd, move.qdd) / 2])
    names = ",".join(["t", *(f"pos_{k}" for k in range(3)), *(f"amp_{k}" for k in range(3))])
    np.savetxt("run.csv", table, delimiter=",", header=names, comments="")
    named = names.replace("t,", "timestamp,", 1)
    np.savetxt("foreign.csv", table, delimiter=",", header=named, comments="")
    assert main(["identify", "planar_3r", "foreign.csv"]) == 2
    assert (
        "there are: timestamp, pos_0, pos_1, pos_2, amp_0, amp_1, amp_2; name it: --column t=timestamp" in capsys.readouterr().err
    )
    assert main(["identify", "planar_3r", "foreign.csv", "--column", "t=timestamp", "--column", "q=pos{}"]) == 2
    assert "no column posjoint1 (numbers from 1 and from 0" in capsys.readouterr().err
    given = ["run.csv", "--column", "q=pos_{}", "--column", "current=amp_{}", "--gains", "2", "--delay", "0"]
    assert main(["identify", "planar_3r", *given, "-o", "found.toml"]) == 2
    assert "positions look like degrees" in capsys.readouterr().err
    more = ["--degrees", "--validate", "run.csv", "-o", "found.toml", "--report", "found.html"]
    assert main(["identify", "planar_3r", *given, *more]) == 0
    assert "validation, %" in capsys.readouterr().out and "identification" in (tmp_path / "found.html").read_text()
    assert da.load("found.toml").joints[0].damping == pytest.approx(0.5, rel=0.05)
    odd = table.copy()
    odd[:, 0] *= 1e9
    np.savetxt("odd.csv", odd, delimiter=",", header=names, comments="")
    here = ["identify", "planar_3r", "odd.csv", *given[1:], "--degrees"]
    assert main(here) == 2
    assert "column t has 1e-07 Hz and takes 5e+09 s if it is in seconds, 100 Hz in ns; --time-unit ns" in capsys.readouterr().err
    assert main([*here, "--time-unit", "ns"]) == 0
    odd[7, 1] = np.nan
    np.savetxt("odd.csv", odd, delimiter=",", header=names, comments="")
    capsys.readouterr()
    assert main([*here, "--time-unit", "ns"]) == 1
    told = "odd.csv, line 9, column 2 (pos_0): nan is not a finite number; --allow-nan leaves such rows out"
    assert capsys.readouterr().err == f"dalembert: {told}\n"
    assert main([*here, "--time-unit", "ns", "--allow-nan"]) == 0
    assert "warning: odd.csv: row 8 without a number in q left out" in capsys.readouterr().err
    assert main(["identify", "planar_3r", "run.csv", "--column", "q=pos_0", *given[3:], "--degrees"]) == 2
    assert "q has 3 columns, and 'pos_0' names one; write {}" in capsys.readouterr().err
    listed = ["--column", "q=pos_0,pos_1,pos_2", "--column", "current=amp_0, amp_1, amp_2"]
    assert main(["identify", "planar_3r", "run.csv", *listed, *given[5:], "--degrees"]) == 0
    capsys.readouterr()
    table[:, 4] *= -1
    np.savetxt("run.csv", table, delimiter=",", header=names, comments="")
    assert main(["identify", "planar_3r", *given, "--degrees"]) == 0
    told = capsys.readouterr()
    assert "note: run.csv: the torque of joint1 has the opposite sign" in told.out and told.err == ""  # once
    assert main(["identify", "planar_3r", "run.csv", "-o", "found.urdf"]) == 2
    assert "must end in .toml" in capsys.readouterr().err
