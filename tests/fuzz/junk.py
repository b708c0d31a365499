"""Values that nobody should pass, and some that look nearly right."""

import decimal
import fractions
from pathlib import Path

import numpy as np

import dalembert as da


class Anything:
    """A class that can be called with anything."""

    def __init__(self, *_, **__):
        pass


def ragged():
    return [[1.0, 2.0], [3.0]]


def masked(mask):
    return np.ma.masked_array([0.1, 0.2], mask=mask)


# each makes a fresh value: a call may change or exhaust what it gets
JUNK = {
    "None": lambda: None,
    "True": lambda: True,
    "0": lambda: 0,
    "-1": lambda: -1,
    "3": lambda: 3,
    "2**70": lambda: 2**70,
    "10**400": lambda: 10**400,
    "-10**400": lambda: -(10**400),
    "nan": lambda: np.nan,
    "inf": lambda: np.inf,
    "-inf": lambda: -np.inf,
    "1e308": lambda: 1e308,
    "5e-324": lambda: 5e-324,
    "1j": lambda: 1j,
    "fraction": lambda: fractions.Fraction(1, 3),
    "decimal": lambda: decimal.Decimal("0.1"),
    "empty string": lambda: "",
    "string": lambda: "abc",
    "number in a string": lambda: "1.5",
    "line breaks": lambda: "a\nb\r\nc",
    "null character": lambda: "a\0b",
    "surrogate": lambda: "a\ud800",
    "long string": lambda: "x" * 10**6,
    "long joints": lambda: "R" * 10**6,
    "bytes": lambda: b"abc",
    "empty list": list,
    "empty tuple": tuple,
    "list of None": lambda: [None, None],
    "list of strings": lambda: ["a", "b"],
    "list of lists": lambda: [[], []],
    "ragged": ragged,
    "nested": lambda: [[[[[[0.0]]]]]],
    "long list": lambda: [0.0] * 100_000,
    "list of huge numbers": lambda: [10**400, 10**5000],
    "dict": lambda: {"a": 1},
    "dict of a list": lambda: {"q": [0.0, 0.0]},
    "dict of numbers": lambda: {1: 2, None: 3},
    "empty dict": dict,
    "set": lambda: {1.0, 2.0},
    "set of strings": lambda: {"a"},
    "generator": lambda: (x for x in (0.1, 0.2)),
    "range": lambda: range(2),
    "slice": lambda: slice(None),
    "ellipsis": lambda: ...,
    "class": lambda: Anything,
    "object": object,
    "function": lambda: lambda *_, **__: None,
    "function of strings": lambda: lambda *_, **__: "abc",
    "robot": lambda: da.robot("two_link"),
    "other robot": lambda: da.robot("planar_3r"),
    "pose": da.Pose.identity,
    "inertia": da.Inertia.zero,
    "joint": lambda: da.Joint("a"),
    "wrench": da.Wrench,
    "program": lambda: da.robot("two_link").program("gravity_force"),
    "path": lambda: Path("no/such/file.csv"),
    "folder": lambda: Path(),
    "array ()": lambda: np.array(1.0),
    "array (0,)": lambda: np.zeros(0),
    "array (1,)": lambda: np.zeros(1),
    "array (2,)": lambda: np.array([0.1, 0.2]),
    "array (3,)": lambda: np.zeros(3),
    "array (3, 2)": lambda: np.full((3, 2), 0.1),
    "array (5, 2)": lambda: np.full((5, 2), 0.1),
    "array (0, 2)": lambda: np.zeros((0, 2)),
    "array (2, 0)": lambda: np.zeros((2, 0)),
    "array (4, 4)": lambda: np.eye(4),
    "array (2, 2, 2)": lambda: np.zeros((2, 2, 2)),
    "array of 64 axes": lambda: np.zeros((1,) * 62 + (1, 2)),
    "array of nan": lambda: np.array([np.nan, 0.0]),
    "array of inf": lambda: np.array([np.inf, -np.inf]),
    "array of ints": lambda: np.array([1, 2]),
    "array of bools": lambda: np.array([True, False]),
    "array of complex": lambda: np.array([1j, 2.0]),
    "array of objects": lambda: np.array([None, object()]),
    "array of number objects": lambda: np.array([1, 2], dtype=object),
    "array of strings": lambda: np.array(["a", "b"]),
    "array of bytes": lambda: np.array([b"a", b"b"]),
    "array of dates": lambda: np.array(["2020-01-01", "2020-01-02"], dtype="datetime64[D]"),
    "array of records": lambda: np.zeros(2, dtype=[("a", float), ("b", int)]),
    "array of float16": lambda: np.zeros(2, np.float16),
    "array of longdouble": lambda: np.zeros(2, np.longdouble),
    "array big-endian": lambda: np.zeros(2, ">f8"),
    "array read-only": lambda: np.broadcast_to(0.0, (2,)),
    "matrix": lambda: np.eye(2).view(np.matrix),
    "masked": lambda: masked([False, True]),
    "masked nowhere": lambda: masked(False),
    "masked everywhere": lambda: masked(True),
    "numpy string": lambda: np.str_("abc"),
    "numpy int": lambda: np.int64(2),
    "numpy bool": lambda: np.bool_(True),
    "numpy nan": lambda: np.float64("nan"),
}  # fmt: skip
