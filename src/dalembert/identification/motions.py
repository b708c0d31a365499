"""Recordings one after the other, prepared in pieces that fit into memory."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dalembert.arguments import LONGEST, instance
from dalembert.errors import Error, brief
from dalembert.identification.prepare import Prepared
from dalembert.identification.recording import Recording
from dalembert.robots import Robot
from dalembert.version import __version__

PIECE = 20_000  # samples at once
SHOWN = 80  # letters of names of recordings
THROUGH = 8.5  # periods of the cutoff, after which the filter has forgotten
Within = tuple[Prepared, tuple[float, float]]  # a motion, and the times between which its rows count


def given_recordings(recordings: Any, robot: Robot) -> Iterator[Recording]:
    """Recordings, or files of them, one or several."""
    if isinstance(recordings, Recording | str | Path):
        recordings = [recordings]
    if not isinstance(recordings, Iterable) or isinstance(recordings, Mapping | np.ndarray):
        raise Error(f"identify takes recordings (da.Recording), or files of them, got {brief(recordings)}")
    for one in recordings:
        one = Recording.load(one, robot) if isinstance(one, str | Path) else instance(one, Recording, "each of the recordings")
        if one.robot.joint_names != robot.joint_names:
            raise Error(f"{one.name} is of joints {brief(one.robot.joint_names)}, {robot.name} has {brief(robot.joint_names)}")
        yield one


def noted(given: Iterable[Recording], names: list[str]) -> Iterator[Recording]:
    """The recordings, while their names are noted."""
    for recording in given:
        names.append(recording.name)
        yield recording


def provenance(what: str, recordings: Sequence[str], before: Robot | None) -> str:
    """The source of a robot with what was identified from these recordings, and where the rest is from.

    >>> provenance("identified", ["a.csv", "b.csv"], None).partition(" from ")[2]
    'a.csv, b.csv; prior: none'
    """
    names, shown = " ".join(recordings[0].split())[:SHOWN], 1
    while shown < len(recordings) and len(names) + len(recordings[shown]) < SHOWN:
        names, shown = f"{names}, {' '.join(recordings[shown].split())}", shown + 1
    names += f" and {len(recordings) - shown} more" if shown < len(recordings) else ""
    prior = "none" if before is None else before.source or before.name
    whole = f"{what} by dalembert {__version__} from {names}; prior: {prior}"
    return whole if len(whole) <= LONGEST else f"{whole[: LONGEST - 3]}..."


def motions(recording: Recording, options: Mapping[str, Any]) -> Iterator[Within]:
    """A recording prepared, in pieces if it is long; all with what the first of them shows of cutoff and lag."""
    overlap, length = 0, PIECE
    if len(recording) > PIECE * 1.5:
        begin = recording._part(0, PIECE).prepare(**options)
        options = {**options, "cutoff": begin.cutoff, "q_cutoff": begin.q_cutoff, "delay": begin.delay}
        overlap = int(THROUGH * begin.rate / begin.cutoff + abs(begin.delay) * begin.rate) + 10
        length = max(PIECE, 4 * overlap)
    for piece in recording.pieces(length, overlap):  # time is counted from the first sample of each
        first, last = (piece.time[k] == recording.time[k] for k in (0, -1))
        start = -np.inf if first else piece.time[overlap] - piece.time[0]
        end = np.inf if last else piece.time[-1 - overlap] - piece.time[0]
        yield piece.prepare(**options), (start, end)
