"""Samples of GPU metrics as busy shares of units: of each kernel that ran while they were taken.

A sample describes the time until the next one of the same GPU. Ids of metrics differ by version, so
names are the definition; only those in per cent of a unit's greatest rate count.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from roofline.importers.nsight_systems.tables import Recording
from roofline.importers.pytorch.rows import KernelRows
from roofline.model.ceilings import Ceiling
from roofline.model.op_columns import F64, I64

# A sum of the metrics of one row; of several rows of a ceiling the largest counts.
_METRICS = (
    (Ceiling.ISSUE, r"SM Issue|SM Instructions"),
    (Ceiling.TENSOR, r"Tensor Active"),
    (Ceiling.DRAM, r"(?:DRAM|GPU Memory) (?:Read|Write) Bandwidth|VRAM Throughput"),
    (Ceiling.HOST, r"PCIe (?:RX Throughput|Read Bandwidth)"),
    (Ceiling.HOST, r"PCIe (?:TX Throughput|Write Bandwidth)"),
    (Ceiling.NVLINK, r"NVLink RX .*User Data"),
    (Ceiling.NVLINK, r"NVLink TX .*User Data"),
)
_ROWS = tuple((ceiling, re.compile(rf"(?:{names})\b.*%")) for ceiling, names in _METRICS)
_LEAST_SAMPLES, _LEAST_SHARE = 5, 0.02


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sampled:
    """Samples of one file's kernels: per kernel the time in ns in which each ceiling was busy, the
    part of its time with samples, and how many were taken in it; of `all_samples`."""

    busy_ns: Mapping[Ceiling, F64]
    seen_ns: F64
    samples: I64
    all_samples: int


def read_samples(recording: Recording, kernels: KernelRows) -> Sampled | None:
    """The samples of a recording; `None` where it has none of a known metric."""
    names, table = recording.metric_names, recording.metrics
    known = {
        (kind, number): rows
        for kind, number, text in zip(
            names["typeId"].tolist(), names["metricId"].tolist(), names.texts["metricName"],
            strict=True,
        )
        if (rows := _rows_of(text or ""))
    }  # fmt: skip
    kinds = {kind for kind, _ in known}
    if not known or not len(table):
        return None
    seen = np.zeros(len(kernels.row))
    samples = np.zeros(len(kernels.row), np.int64)
    busy: dict[int, F64] = {}
    total = 0
    for kind in sorted(kinds):
        gpu = recording.gpu_ids.get(kind & 0xFF)
        mine = np.flatnonzero(kernels.device == gpu) if gpu is not None else np.zeros(0, np.int64)
        of_gpu = table["typeId"] == kind
        times = np.unique(table["timestamp"][of_gpu])
        if not len(mine) or len(times) < 2:
            continue
        total += len(times)
        edges = np.append(times, times[-1] + int(np.median(np.diff(times))))
        spans = _Spans(edges, kernels.begin_ns[mine], kernels.time_ns[mine])
        seen[mine] = spans.over(np.ones(len(times)))
        samples[mine] = spans.samples
        for (of, number), rows in known.items():
            if of != kind:
                continue
            picked = of_gpu & (table["metricId"] == number)
            share = np.zeros(len(times))
            at = np.searchsorted(times, table["timestamp"][picked])
            share[at] = np.clip(table["value"][picked] / 100, 0, 1)
            for row in rows:
                column = busy.setdefault(row, np.zeros(len(kernels.row)))
                column[mine] += spans.over(share)
    return Sampled(
        busy_ns=_by_ceiling(busy, seen), seen_ns=seen, samples=samples, all_samples=total
    ) if busy else None  # fmt: skip


def _rows_of(text: str) -> list[int]:
    return [k for k, (_, pattern) in enumerate(_ROWS) if pattern.match(text)]


def _by_ceiling(rows: Mapping[int, F64], seen_ns: F64) -> dict[Ceiling, F64]:
    result: dict[Ceiling, F64] = {}
    for row, column in rows.items():
        ceiling = _ROWS[row][0]
        before = result.get(ceiling, np.zeros(len(column)))
        result[ceiling] = np.minimum(np.maximum(before, column), seen_ns)
    return result


class _Spans:
    """Spans of kernels on the edges of samples."""

    def __init__(self, edges: I64, begin: I64, lasted: I64) -> None:
        self._edges, self._begin, self._end = edges, begin, begin + lasted
        places = (np.searchsorted(edges[:-1], at) for at in (begin, self._end))
        first, last = places
        self.samples: I64 = last - first

    def over(self, share: F64) -> F64:
        """The integral of a share over each span, in ns."""
        whole = np.concatenate([[0.0], np.cumsum(share * np.diff(self._edges))])
        until = [np.interp(at, self._edges, whole) for at in (self._begin, self._end)]
        difference: F64 = until[1] - until[0]
        return difference


def busy_of_ops(
    files: Sequence[Sampled | None], counts: Sequence[int], op: I64, time_ps: F64, n_ops: int
) -> dict[Ceiling, F64]:
    """Busy time of each op in ps, NaN where too few samples were taken in it.

    `counts` are the kernels of each file, `op` the op of each kernel, one file after the other.
    """
    empty = [np.zeros(count) for count in counts]

    def column(of: Sequence[F64]) -> F64:
        return np.bincount(op, np.concatenate(of), minlength=n_ops).astype(np.float64)

    seen = column([e if f is None else f.seen_ns for f, e in zip(files, empty, strict=True)])
    taken = column(
        [
            e if f is None else f.samples.astype(np.float64)
            for f, e in zip(files, empty, strict=True)
        ]
    )
    total = sum(file.all_samples for file in files if file is not None)
    enough = (taken >= _LEAST_SAMPLES) | ((taken > 0) & (taken >= _LEAST_SHARE * total))
    ceilings = {ceiling for file in files if file is not None for ceiling in file.busy_ns}
    result: dict[Ceiling, F64] = {}
    for ceiling in (one for one in Ceiling if one in ceilings):
        columns: list[F64] = [
            none if file is None else file.busy_ns.get(ceiling, none)
            for file, none in zip(files, empty, strict=True)
        ]
        share = np.full(n_ops, np.nan)
        known = enough & (seen > 0)
        share[known] = column(columns)[known] / seen[known]
        result[ceiling] = share * time_ps
    return result
