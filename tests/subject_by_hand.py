"""Subjects written by hand, in ms, for tests of what is said about them."""

from typing import Any

import numpy as np

from roofline.analysis.subjects.records import Kind, OpPart, OpTimes, Outside, Parts, Subject

WAITS = ("transfers", "input", "host_wait", "unknown_wait")


def subject_of(
    needed: float = 0.0,
    to_gain: float = 0.0,
    unknown: float = 0.0,
    impossible: float = 0.0,
    *,
    assumed: float = 0.0,
    ops: int = 3,
    **rest: Any,
) -> Subject:
    """A subject of so many ms in each part; its first op has the impossible time."""
    waits = {name: rest.pop(name, 0.0) * 1e3 for name in WAITS}
    links = {name: ms * 1e3 for name, ms in rest.pop("links", {}).items()}
    parts = Parts(
        needed=needed * 1e3,
        to_gain=to_gain * 1e3,
        wasted=None,
        unknown=unknown * 1e3,
        impossible=impossible * 1e3,
        links=links,
        stay=0.0,
        **waits,
    )
    time_us = parts.work + sum(parts.waits.values())
    floor_us = parts.needed + parts.unknown + parts.impossible
    width = np.array([parts.impossible, parts.known, parts.unknown, *[0.0] * (ops - 2)])[: ops + 1]
    columns = OpTimes(
        width_us=width,
        work_us=width,
        calls=np.ones(ops + 1),
        called_us=width,
        needed_us=np.where(width == parts.known, parts.needed, 0.0),
        to_gain_us=np.where(width == parts.known, parts.to_gain, 0.0),
        unknown_us=np.where(width == parts.unknown, width, 0.0),
        impossible_us=np.where(width == parts.impossible, width, 0.0),
        work_gain_us=np.zeros(ops + 1),
        assumed=np.zeros(ops + 1, np.bool_),
        gain_us=np.zeros(ops + 1),
        wasted_us=np.full(ops + 1, np.nan),
        part=(OpPart.IMPOSSIBLE, OpPart.WORK, OpPart.UNKNOWN, *[OpPart.NONE] * ops)[: ops + 1],
        doubtful=np.array([0] if impossible else [], np.int64),
    )
    found: dict[str, Any] = {
        "of": "step",
        "kind": Kind.STEP,
        "label": "Step 6",
        "unit_word": "a step",
        "count": 1,
        "cores": 1,
        "host": None,
        "floor_us": floor_us,
        "gain_us": time_us - floor_us,
        "roof_ratio": needed / (needed + to_gain) if needed + to_gain else None,
        "known_ratio": parts.known / parts.work if parts.work else None,
        "idle_ratio": parts.idle / time_us if time_us else None,
        "outside": Outside(total_us=0.0),
        "link_need_us": 0.0,
        "has_ceilings": True,
        "unnamed_us": 0.0,
        "other_gain_us": parts.idle,
        "wait_gains_us": dict(parts.waits),
        "sample": None,
        "not_found": "",
    }
    return Subject(
        **found | rest, time_us=time_us, parts=parts, assumed_us=assumed * 1e3, ops=columns
    )
