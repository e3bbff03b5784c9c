"""One run, as a comparison needs it: columns per operation, time per unit, peaks.

A `Run` is made from an analysis, and can be written down and read again: a baseline is such a
document, and a server keeps one beside each profile. Times are means over the cores.
"""

from collections import Counter
from collections.abc import Mapping, Sequence, Sized
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
import orjson

from roofline.analysis.roofline import Floats
from roofline.errors import CorruptProfileError

SCHEMA = 1
"""The number of this layout; a document of another number is not read."""

STEP, EXECUTION, CAPTURE = "step", "execution", "capture"
UNITS = (STEP, EXECUTION, CAPTURE)
HOST_WAIT = "host_wait"
"""The part of a wait that the host causes, where nearly all idle time is that."""
"""The units that a time can be per, the best one first."""

TEXTS = ("name", "category", "program", "path", "operands", "results", "source_file", "library")
_RESOURCES = ("work", "roof_us")
_SUBJECT_TEXTS = ("of", "kind", "label", "unit_word", "verdict", "ceiling", "not_found")
_SUBJECT_NUMBERS = (
    "floor_us",
    "roof_ratio",
    "known_ratio",
    "idle_ratio",
    "ratio",
    "host_wait_ratio",
)
_OP_NUMBERS = ("source_line", "flop", "bytes")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSubject:
    """What the times of a unit are of: the facts that every page says of this subject.

    Times are in us per unit and core; ratios as in `Subject` and `Verdict`, `None` unknown.
    `verdict` is its class, `ceiling` what binds ("" for none) and `ratio` the share of that
    ceiling; `is_counted` says that counters measured it. `not_found` is the address that was asked
    for and does not exist. `host_wait_ratio` is the share of the idle time that waits for the host;
    `None` in a run that was stored before it was.
    """

    of: str
    kind: str
    label: str
    unit_word: str
    time_us: float
    floor_us: float | None
    roof_ratio: float | None
    known_ratio: float | None
    idle_ratio: float | None
    verdict: str
    ceiling: str
    ratio: float | None
    is_counted: bool
    not_found: str = ""
    host_wait_ratio: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Replicates:
    """Times of all captures of one program in a unit, in us: of its operations (captures,
    operations), and of each part that is not work."""

    ops_us: Floats
    parts_us: Mapping[str, tuple[float, ...]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class UnitTimes:
    """Times of one unit (a step, an execution, the capture), per core, in us.

    `calls`, `time_us` and `needed_us` have an entry per operation; the last is what its time needs
    at its roof, NaN where that is not known. `parts` is the rest: `communication` (exposed
    collectives), `transfers` (exposed host copies, infeed and outfeed), `idle` (launch gaps, too;
    below zero where operations overlap) and `unknown` (time of events that no operation stands
    for). `total_us` is the sum of all. `samples_us` are the times of the single steps. `subject` is
    what they are of; `None` in a run that was stored before subjects were. `replicates` are all
    captures of the run's side, where there are several.
    """

    calls: Floats
    time_us: Floats
    needed_us: Floats
    parts: Mapping[str, float]
    total_us: float
    samples_us: tuple[float, ...] = ()
    subject: RunSubject | None = None
    replicates: Replicates | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Run:
    """One capture as columns; NaN is unknown.

    `flop` and `bytes` are per call. `work` is FLOPs or bytes per call by resource: a compute unit
    (`compute` where the profile does not say which) or a memory level. `roof_us` is the time that
    this work needs at the peak of its resource, NaN without a peak. `peaks` are the device's, in
    FLOP/us or bytes/us. `is_placed` marks operations whose bound is known. `facts` describe the
    capture to a reader, in the order in which they are shown. `fixed_link_ratio` is the part of the
    time of collectives that does not follow their bytes: the latency of their steps and the wait
    for the last rank, as far as they are known.
    """

    label: str
    texts: Mapping[str, tuple[str, ...]]
    source_line: Floats
    flop: Floats
    bytes: Floats
    work: Mapping[str, Floats]
    roof_us: Mapping[str, Floats]
    is_placed: Floats
    peaks: Mapping[str, float]
    main_memory: str
    units: Mapping[str, UnitTimes]
    provenance: tuple[str, str]
    facts: Mapping[str, str] = field(default_factory=dict)
    fixed_link_ratio: float = 0.0

    def __len__(self) -> int:
        return len(self.flop)

    @property
    def intensity(self) -> float | None:
        """FLOP per byte of the main memory, over the ops that have both."""
        calls = next(iter(self.units.values())).calls
        moved = self.work.get(self.main_memory, np.zeros(len(self))) * calls
        flop = self.flop * calls
        both = ~np.isnan(flop) & ~np.isnan(moved)
        whole = float(moved[both].sum())
        return float(flop[both].sum()) / whole if whole else None

    def text(self, column: str) -> tuple[str, ...]:
        """A column of texts."""
        return self.texts[column]

    def source(self, op: int) -> str:
        """`file:line` of the user's code that an operation comes from; empty where unknown."""
        line = int(self.source_line[op])
        file = self.texts["source_file"][op]
        return f"{file}:{line}" if file and line >= 0 else file


def with_replicates(run: Run, runs: Sequence[Run]) -> Run:
    """`run` with the times of all of `runs`, captures of its program and itself among them."""
    if len(runs) < 2:
        return run
    keys = [_keys(one) for one in runs]
    units = {}
    for unit, times in run.units.items():
        if not all(unit in one.units for one in runs):
            continue
        rows = zip(keys, (one.units[unit].time_us for one in runs), strict=True)
        by_key = [dict(zip(names, column.tolist(), strict=True)) for names, column in rows]
        parts = {
            name: tuple(one.units[unit].parts.get(name, 0.0) for one in runs)
            for name in times.parts
        }
        ops_us = np.array([[one.get(key, 0.0) for key in _keys(run)] for one in by_key])
        units[unit] = replace(times, replicates=Replicates(ops_us=ops_us, parts_us=parts))
    return replace(run, units={**run.units, **units})


def _keys(run: Run) -> list[tuple[str, str, str, int]]:
    """A name for each operation that captures of one program share."""
    seen: Counter[tuple[str, str, str]] = Counter()
    found = []
    for key in zip(run.text("program"), run.text("path"), run.text("name"), strict=True):
        found.append((*key, seen[key]))
        seen[key] += 1
    return found


def to_document(run: Run) -> dict[str, Any]:
    """`run` as JSON takes it; NaN becomes null."""
    return {
        "schema": SCHEMA,
        "label": run.label,
        "facts": dict(run.facts),
        "provenance": list(run.provenance),
        "main_memory": run.main_memory,
        "peaks": dict(run.peaks),
        "fixed_link_ratio": run.fixed_link_ratio,
        "texts": {name: _packed(column) for name, column in run.texts.items()},
        "numbers": {name: getattr(run, name) for name in (*_OP_NUMBERS, "is_placed")},
        **{name: dict(getattr(run, name)) for name in _RESOURCES},
        "units": {
            name: {
                "calls": times.calls,
                "time_us": times.time_us,
                "needed_us": times.needed_us,
                "parts": dict(times.parts),
                "total_us": times.total_us,
                "samples_us": list(times.samples_us),
                "subject": None if times.subject is None else asdict(times.subject),
                "replicates": _replicates_document(times.replicates),
            }
            for name, times in run.units.items()
        },
    }


def from_document(document: Any) -> Run:
    """The run that `to_document` wrote; `CorruptProfileError` for anything else."""
    try:
        if document["schema"] != SCHEMA:
            raise _unreadable(f"it has the layout {document['schema']}, and {SCHEMA} is read")
        run = _read(document)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise _unreadable("a part of it is missing or damaged") from error
    columns: list[Sized] = [*run.texts.values(), run.source_line, run.bytes, run.is_placed]
    columns += [*run.work.values(), *run.roof_us.values()]
    for times in run.units.values():
        columns += [times.calls, times.time_us, times.needed_us]
        columns += [] if times.replicates is None else [*times.replicates.ops_us]
    if run.work.keys() != run.roof_us.keys() or not run.units:
        raise _unreadable("a part of it is missing or damaged")
    if any(len(column) != len(run) for column in columns):
        raise _unreadable("its columns differ in length")
    return run


def run_to_json(run: Run) -> bytes:
    """The document of `run`, as UTF-8."""
    return orjson.dumps(_encodable(to_document(run)), option=orjson.OPT_SERIALIZE_NUMPY)


def run_from_json(content: bytes) -> Run:
    """The run in `content`; `CorruptProfileError` where there is none."""
    try:
        document = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise _unreadable("it is not JSON") from error
    return from_document(document)


def _read(document: Mapping[str, Any]) -> Run:
    numbers = {name: _floats(document["numbers"][name]) for name in (*_OP_NUMBERS, "is_placed")}
    none = _packed([""] * len(numbers["flop"]))  # a run of an earlier release has no `library`
    return Run(
        label=str(document["label"]),
        facts={str(name): str(value) for name, value in document["facts"].items()},
        provenance=(str(document["provenance"][0]), str(document["provenance"][1])),
        main_memory=str(document["main_memory"]),
        peaks={name: float(value) for name, value in document["peaks"].items()},
        fixed_link_ratio=float(document.get("fixed_link_ratio", 0.0)),
        texts={name: _unpacked(document["texts"].get(name, none)) for name in TEXTS},
        work=_columns(document["work"]),
        roof_us=_columns(document["roof_us"]),
        units={
            name: _times(document["units"][name]) for name in UNITS if name in document["units"]
        },
        **numbers,
    )


def _times(given: Mapping[str, Any]) -> UnitTimes:
    time_us = _floats(given["time_us"])
    needed = given.get("needed_us")  # a baseline of an earlier release has none
    return UnitTimes(
        calls=_floats(given["calls"]),
        time_us=time_us,
        needed_us=np.full(len(time_us), np.nan) if needed is None else _floats(needed),
        parts={name: float(value) for name, value in given["parts"].items()},
        total_us=float(given["total_us"]),
        samples_us=tuple(map(float, given["samples_us"])),
        subject=_subject(given.get("subject")),
        replicates=_replicates(given.get("replicates")),
    )


def _replicates_document(found: Replicates | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {"ops_us": found.ops_us, "parts_us": {k: list(v) for k, v in found.parts_us.items()}}


def _replicates(given: Mapping[str, Any] | None) -> Replicates | None:
    if given is None:
        return None
    parts = {str(name): tuple(map(float, times)) for name, times in given["parts_us"].items()}
    return Replicates(ops_us=np.array([_floats(one) for one in given["ops_us"]]), parts_us=parts)


def _subject(given: Mapping[str, Any] | None) -> RunSubject | None:
    """The facts of a subject; a run that was stored before there were any has none."""
    if given is None:
        return None
    facts: dict[str, Any] = {name: str(given[name]) for name in _SUBJECT_TEXTS}
    for name in _SUBJECT_NUMBERS:
        facts[name] = None if given.get(name) is None else float(given[name])
    return RunSubject(
        time_us=float(given["time_us"]), is_counted=bool(given["is_counted"]), **facts
    )


def _columns(given: Mapping[str, Any]) -> dict[str, Floats]:
    return {name: _floats(values) for name, values in given.items()}


def _floats(values: Sequence[float | None]) -> Floats:
    return np.array([np.nan if value is None else value for value in values], np.float64)


def _packed(column: Sequence[str]) -> dict[str, Any]:
    """Each text once, and which one each row has: files and categories repeat."""
    number: dict[str, int] = {}
    rows = [number.setdefault(text, len(number)) for text in column]
    return {"words": list(number), "rows": rows}


def _unpacked(given: Mapping[str, Any]) -> tuple[str, ...]:
    words = [str(word) for word in given["words"]]
    if any(row < 0 for row in given["rows"]):
        raise IndexError
    return tuple(words[row] for row in given["rows"])


def _encodable(value: Any) -> Any:
    """Names come from strangers: a lone surrogate, which UTF-8 cannot say, becomes `?`."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_encodable(key): _encodable(item) for key, item in value.items()}
    if isinstance(value, list):
        return (
            [_encodable(item) for item in value] if value and isinstance(value[0], str) else value
        )
    return value


def _unreadable(why: str) -> CorruptProfileError:
    return CorruptProfileError(
        f"This is not a run to compare with: {why}.",
        remedy="Write it again with `roofline baseline save`.",
    )
