"""`compare` and `check`: runs of a program against each other, or against a baseline."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

from roofline.analysis.subjects.choose import choose
from roofline.api.profiles import AnyPath, Profile
from roofline.api.results import Cell, Record, Result, WithPage
from roofline.compare import changes
from roofline.compare import comparison as comparing
from roofline.compare.from_analysis import run_of_address
from roofline.compare.gate import check as gate
from roofline.compare.gate import confirm as confirming
from roofline.compare.gate.baseline import Baseline, baseline_from_json
from roofline.compare.gate.budget import DEFAULT, Budget, read_budget
from roofline.compare.gate.rules import Result as RuleResult
from roofline.compare.partners import LEAST_SAME, op_shares, same_ratio
from roofline.compare.run import Run
from roofline.compare.statistics import Tested
from roofline.devices.choice import PeakChoice, read_choice
from roofline.errors import CorruptProfileError, RooflineError, SettingsError
from roofline.exports.comparison import (
    comparison_record,
    comparison_to_markdown,
    comparison_to_text,
)
from roofline.exports.comparison_page import comparison_frame
from roofline.exports.comparison_words import change_verdict, place_name
from roofline.exports.gate import first_line, report_record, report_to_markdown, report_to_text
from roofline.figures.figure import Figure as Picture
from roofline.importers.source import Progress, silent
from roofline.pipeline import analyse_files
from roofline.presentation.sentences import plain_text

Capture = Profile | AnyPath
"""A profile, the path of one, or that of a baseline."""

MOST_BESIDE = 16
"""Files of a folder that are read to find what a capture is compared with."""

BUDGET_FILE = Path("roofline.toml")
_BASELINE = b'{"roofline_baseline"'


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(WithPage):
    """What changed from A to B, in us per unit and core; docs/comparing.md.

    `found` is all that is known of the change, and not a stable surface.
    """

    found: changes.Comparison

    @property
    def sentence(self) -> str:
        """The headline, and the largest changes."""
        said = change_verdict(self.found)
        return f"{plain_text(said.headline).strip()}. {plain_text(said.largest)}".strip()

    @property
    def unit(self) -> str:
        """What times are per: "step", "execution" or "capture"."""
        return self.found.unit

    @property
    def a_us(self) -> float:
        """The time of A."""
        return self.found.a_us

    @property
    def b_us(self) -> float:
        """The time of B."""
        return self.found.b_us

    @property
    def change_us(self) -> float:
        """The time of B less that of A."""
        return self.found.change_us

    @property
    def change_ratio(self) -> float | None:
        """The change as a share of A's time; `None` where A has none."""
        return self.change_us / self.a_us if self.a_us else None

    @property
    def terms(self) -> Mapping[str, float]:
        """Parts of the change with one cause each, in us; they add up to it."""
        return self.found.terms

    @property
    def is_comparable(self) -> bool:
        """False where the two do not do the same work."""
        return self.found.is_comparable

    @property
    def tested(self) -> Tested | None:
        """Whether the change is more than noise; `None` below three captures a side."""
        return self.found.tested

    def to_dict(self) -> dict[str, Any]:
        """The document of `roofline compare --format json`."""
        return comparison_record(self.found)

    def to_text(self) -> str:
        """What `roofline compare` prints."""
        return comparison_to_text(self.found)

    def to_markdown(self) -> str:
        """What `roofline compare --format markdown` prints."""
        return comparison_to_markdown(self.found)

    def rows(self) -> list[dict[str, Any]]:
        """The change by module, waits among them: one row each, the terms' order of the page."""
        return [
            {
                "name": place_name(one),
                "a_us": one.a.time_us,
                "b_us": one.b.time_us,
                "change_us": one.change_us,
                "noise_us": one.noise_us,
                "source": one.source,
            }
            for one in self.found.places
        ]

    def picture(self) -> Picture | None:
        """The time of both by module, as on the page."""
        drawn: Picture | None = json.loads(comparison_frame(self.found)["figure"] or "null")
        return drawn

    def cell(self) -> Cell:
        """The sentence, the time of both, and the change by module."""
        frame = comparison_frame(self.found)
        rows = sorted(self.rows(), key=lambda row: -abs(row["change_us"]))
        return Cell(lines=[self.sentence], pictures=frame["pictures"], rows=rows[:10])


@dataclass(frozen=True, eq=False, repr=False)
class CheckResult(Result):
    """The result of a check; docs/gate.md. `report` is all of it, and not a stable surface."""

    report: gate.Report

    @property
    def sentence(self) -> str:
        """Passed, failed or inconclusive, and how many rules are which."""
        return first_line(self.report)

    @property
    def status(self) -> int:
        """As the command exits: 0 passed, 1 a rule is broken, 3 inconclusive."""
        return self.report.status

    @property
    def broken(self) -> Sequence[RuleResult]:
        """The rules that are broken."""
        return self.report.of_state("broken")

    def to_dict(self) -> dict[str, Any]:
        """The document of `roofline check --format json`."""
        return report_record(self.report)

    def to_text(self) -> str:
        """What `roofline check` prints."""
        return report_to_text(self.report)

    def to_markdown(self) -> str:
        """What `roofline check --format markdown` prints."""
        return report_to_markdown(self.report)

    def rows(self) -> Sequence[Record]:
        """One row per rule."""
        names = ("rule", "state", "level", "base", "new", "change_ratio", "limit", "message")
        return [{name: one[name] for name in names} for one in self.to_dict()["rules"]]

    def cell(self) -> Cell:
        """The verdict, notes, and all rules."""
        return Cell(lines=[self.sentence], notes=self.report.notes, rows=self.rows())


def compare(
    a: Capture | Sequence[Capture],
    b: Capture | Sequence[Capture],
    *,
    unit: str | None = None,
    of: str | None = None,
    device: str | None = None,
    peaks: Sequence[str] = (),
) -> Comparison:
    """What changed from A to B; several captures of a side say whether it is noise.

    `unit` is "step", "execution" or "capture", `of` the address of the subject; `device` and
    `peaks` are those of files that are read here. Raises `RooflineError` with a remedy.
    """
    choice = read_choice(device, peaks)
    before, after = (runs_of(side, choice, of) for side in (a, b))
    return Comparison(comparing.compare(before, after, unit))


def check(
    captures: Capture | Sequence[Capture],
    *,
    baseline: AnyPath | None = None,
    budget: AnyPath | None = None,
    of: str | None = None,
    device: str | None = None,
    peaks: Sequence[str] = (),
    confirm: Callable[[], Capture] | None = None,
) -> CheckResult:
    """Captures of one program against a baseline and limits, as `roofline check`.

    `budget` is a file of limits, else `roofline.toml` where there is one, else the default limits.
    Without a `baseline` values are tested alone. `confirm` makes a new capture: it is called where
    a time looks worse, as often as it takes to tell, before the check fails. Raises `RooflineError`
    with a remedy.
    """
    choice = read_choice(device, peaks)
    runs = runs_of(captures, choice, of)
    kept = None if baseline is None else read_baseline(Path(baseline), [])
    limits = budget_of(None if budget is None else Path(budget))
    report = gate.check(runs, kept, limits, today=date.today())
    if confirm is not None:
        again = partial(_captured, confirm, choice, of)
        report = confirming.confirm(report, kept, limits, again, date.today())
    return CheckResult(report)


def _captured(
    capture: Callable[[], Capture], choice: PeakChoice | None, of: str | None, count: int
) -> list[Run]:
    return runs_of([capture() for _ in range(count)], choice, of)


def runs_of(
    side: Capture | Sequence[Capture], choice: PeakChoice | None, of: str | None
) -> list[Run]:
    """The runs of one side; a profile that is open keeps its peaks."""
    every = [side] if isinstance(side, Profile | str | PathLike) else side
    return [_run(one, choice, of) for one in every]


def _run(one: Capture, choice: PeakChoice | None, of: str | None) -> Run:
    if isinstance(one, Profile):
        return run_of_address(one.analysis, of or one.of, one.title)
    return read_run(Path(one), choice, of)


def read_run(
    path: Path, choice: PeakChoice | None, of: str | None = None, progress: Progress = silent
) -> Run:
    """The run at `path`: a capture, an archive of its hosts' files, or a baseline.

    Times are those of the subject with the address `of`. A baseline keeps the peaks and the
    subject that it was saved with.
    """
    if _is_baseline(path):
        return baseline_from_json(path.read_bytes()).run
    analysis = analyse_files([path], choice=choice, progress=progress)
    return run_of_address(analysis, of, path.name)


def likeliest(path: Path) -> tuple[Path, float] | None:
    """The capture beside `path` that ran the same operations, and their share of the time, 0 to 1.

    The newest `MOST_BESIDE` files are read; `None` where none has `LEAST_SAME` in common with it.
    """
    mine = _op_shares(path)
    files = [
        one for one in path.absolute().parent.iterdir() if one.is_file() and one.name[0] != "."
    ]
    others = [one for one in files if not one.samefile(path)]
    others.sort(key=lambda one: one.stat().st_mtime, reverse=True)
    found = [(one, same_ratio(mine, _op_shares(one))) for one in others[:MOST_BESIDE]]
    best = max(found, key=lambda one: one[1], default=None)
    return best if best is not None and best[1] >= LEAST_SAME else None


def _op_shares(path: Path) -> dict[str, float]:
    """The time of each operation as a share; none for a file that is not a capture."""
    try:
        analysis = analyse_files([path])
    except RooflineError:
        return {}
    return op_shares(analysis, choose(analysis))


def _is_baseline(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(_BASELINE)) == _BASELINE
    except OSError:
        return False  # the reader of profiles says why it cannot be read


def budget_of(path: Path | None) -> Budget:
    """The budget in the file at `path`, else in `roofline.toml`, else the default limits."""
    path = path or (BUDGET_FILE if BUDGET_FILE.is_file() else None)
    if path is None:
        return DEFAULT
    try:
        return read_budget(path.read_bytes(), str(path))
    except OSError as error:
        raise _cannot_read(path, error) from error


def read_baseline(path: Path, files: Sequence[Path]) -> Baseline:
    """The baseline at `path`; where there is none, the remedy makes one of `files`."""
    try:
        return baseline_from_json(path.read_bytes())
    except FileNotFoundError as error:
        names = " ".join(str(file) for file in files) or "FILE"
        raise SettingsError(
            f"There is no baseline {path}.",
            remedy=f"Make one on the main branch: roofline baseline save {path} {names}",
        ) from error
    except OSError as error:
        raise _cannot_read(path, error) from error
    except CorruptProfileError as error:
        raise CorruptProfileError(f"{path}: {error.message}", remedy=error.remedy) from error


def _cannot_read(path: Path, error: OSError) -> RooflineError:
    reason = (error.strerror or str(error)).lower()
    return SettingsError(
        f"{path} cannot be read: {reason}.", remedy="Check the path and its permissions."
    )
