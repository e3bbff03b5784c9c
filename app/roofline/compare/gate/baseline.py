"""Baselines: a run that is kept, with the times of all its captures."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from roofline.compare.comparison import common_unit
from roofline.compare.run import UNITS, Run, from_document, to_document, with_replicates
from roofline.compare.statistics import capture_median
from roofline.errors import CorruptProfileError

SCHEMA = 1
_MARK = "roofline_baseline"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Baseline:
    """`run` stands for all captures; `times_us` has the time of each, by unit."""

    run: Run
    times_us: dict[str, tuple[float, ...]]
    note: str = ""


def baseline_of(runs: Sequence[Run], note: str = "") -> Baseline:
    """The captures `runs` of one program as a baseline; the one in the middle stands for all."""
    times = times_of(runs)
    unit = common_unit(runs)
    order = sorted(range(len(runs)), key=lambda k: times[unit][k])
    run = with_replicates(runs[order[(len(order) - 1) // 2]], runs)
    return Baseline(run=run, times_us=times, note=note)


def times_of(runs: Sequence[Run]) -> dict[str, tuple[float, ...]]:
    """The time of each capture, by the units that all of them have."""
    units = [unit for unit in UNITS if all(unit in run.units for run in runs)]
    return {
        unit: tuple(
            capture_median(run.units[unit].samples_us, run.units[unit].total_us) for run in runs
        )
        for unit in units
    }


def baseline_to_json(baseline: Baseline) -> bytes:
    """The document of `baseline`, as UTF-8."""
    document = {
        _MARK: SCHEMA,
        "note": baseline.note.encode("utf-8", "replace").decode(),
        "times_us": {unit: list(times) for unit, times in baseline.times_us.items()},
        "run": to_document(baseline.run),
    }
    return orjson.dumps(document, option=orjson.OPT_SERIALIZE_NUMPY)


def baseline_from_json(content: bytes) -> Baseline:
    """The baseline in `content`; `CorruptProfileError` where there is none."""
    try:
        document: Any = orjson.loads(content)
        if document[_MARK] != SCHEMA:
            raise _unreadable()
        times = {
            str(unit): tuple(map(float, times)) for unit, times in document["times_us"].items()
        }
        note, run = str(document["note"]), document["run"]
    except (orjson.JSONDecodeError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise _unreadable() from error
    return Baseline(run=from_document(run), times_us=times, note=note)


def _unreadable() -> CorruptProfileError:
    return CorruptProfileError(
        "This is not a baseline, or not one of this release.",
        remedy="Write one: `roofline baseline save FILE PROFILE…`. Two profiles are held against"
        " each other by `roofline compare`.",
    )
