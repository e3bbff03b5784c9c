"""When each device worked on the steps of a trace, and waited before; steps of a server.

A server of language models states its steps as annotations, from which their bytes and times come.

vLLM, SGLang and ATOM write `execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk55086sqsq32
sqsk55086)`: sums over the sequences of the step, for those in prefill ("context") and those in
decode ("generation"): their number, queries (sq), keys (sk: tokens in the cache with the new ones),
queries squared (sqsq) and queries times keys (sqsk). `execute_context_1(888)_generation_0(0)` has
queries alone. `step[EXTEND bs=1 toks=1025 c_sqsq=1050625 c_sqsk=1050625 c_sk=1025]` is SGLang's
form, where `step[DECODE bs=32]` is all that versions without sums write.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from roofline.importers.pytorch.inputs import known_sum
from roofline.importers.pytorch.signatures import Signature
from roofline.importers.pytorch.trace import Annotation, Step
from roofline.importers.shared.join_timelines import joined_timeline
from roofline.importers.shared.op_tables import OpRows
from roofline.importers.shared.stream_timeline import with_calls
from roofline.model.op_columns import F64, I32, I64, Bools, OpColumns, joined
from roofline.model.serving import ServingSteps
from roofline.model.timeline import Timeline
from roofline.model.units import PS_PER_NS


def traces_as_one(
    timelines: Sequence[Timeline], hosts: Sequence[str], op_of_row: I64, ops: OpColumns
) -> Timeline | None:
    """The timelines of all traces as one, with ops of the table in place of rows."""
    parts = [(timeline, host, op_of_row) for timeline, host in zip(timelines, hosts, strict=True)]
    result = joined_timeline(parts if len(parts) > 1 else [(part, "", op) for part, _, op in parts])
    return None if result is None else replace(result, work=with_calls(result.work, ops))


# Work that ran before a wait counts as before the step if it is no more than this share of it,
# and if the wait is at least that long.
_BEFORE, _LONG = 0.05, 0.1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StepWindows:
    """Per step, in ns on the device's clock.

    `span` is of the slowest device, `core` the sum of all; `busy` and `wait` are means.
    """

    begin: I64
    end: I64
    span: I64
    core: I64
    busy: I64
    wait: I64


def step_windows(
    begin: I64, end: I64, device: I64, step: I32, n_steps: int, n_devices: int
) -> StepWindows:
    """The windows of `n_steps` steps; `step` is that of each event, -1 none."""
    inside = np.flatnonzero(step >= 0)
    order = inside[np.lexsort((begin[inside], device[inside], step[inside]))]
    group = step[order].astype(np.int64) * n_devices + device[order]
    starts = np.searchsorted(group, np.arange(n_steps * n_devices), side="left").tolist()
    stops = np.searchsorted(group, np.arange(n_steps * n_devices), side="right").tolist()
    table = np.zeros((n_steps * n_devices, 4), np.int64)
    for k, (start, stop) in enumerate(zip(starts, stops, strict=True)):
        if stop > start:
            rows = order[start:stop]
            table[k] = _window(begin[rows], end[rows])
    by_step = table.reshape(n_steps, n_devices, 4)
    has = by_step[:, :, 1] > 0
    count = np.maximum(has.sum(axis=1), 1)
    first = np.where(has, by_step[:, :, 0], np.iinfo(np.int64).max).min(axis=1)
    last = by_step[:, :, 1].max(axis=1)
    first = np.minimum(first, last)
    span = np.where(has, by_step[:, :, 1] - by_step[:, :, 0], 0)
    return StepWindows(
        begin=first,
        end=last,
        span=span.max(axis=1),
        core=span.sum(axis=1),
        busy=by_step[:, :, 2].sum(axis=1) // count,
        wait=_waits(by_step, has).sum(axis=1) // count,
    )


def _window(begin: I64, end: I64) -> tuple[int, int, int, int]:
    """Begin and end of a step's work on one device, its busy time, and the wait inside before it.

    Events are in order of their begin.
    """
    reached = np.maximum.accumulate(end)
    gaps = np.maximum(begin[1:] - reached[:-1], 0)
    covered = np.cumsum(np.maximum(end - np.maximum(begin, np.r_[begin[0], reached[:-1]]), 0))
    busy = int(covered[-1])
    early = np.flatnonzero(covered[:-1] <= _BEFORE * busy)
    if len(early):
        at = int(early[np.argmax(gaps[early])])
        if gaps[at] >= _LONG * busy:
            return int(begin[at + 1]), int(reached[-1]), busy - int(covered[at]), int(gaps[at])
    return int(begin[0]), int(reached[-1]), busy, 0


def _waits(windows: I64, has: Bools) -> I64:
    """Idle time of each device before each step: from the step before, else what lies inside it."""
    waits = np.array(windows[:, :, 3])
    for device in range(windows.shape[1]):
        mine = np.flatnonzero(has[:, device])
        if len(mine) > 1:
            since = windows[mine[1:], device, 0] - windows[mine[:-1], device, 1]
            waits[mine[1:], device] = np.maximum(since, waits[mine[1:], device])
    return waits


_NUMBER = r"\d{1,18}"
_SUMS = rf"sq({_NUMBER})sk({_NUMBER})sqsq({_NUMBER})sqsk({_NUMBER})"
_DETAILED = re.compile(
    rf"execute_(?:{_NUMBER}_)?context_({_NUMBER})\({_SUMS}\)_generation_({_NUMBER})\({_SUMS}\)\Z"
)
_PLAIN = re.compile(
    rf"execute_(?:{_NUMBER}_)?context_({_NUMBER})\(({_NUMBER})(?:_{_NUMBER})*\)"
    rf"_generation_({_NUMBER})\(({_NUMBER})(?:_{_NUMBER})*\)\Z"
)
_STEP = re.compile(r"step\[([A-Z_]{1,40})((?: \w{1,20}=\d{1,18})*)\]\Z")
_PREFILL, _DECODE, _MIXED = ("EXTEND", "PREFILL", "SPLIT_PREFILL"), ("DECODE",), ("MIXED",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lengths:
    """Sums over the sequences of one phase of a step; `None` where the annotation lacks one.

    `queries` are new tokens, `keys` the tokens that these may see, the new ones included.
    """

    sequences: int | None = None
    queries: int | None = None
    keys: int | None = None
    queries_squared: int | None = None
    queries_by_keys: int | None = None

    @property
    def pairs(self) -> int | None:
        """Pairs of a query and a key that a causal mask keeps.

        The queries of a sequence are its last tokens: of n queries and m keys n (m - (n - 1) / 2).
        """
        if self.queries == 0:
            return 0
        if self.queries is None or self.queries_squared is None or self.queries_by_keys is None:
            return None
        return max(self.queries_by_keys - (self.queries_squared - self.queries) // 2, 0)

    def completed(self, other: "Lengths") -> "Lengths":
        """These sums, and those of `other` that are missing."""
        known = {
            name: getattr(other, name)
            for name in self.__dataclass_fields__
            if getattr(self, name) is None
        }
        return replace(self, **known)


NONE = Lengths(sequences=0, queries=0, keys=0, queries_squared=0, queries_by_keys=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingStep:
    """One step of a server, on the host's clock."""

    begin_ns: int
    end_ns: int
    prefill: Lengths
    decode: Lengths

    @property
    def phase(self) -> str:
        """ "prefill", "decode" or "mixed"."""
        if not self.prefill.sequences:
            return "decode"
        return "mixed" if self.decode.sequences else "prefill"

    @property
    def sequences(self) -> int | None:
        """Sequences of both phases."""
        return known_sum((self.prefill.sequences, self.decode.sequences))

    @property
    def tokens(self) -> int | None:
        """New tokens of all sequences."""
        return known_sum((self.prefill.queries, self.decode.queries))

    @property
    def context(self) -> int | None:
        """Tokens in the cache of all sequences, the new ones included."""
        return known_sum((self.prefill.keys, self.decode.keys))

    @property
    def pairs(self) -> int | None:
        """Pairs of a query and a key that a causal mask keeps."""
        return known_sum((self.prefill.pairs, self.decode.pairs))


def as_step(number: int, step: ServingStep) -> Step:
    """A server's step as a step of the program."""
    size = "" if step.sequences is None else f", {step.sequences:,}"
    return Step(
        number=number,
        begin_ns=step.begin_ns,
        end_ns=step.end_ns,
        label=f"{number} ({step.phase}{size})",
    )


def server_of(annotations: Iterable[str]) -> str:
    """The server that writes such annotations: "SGLang", "vLLM", or "" where none tells."""
    names = [name for name in annotations if _phases(name) is not None]
    if any(name.startswith("step[") for name in names):
        return "SGLang"
    return "vLLM" if names else ""


def serving_steps(annotations: Sequence[Annotation]) -> list[ServingStep]:
    """The steps in order of time. Of annotations inside each other the outer one is the step, and
    the inner one tells what it does not."""
    steps: list[ServingStep] = []
    for annotation in sorted(_read(annotations), key=lambda step: (step.begin_ns, -step.end_ns)):
        last = steps[-1] if steps else None
        if last is not None and annotation.end_ns <= last.end_ns:
            steps[-1] = replace(
                last,
                prefill=last.prefill.completed(annotation.prefill),
                decode=last.decode.completed(annotation.decode),
            )
        else:
            steps.append(annotation)
    return steps


def _read(annotations: Sequence[Annotation]) -> Iterator[ServingStep]:
    for annotation in annotations:
        phases = _phases(annotation.name)
        if phases is not None and any(phase.sequences for phase in phases):
            prefill, decode = phases
            yield ServingStep(
                begin_ns=annotation.begin_ns,
                end_ns=annotation.end_ns,
                prefill=prefill,
                decode=decode,
            )


def _phases(name: str) -> tuple[Lengths, Lengths] | None:
    """The sums of prefill and of decode, `None` if `name` is not that of a step."""
    if match := _DETAILED.match(name):
        numbers = [int(text) for text in match.groups()]
        return _detailed(numbers[:5]), _detailed(numbers[5:])
    if match := _PLAIN.match(name):
        sequences, queries, others, other_queries = (int(text) for text in match.groups())
        return _plain(sequences, queries), _plain(others, other_queries)
    if match := _STEP.match(name):
        values = dict(pair.split("=") for pair in match.group(2).split())
        return _of_step(match.group(1), {key: int(text) for key, text in values.items()})
    return None


def _detailed(numbers: Sequence[int]) -> Lengths:
    sequences, queries, keys, queries_squared, queries_by_keys = numbers
    return Lengths(
        sequences=sequences,
        queries=queries,
        keys=keys,
        queries_squared=queries_squared,
        queries_by_keys=queries_by_keys,
    )


def _plain(sequences: int, queries: int) -> Lengths:
    return Lengths(sequences=sequences, queries=queries) if sequences else NONE


def _of_step(mode: str, values: Mapping[str, int]) -> tuple[Lengths, Lengths] | None:
    batch = values.get("bs")
    if mode in _DECODE:
        # One new token per sequence: SGLang calls steps of several tokens by another name.
        return NONE, _sums("g", values, sequences=batch, queries=batch)
    if mode in _PREFILL:
        return _sums("c", values, sequences=batch, queries=values.get("toks")), NONE
    if mode in _MIXED:
        return _sums("c", values), _sums("g", values)
    return None


def _sums(
    phase: str,
    values: Mapping[str, int],
    *,
    sequences: int | None = None,
    queries: int | None = None,
) -> Lengths:
    return Lengths(
        sequences=values.get(phase, sequences),
        queries=values.get(f"{phase}_sq", queries),
        keys=values.get(f"{phase}_sk"),
        queries_squared=values.get(f"{phase}_sqsq"),
        queries_by_keys=values.get(f"{phase}_sqsk"),
    )


def step_at(times_ns: I64, steps: Sequence[Step | ServingStep]) -> I64:
    """Index of the step (in order, not overlapping) around each time; -1 where there is none."""
    if not steps:
        return np.full(len(times_ns), -1)
    begin = np.array([step.begin_ns for step in steps], np.int64)
    end = np.array([step.end_ns for step in steps], np.int64)
    at = np.searchsorted(begin, times_ns, side="right") - 1
    return np.where((at >= 0) & (times_ns <= end[np.maximum(at, 0)]), at, -1)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StepBytes:
    """Bytes per step by what they are; `least` and `most` are of the weights."""

    weight: F64
    least: F64
    most: F64
    cache: F64


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FileServing:
    """The steps of one file: as the server states them, when they ran, and what they moved."""

    steps: Sequence[ServingStep]
    windows: StepWindows
    moved: StepBytes


def step_bytes(signatures: Sequence[Signature], calls: I64, step: I32, n_steps: int) -> StepBytes:
    """Bytes of each of `n_steps` steps; `calls` are the signatures of calls, `step` theirs."""

    def summed(values: Sequence[int | None]) -> F64:
        total = np.zeros(n_steps)
        each = np.array([value or 0 for value in values], np.float64)
        inside = step >= 0
        np.add.at(total, step[inside], each[calls[inside]])
        return total

    touched = [signature.touched for signature in signatures]
    weight = [signature.weight_bytes for signature in signatures]
    of_least = [t.least * t.bytes_each if t else w for t, w in zip(touched, weight, strict=True)]
    of_most = [t.most * t.bytes_each if t else w for t, w in zip(touched, weight, strict=True)]
    return StepBytes(
        weight=summed(weight),
        least=summed(of_least),
        most=summed(of_most),
        cache=summed([signature.cache_bytes for signature in signatures]),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StepWork:
    """Work of ops within steps: `step` is the number of the step, `rows.label` the op."""

    step: I64
    op: I64
    rows: OpRows


def joined_serving(
    files: Sequence[FileServing], place: Mapping[int, int], work: Sequence[StepWork]
) -> ServingSteps | None:
    """The steps of all files; `place` is that of each step's number in the profile's steps.

    Bytes are added up; spans are those of the slowest file, other times are means.
    """
    if not files:
        return None
    count = len(place)
    first: dict[int, ServingStep] = {}
    times, seen = np.zeros((3, count)), np.zeros(count)
    moved = {field.name: np.zeros(count) for field in fields(StepBytes)}
    for file in files:
        at = np.array([place[number] for number in range(len(file.steps))], np.int64)
        for k, step in zip(at.tolist(), file.steps, strict=True):
            first.setdefault(k, step)
        seen[at] += 1
        times[0, at] = np.maximum(times[0, at], file.windows.span)
        times[1, at] += file.windows.busy
        times[2, at] += file.windows.wait
        for name, total in moved.items():
            total[at] += getattr(file.moved, name)
    steps = [first[k] for k in range(count)]
    rows = joined([part.rows.numbers() for part in work]) if work else OpColumns.zeros(0)
    return ServingSteps(
        phase=tuple(step.phase for step in steps),
        sequences=_column(step.sequences for step in steps),
        prefill_tokens=_column(step.prefill.queries for step in steps),
        decode_tokens=_column(step.decode.queries for step in steps),
        context_tokens=_column(step.context for step in steps),
        span_ps=times[0] * PS_PER_NS,
        busy_ps=times[1] / np.maximum(seen, 1) * PS_PER_NS,
        wait_ps=times[2] / np.maximum(seen, 1) * PS_PER_NS,
        weight_bytes=moved["weight"],
        weight_least=moved["least"],
        weight_most=moved["most"],
        cache_bytes=moved["cache"],
        work_step=np.concatenate([part.step for part in work] or [np.zeros(0, np.int64)]),
        work_op=np.concatenate([part.op for part in work] or [np.zeros(0, np.int64)]),
        work=rows,
    )


def _column(values: Iterable[int | None]) -> F64:
    return np.array([np.nan if value is None else value for value in values], np.float64)
