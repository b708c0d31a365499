"""Files of states: what is written is read back bit for bit, what is wrong is named by line and column, and memory stays small."""

import contextlib
import io
import os
import tracemalloc
import zipfile

import numpy as np
import pytest

import dalembert as da
from dalembert.files import load_states, read_states, write_states
from dalembert.quantities.states import evaluate_states

ARM = da.robot("two_link")
NAMES = ("joint1", "joint2")


def states(count, n=2, seed=0):
    q, qd, qdd = np.random.default_rng(seed).normal(size=(3, count, n))
    return {"q": q, "qd": qd, "qdd": qdd}


def read(text, wanted=("q", "qd", "qdd"), robot=ARM):
    return load_states(robot, io.BytesIO(text.encode() if isinstance(text, str) else text), wanted)


def equal(found, expected):
    assert set(found) == set(expected)
    for part in expected:
        np.testing.assert_array_equal(found[part], expected[part])


@pytest.mark.parametrize("ending", ["csv", "npy", "npz"])
@pytest.mark.parametrize("time", [False, True])
def test_what_is_written_is_read_back(tmp_path, ending, time):
    """45,000 states cross the borders of pieces and blocks; extreme numbers keep all digits."""
    given = states(45_000)
    given["q"][:4] = [[5e-324, -1.7976931348623157e308], [0.1, 1 / 3], [np.inf, -np.inf], [np.nan, -0.0]]
    if time:
        given = {"t": np.arange(45_000) / 3, **given}
    assert write_states(ARM, tmp_path / f"a.{ending}", [given]) == 45_000
    equal(load_states(ARM, tmp_path / f"a.{ending}", allow_nan=True), given)
    pieces = list(read_states(ARM, tmp_path / f"a.{ending}", allow_nan=True))
    assert max(len(p["q"]) for p in pieces) <= 60_000
    assert len(pieces) > 1 or ending == "csv"


def test_numpy_reads_what_is_written(tmp_path):
    given = states(7)
    for ending in ("npy", "npz", "csv"):
        write_states(ARM, tmp_path / f"a.{ending}", [given])
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy"), np.hstack(list(given.values())))
    with np.load(tmp_path / "a.npz") as held:
        equal(dict(held), given)
    np.testing.assert_array_equal(np.loadtxt(tmp_path / "a.csv", delimiter=",", skiprows=1), np.hstack(list(given.values())))


def test_columns_in_any_order_and_others_ignored():
    text = "label,qd_joint2,q_joint2,time,q_joint1,qd_joint1\nleft,4,2,0.5,1,3\nright,40,20,0.6,10,30\n"
    equal(read(text, ["q", "qd"]), {"t": np.array([0.5, 0.6]), "q": [[1, 2], [10, 20]], "qd": [[3, 4], [30, 40]]})


@pytest.mark.parametrize(
    "text",
    [
        "1,2,3,4\n5,6,7,8\n",
        "1,2,3,4\r\n5,6,7,8",
        "1;2;3;4\n5;6;7;8\n",
        "1\t2\t3\t4\n5\t6\t7\t8\n",
        "  1 2   3 4\n5 6 7 8  \n",
        "\n# a remark\n1,2,3,4\n\n5,6,7,8\n# the end\n",
        "\ufeffq1,q2,qd1,qd2\n1,2,3,4\n5,6,7,8\n",
        '"q_joint1","q_joint2","qd_joint1","qd_joint2"\n1,2,3,4\n5,6,7,8\n',
        "# q1 q2 qd1 qd2\n1 2 3 4\n5 6 7 8\n",
        "# q1,q2,qd1,qd2\n1.,+2,3e0,.4e1\n5,6, 7,8\n",
        "0.1,1,2,3,4\n0.2,5,6,7,8\n",
        "0,1,2,3,4,9,9,9,9\n0,5,6,7,8,9,9,9,9\n",
        "q_joint1;q_joint2;qd_joint1;qd_joint2\n1;2;3;4\n5;6;7;8\n",
    ],
)
def test_dialects(text):
    found = read(text, ["q", "qd"])
    np.testing.assert_array_equal(found["q"], [[1, 2], [5, 6]])
    np.testing.assert_array_equal(found["qd"], [[3, 4], [7, 8]])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1,2\n3,x\n", r"line 2, column 2 \(q_joint2\): 'x' is not a number"),
        ("q2,q1\n1,2\n\n3,\n", r"line 4, column 2 \(q1\): an empty field is not a finite number"),
        ("1,2\n3,4,5\n", "line 2: 3 columns, but 2 above"),
        ("1,2\n3\n4,5,6\n", "line 2: 1 columns, but 2 above"),
        ("1,2\n3 4,5\n", r"line 2, column 1 \(q_joint1\): '3 4' is not a number"),
        ("1,x\n", r"line 1, column 2 \(q_joint2\): 'x' is not a number"),
        ("1,1_0\n", "'1_0' is not a number"),
        ("1,0x10\n", "'0x10' is not a number"),
        ("1;1,5\n", "'1,5' is not a number"),
        ("1,2,3,4\n", "4 columns without names, but two_link with 2 joints needs 2 .q., or 3 .t, q., or 9"),
        ("q_joint1,qd_joint2\n1,2\n", r"line 1: there is no column q_joint2 \(nor q2\); there are: q_joint1, qd_joint2"),
        ("q1,q1\n1,2\n", "two columns are named 'q1'"),
        ("", "the file contains no states"),
        ("q1,q2\n", "the file contains no states"),
        (b"\xff\xfe,\x00\n1,2\n", "there is no column"),
        ("1,\u0663\n", "is not a number"),
    ],
)
def test_mistakes_are_named_by_line_and_column(text, message):
    with pytest.raises(da.Error, match=message):
        read(text, ["q"])


def test_a_mistake_far_down_is_named_too():
    lines = ["1.25,2.5"] * 1_000_000
    lines[987_653] = "1.25,2.5e"
    with pytest.raises(da.Error, match=r"line 987654, column 2 \(q_joint2\): '2.5e'"):
        for _ in read_states(ARM, io.BytesIO("\n".join(lines).encode()), ["q"]):
            pass


def test_a_line_without_end(monkeypatch):
    monkeypatch.setattr("dalembert.storage.limits.LINE", 1000)
    with pytest.raises(da.Error, match="line 1: longer than"):
        read("1" * 5000)


def test_other_arrays(tmp_path):
    """Fortran order, whole numbers, single precision, compressed, more axes, an open file."""
    q = np.arange(90_000.0).reshape(45_000, 2)
    np.save(tmp_path / "f.npy", np.asfortranarray(q))
    equal(load_states(ARM, tmp_path / "f.npy", ["q"]), {"q": q})
    np.savez_compressed(tmp_path / "z.npz", q=np.asfortranarray(q).astype(np.float32), qd=q.astype(int), time=np.arange(45_000))
    equal(load_states(ARM, tmp_path / "z.npz", ["q", "qd"]), {"t": np.arange(45_000.0), "q": q, "qd": q})
    np.savez(tmp_path / "many.npz", q=q.reshape(5, 9000, 2), time=np.arange(9000))
    equal(load_states(ARM, tmp_path / "many.npz", ["q"]), {"q": q})
    np.save(tmp_path / "one.npy", q[3])
    with (tmp_path / "one.npy").open("rb") as file:
        equal(load_states(ARM, file, ["q"]), {"q": q[3:4]})


def test_trajectories_are_states(tmp_path):
    motion = ARM.simulate([0.3, 0.1], duration=0.05)
    motion.to_csv(tmp_path / "m.csv")
    motion.to_npz(tmp_path / "m.npz")
    for name in ("m.csv", "m.npz"):
        found = load_states(ARM, tmp_path / name, ["q", "tau"])
        equal(found, {"t": motion.time, "q": motion.q, "tau": motion.tau})
    other = da.Robot("other", tuple(da.Link(x, y, da.Joint(f"turn_{x}")) for x, y in (("a", "base"), ("b", "a"))))
    with pytest.raises(da.Error, match="is of joints 'joint1, joint2', but other has turn_a, turn_b"):
        load_states(other, tmp_path / "m.npz", ["q"])


def broken_npy():
    file = io.BytesIO()
    np.save(file, np.zeros((100, 2)))
    return file.getvalue()[:-8]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (broken_npy(), "truncated"),
        (b"\x93NUMPY\x01\x00rubbish", "not a NumPy array"),
        (b"\x93NUMPY\x09\x00rubbish", "not a NumPy array"),
        (b"PK\x03\x04rubbish", "not an NPZ file"),
    ],
)
def test_broken_arrays(data, message):
    with pytest.raises(da.Error, match=message):
        read(data, ["q"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "q1,q2\n1,2\n\n# a remark\n3,nan\n",
            r"line 5, column 2 \(q2\): nan is not a finite number; allow_nan=True takes it as it is",
        ),
        ("1,2\n-inf,4\n", r"line 2, column 1 \(q_joint1\): -inf is not a finite number"),
        ("note,q2,q1\na,1,2\nb,NaN,3\n", r"line 3, column 2 \(q2\): NaN is not"),
    ],
)
def test_numbers_that_are_not_finite_are_named_by_line_and_column(text, message):
    with pytest.raises(da.Error, match=message):
        read(text, ["q"])
    found = load_states(ARM, io.BytesIO(text.encode()), ["q"], allow_nan=True)["q"]
    assert (~np.isfinite(found)).sum() == 1


def test_nan_beyond_the_first_block_is_named_too():
    with pytest.raises(da.Error, match=r"line 400001, column 2 \(q_joint2\): nan is not a finite number"):
        read("1,2\n" * 400_000 + "1,nan\n", ["q"])


def test_columns_that_nobody_asked_for_may_hold_anything():
    equal(read("q1,q2,qd1,qd2\n1,2,nan,inf\n", ["q"]), {"q": [[1, 2]]})


@pytest.mark.parametrize("ending", ["npy", "npz"])
def test_arrays_that_are_not_finite_are_named_by_row(tmp_path, ending):
    given = states(45_000)
    given["qd"][41_234, 1] = np.nan
    write_states(ARM, tmp_path / f"a.{ending}", [given])
    with pytest.raises(da.Error, match=rf"a.{ending}, row 41235, column 2 of qd: nan is not a finite number"):
        load_states(ARM, tmp_path / f"a.{ending}")
    equal(load_states(ARM, tmp_path / f"a.{ending}", allow_nan=True), given)


def test_nan_stays_in_its_state_where_it_is_allowed(tmp_path):
    (tmp_path / "a.csv").write_text("q1,q2\n0.1,0.2\n0.1,nan\n0.3,0.4\n")
    given = ARM, "inverse_dynamics", tmp_path / "a.csv", tmp_path / "b.csv"
    with pytest.raises(da.Error, match=r"a.csv, line 3, column 2 \(q2\)"):
        evaluate_states(*given, at_rest=True)
    assert not (tmp_path / "b.csv").exists()
    assert evaluate_states(*given, at_rest=True, allow_nan=True) == 3
    tau = load_states(ARM, tmp_path / "b.csv", ["tau"], allow_nan=True)["tau"]
    np.testing.assert_array_equal(tau[[0, 2]], ARM.gravity_force([[0.1, 0.2], [0.3, 0.4]]))
    assert np.isnan(tau[1]).any()


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"q": np.zeros((3, 2))}, "no array 'qd'"),
        ({"q": np.zeros((3, 2)), "qd": np.zeros((3, 4))}, "qd has shape"),
        ({"q": np.zeros((3, 2)), "qd": np.zeros((4, 2))}, "different numbers of states: q 3, qd 4"),
        ({"q": np.zeros((3, 2)), "qd": np.zeros((3, 2), complex)}, "must be real numbers"),
        ({"q": np.zeros((3, 2)), "qd": np.array([["a", "b"]])}, "must be real numbers"),
        ({"q": np.zeros((3, 2)), "qd": np.array([[None, 1]], object)}, "must be real numbers"),
    ],
)
def test_wrong_arrays(tmp_path, arrays, message):
    np.savez(tmp_path / "a.npz", **arrays)
    with pytest.raises(da.Error, match=message):
        load_states(ARM, tmp_path / "a.npz", ["q", "qd"])


@pytest.mark.parametrize("source", ["csv", "npy", "npz"])
@pytest.mark.parametrize("target", ["csv", "npy", "npz"])
def test_inverse_and_forward(tmp_path, source, target):
    """The same numbers as the library's, and back again."""
    arm, given = da.robot("puma560"), states(300, 6)
    write_states(arm, tmp_path / f"in.{source}", [given])
    names = tmp_path / f"in.{source}", tmp_path / f"all.{target}"
    assert evaluate_states(arm, "inverse_dynamics", *names, method="lie_group", everything=True) == 300
    expected = arm.inverse_dynamics(*given.values(), method="lie_group")
    equal(load_states(arm, names[1], ["tau"]) if target != "npy" else {"tau": np.load(names[1])[:, 18:]}, {"tau": expected})
    if target == "npy":  # without names, four parts need the time, too
        return
    evaluate_states(arm, "forward_dynamics", names[1], tmp_path / "qdd.npy")
    assert np.abs(np.load(tmp_path / "qdd.npy") - given["qdd"]).max() < 1e-9


def test_a_table_without_states_is_an_error(tmp_path):
    (tmp_path / "a.csv").write_text("q1,q2,qd1,qd2,qdd1,qdd2\n")
    for target in ("b.csv", "b.npz"):
        with pytest.raises(da.Error, match=r"a\.csv: it contains no states"):
            evaluate_states(ARM, "inverse_dynamics", tmp_path / "a.csv", tmp_path / target)
        assert not (tmp_path / target).exists()


def test_a_file_is_whole_or_not_there(tmp_path):
    (tmp_path / "a.csv").write_text("1,2,3,4,5,6\n" * 100 + "1,2,3,4,5,x\n")
    (tmp_path / "b.csv").write_text("old")
    with pytest.raises(da.Error, match="line 101"):
        evaluate_states(ARM, "inverse_dynamics", tmp_path / "a.csv", tmp_path / "b.csv")
    assert (tmp_path / "b.csv").read_text() == "old"
    assert sorted(x.name for x in tmp_path.iterdir()) == ["a.csv", "b.csv"]
    (tmp_path / "a.csv").write_text("1,2,3,4,5,6\n")
    evaluate_states(ARM, "inverse_dynamics", tmp_path / "a.csv", tmp_path / "a.csv")  # in place
    assert (tmp_path / "a.csv").read_text().startswith("tau_joint1")
    assert (tmp_path / "a.csv").stat().st_mode & 0o777 == 0o666 & ~_umask()


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_singular_states_are_told_once_with_their_place(tmp_path):
    """A point on an axis: at q2 = 0 the first joint carries nothing."""
    point = da.Inertia(1.0, np.zeros(3), np.zeros((3, 3)))
    nothing = da.Inertia(0.0, np.zeros(3), np.zeros((3, 3)))
    turned = da.Pose.of(np.zeros(3), np.array([0.0, np.pi / 2, 0.0]))
    links = (
        da.Link("a", "base", da.Joint("turn"), inertia=nothing),
        da.Link("b", "a", da.Joint("slide", "prismatic"), turned, inertia=point),
    )
    robot = da.Robot("rp", links)
    text = "q1,q2,qd1,qd2,tau1,tau2\n" + "0,1,0,0,1,1\n" * 3 + "0,0,0,0,1,1\n"
    (tmp_path / "a.csv").write_text(text)
    with pytest.warns(da.SingularWarning, match="singular at 1 of 4 states.*first is state 4") as caught:
        evaluate_states(robot, "forward_dynamics", tmp_path / "a.csv", tmp_path / "b.csv")
    assert len(caught) == 1
    qdd = load_states(robot, tmp_path / "b.csv", ["qdd"], allow_nan=True)["qdd"]
    assert np.isnan(qdd).any(axis=1).tolist() == [False, False, False, True]


def test_other_mistakes(tmp_path):
    with pytest.raises(da.Error, match="cannot be read"):
        load_states(ARM, tmp_path / "none.csv")
    with pytest.raises(da.Error, match=r"known are \.csv, \.npy, \.npz"):
        write_states(ARM, tmp_path / "a.txt", [states(1)])
    with pytest.raises(da.Error, match="cannot be written"):
        write_states(ARM, tmp_path / "none" / "a.csv", [states(1)])
    with pytest.raises(da.Error, match="no states to write"):
        write_states(ARM, tmp_path / "a.csv", [])
    with pytest.raises(da.Error, match="no moving joints"):
        load_states(da.Robot("stone", ()), io.BytesIO(b"1"))
    with pytest.raises(da.Error, match="inverse_dynamics and forward_dynamics"):
        evaluate_states(ARM, "mass_matrix", "-", "-")
    with pytest.raises(da.Error, match="unknown method"):
        evaluate_states(ARM, "inverse_dynamics", "-", "-", method="magic")


def test_joints_with_odd_names(tmp_path):
    odd = da.Robot("odd", tuple(
        da.Link(f"l{k}", f"l{k - 1}" if k else "base", da.Joint(name), inertia=da.Inertia(1.0, np.ones(3), np.eye(3)))
        for k, name in enumerate(['a,"b"', "c; d", "ü"])
    ))  # fmt: skip
    given = {"q": np.arange(6.0).reshape(2, 3)}
    write_states(odd, tmp_path / "a.csv", [given])
    equal(load_states(odd, tmp_path / "a.csv", ["q"]), given)
    motion = odd.simulate(given["q"][0], duration=0.002)
    equal(load_states(odd, motion.to_csv(tmp_path / "b.csv"), ["q"]), {"t": motion.time, "q": motion.q})


def peak(work):
    """The most bytes that Python and NumPy hold for a call, the same on every machine."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(("ending", "few"), [("csv", 1), ("npz", 12), ("npy", 12)])
def test_memory_does_not_grow_with_the_number_of_states(tmp_path, monkeypatch, ending, few):
    """Five times as many take no more; pieces are made small here, so that few states are many pieces."""
    monkeypatch.setattr("dalembert.files.text.BLOCK", 1 << 17)  # of 1 << 20
    monkeypatch.setattr("dalembert.files.binary.ROWS", 500)  # of 20,000
    arm, rng = da.robot("puma560"), np.random.default_rng(0)
    block = {part: rng.normal(size=(2_000, 6)) for part in ("q", "qd", "qdd")}
    expected, peaks = arm.inverse_dynamics(*block.values()), []
    for count in (1, few, 5 * few):  # the first time counts for nothing: it imports and fills caches
        source, target = tmp_path / f"in.{ending}", tmp_path / f"out.{ending}"
        write_states(arm, source, (block for _ in range(count)))
        peaks.append(peak(lambda source=source, target=target: evaluate_states(arm, "inverse_dynamics", source, target)))
        np.testing.assert_array_equal(load_states(arm, target, ["tau"])["tau"], np.tile(expected, (count, 1)))
    assert peaks[2] < 1.1 * peaks[1], f"{peaks[1:]} bytes"


def test_members_are_not_read_as_a_whole(tmp_path, monkeypatch):
    """A small file that claims to unpack to gigabytes costs nothing until it is read, and is refused when it ends."""
    head = io.BytesIO()
    np.lib.format.write_array_header_1_0(head, {"descr": "<f8", "fortran_order": False, "shape": (10**12, 2)})
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("q.npy", head.getvalue() + bytes(1000))
    with pytest.raises(da.Error, match="truncated"):
        load_states(ARM, tmp_path / "a.npz", ["q"])


def npz(**members):
    """An archive of these texts, whatever they are."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)
    return held.getvalue()


def npy(shape, descr):
    """The head of an array, and nothing of it."""
    held = io.BytesIO()
    np.lib.format.write_array_header_1_0(held, {"descr": descr, "fortran_order": False, "shape": shape})
    return held.getvalue()


def saved(array):
    held = io.BytesIO()
    np.save(held, array)
    return held.getvalue()


ZEROS = saved(np.zeros((3, 2)))


@pytest.mark.parametrize(
    "data",
    [
        npz(q=b"\x93NUMPY\x01\x00\x06\x00(((((("),
        npz(q=b"\x93NUMPY\x01\x00\x10\x00{'descr':import }"),
        npz(q=npy((-5, -5, 2), "<f8")),
        npz(q=npy((10**15, 2), "<f8")),
        npz(q=npy((3, 2), "|O")),
        npz(q=ZEROS, joints=npy((2,), "<U1")),
        npz(q=ZEROS, joints=saved(np.array(["a", "b", "c"]))),
        npz(q=ZEROS).replace(b"q.npy", b"q.txt"),
        b"q1," + b"x" * 200_000 + b"\n1,2\n",
        b"q1,q2\r1,2\r3,4\r",
        b"1,2\r3,4\r",
    ],
)
def test_files_that_mean_harm(data):
    with pytest.raises(da.Error):
        read(data, ["q"])


@pytest.mark.parametrize("joints", [saved(np.array("a")), npy((10**13,), "<U1"), npy((10**12,), "|S0"), saved(np.zeros(2))])
def test_joints_that_are_no_names(joints):
    """They are left alone, however many they say they are."""
    assert read(npz(q=ZEROS, joints=joints), ["q"])["q"].shape == (3, 2)


def test_damaged_archives_and_heads():
    """A bit is changed anywhere: it is read, or an Error says why not."""
    rng, heads = np.random.default_rng(1), np.frombuffer(b"0123456789(){}',<>|f8OTrue:-\x00\xff", np.uint8)
    whole = npz(q=saved(rng.normal(size=(300, 2))), joints=saved(np.array(NAMES)))
    for k in range(600):
        data = bytearray(ZEROS if k % 2 else whole)
        for _ in range(3):
            data[rng.integers(4, 128 if k % 2 else len(data))] = rng.choice(heads) if k % 2 else rng.integers(0, 256)
        with contextlib.suppress(da.Error):
            read(bytes(data), ["q"])


def test_a_mark_of_byte_order_before_numbers():
    np.testing.assert_array_equal(read(b"\xef\xbb\xbf1,2\n3,4\n", ["q"])["q"], [[1, 2], [3, 4]])


def test_superfluous_names_do_not_make_positions_velocities():
    """Seven positions and a joint are as many numbers as six velocities, a joint and a name that the robot does not have."""
    robot = da.robot("two_link").with_free_base().lock({"joint2": 0.0})
    names = ["joint1", "base"]
    assert robot.reorder(np.arange(8.0), names)[-1] == 0
    with pytest.raises(da.Error, match="reorder: two_link has no 'elbow', and an array of size 8 may be its own positions"):
        robot.reorder(np.arange(8.0), [*names, "elbow"])
    assert robot.reorder(np.arange(9.0), [*names, "elbow"])[-1] == 0
