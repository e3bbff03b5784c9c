"""Stored runs of one title or tag over time, and where each stands at the gate."""

import gzip
from collections.abc import Mapping, Sequence
from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from roofline.errors import SettingsError

if TYPE_CHECKING:
    from roofline.compare.gate.budget import Budget
    from roofline.compare.gate.check import Report
    from roofline.compare.run import Run
    from roofline.compare.series_records import RunNumbers, Standing

# The arithmetic is loaded when somebody looks: most servers answer other requests first.


def numbers_of(packed: bytes) -> Mapping[str, "RunNumbers"]:
    """The numbers of a stored run by unit, the best unit first; `packed` is gzip."""
    from roofline.compare.series import numbers_by_unit

    return numbers_by_unit(_run(packed))


def standing_of_pair(base: bytes, run: bytes, budget: "Budget", unit: str, day: date) -> "Standing":
    """Where a stored run stands against another one."""
    from roofline.compare.series import check_pair, standing_of

    return standing_of(check_pair(_run(base), _run(run), budget, unit, day, explains=False), budget)


def report_of_pair(base: bytes, run: bytes, budget: "Budget", unit: str, day: date) -> "Report":
    """The whole report on a stored run against another one."""
    from roofline.compare.series import check_pair

    return check_pair(_run(base), _run(run), budget, unit, day, explains=True)


def budget_of_server(path: Path | None) -> "Budget":
    """The limits of this server's series: those of the file, else the default ones.

    Raises `SettingsError` where the file cannot be read.
    """
    from roofline.compare.gate.budget import DEFAULT, read_budget

    if path is None:
        return DEFAULT
    try:
        return read_budget(path.read_bytes(), path.name)
    except OSError as error:
        raise SettingsError(
            "The budget of this server cannot be read.",
            remedy="Its administrator should check the file in ROOFLINE_BUDGET_FILE.",
        ) from error


def unit_of(runs: Sequence[Mapping[str, "RunNumbers"]]) -> str:
    """The best unit that all runs have; every capture has itself."""
    from roofline.compare.series import unit_of_all

    return unit_of_all(runs)


def words_of_report(report: "Report") -> dict[str, Any]:
    """A report as its page shows it."""
    from roofline.exports.gate import report_words

    return report_words(report)


@lru_cache(maxsize=2)  # a base and the run held against it
def _run(packed: bytes) -> "Run":
    from roofline.compare.run import run_from_json

    return run_from_json(gzip.decompress(packed))
