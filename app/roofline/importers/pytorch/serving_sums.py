"""Bytes and times of a server's steps, per file and over all files of a job."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from roofline.importers.pytorch.serving_steps import ServingStep
from roofline.importers.pytorch.signatures import Signature
from roofline.importers.pytorch.step_windows import StepWindows
from roofline.importers.shared.op_tables import OpRows
from roofline.model.beside_ops import ServingSteps
from roofline.model.op_columns import OpColumns, joined
from roofline.model.units import PS_PER_NS

I64 = NDArray[np.int64]
I32 = NDArray[np.int32]
F64 = NDArray[np.float64]


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

    touched = [one.touched for one in signatures]
    weight = [one.weight_bytes for one in signatures]
    of_least = [t.least * t.bytes_each if t else w for t, w in zip(touched, weight, strict=True)]
    of_most = [t.most * t.bytes_each if t else w for t, w in zip(touched, weight, strict=True)]
    return StepBytes(
        weight=summed(weight),
        least=summed(of_least),
        most=summed(of_most),
        cache=summed([one.cache_bytes for one in signatures]),
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
    moved = {one.name: np.zeros(count) for one in fields(StepBytes)}
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
    rows = joined([one.rows.numbers() for one in work]) if work else OpColumns.zeros(0)
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
        work_step=np.concatenate([one.step for one in work] or [np.zeros(0, np.int64)]),
        work_op=np.concatenate([one.op for one in work] or [np.zeros(0, np.int64)]),
        work=rows,
    )


def _column(values: Iterable[int | None]) -> F64:
    return np.array([np.nan if value is None else value for value in values], np.float64)
