"""Samples of GPU metrics as busy shares of units: of each kernel that ran while they were taken.

A sample describes the time until the next one of the same GPU. Ids of metrics differ by version, so
names are the definition; only those in per cent of a unit's greatest rate count.
"""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

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


class Sampled(NamedTuple):
    """Samples of one file's kernels: per kernel the time in ns in which each ceiling was busy, the
    part of its time with samples, and how many were taken in it; of `all_samples`."""

    busy_ns: Mapping[Ceiling, F64]
    seen_ns: F64
    samples: F64
    all_samples: int


def read_samples(recording: Recording, kernels: KernelRows) -> Sampled:
    """The samples of a recording, of known metrics."""
    names, table = recording.metric_names, recording.metrics
    numbers = zip(names["typeId"].tolist(), names["metricId"].tolist(), strict=True)
    meant = {
        one: [k for k, (_, pattern) in enumerate(_ROWS) if pattern.match(text or "")]
        for one, text in zip(numbers, names.texts["metricName"], strict=True)
    }
    seen, samples = np.zeros((2, len(kernels.row)))
    busy: dict[int, F64] = {}
    total = 0
    for kind in sorted({kind for kind, _ in meant}):
        mine = np.flatnonzero(kernels.device == recording.gpu_ids.get(kind & 0xFF, -1))
        of_gpu = table["typeId"] == kind
        times = np.unique(table["timestamp"][of_gpu])
        known = {one: rows for one, rows in meant.items() if one[0] == kind and rows}
        if not known or not len(mine) or len(times) < 2:
            continue
        total += len(times)
        edges = np.append(times, times[-1] + int(np.median(np.diff(times))))
        begin = kernels.begin_ns[mine]
        spans = (begin, begin + kernels.time_ns[mine])
        seen[mine] = _integral(np.ones(len(times)), edges, spans)
        samples[mine] = np.subtract(*(np.searchsorted(times, at) for at in spans[::-1]))
        for (_, number), rows in known.items():
            picked = of_gpu & (table["metricId"] == number)
            share = np.zeros(len(times))
            at = np.searchsorted(times, table["timestamp"][picked])
            share[at] = np.clip(table["value"][picked] / 100, 0, 1)
            for row in rows:
                busy.setdefault(row, np.zeros(len(seen)))[mine] += _integral(share, edges, spans)
    of_ceiling: dict[Ceiling, F64] = {}
    for row, column in busy.items():
        before = of_ceiling.get(_ROWS[row][0], 0.0)
        of_ceiling[_ROWS[row][0]] = np.minimum(np.maximum(before, column), seen)
    return Sampled(busy_ns=of_ceiling, seen_ns=seen, samples=samples, all_samples=total)


def _integral(share: F64, edges: I64, spans: tuple[I64, I64]) -> F64:
    """The integral over each span, in ns, of a share between edges."""
    whole = np.concatenate([[0.0], np.cumsum(share * np.diff(edges))])
    until = [np.interp(at, edges, whole) for at in spans]
    return np.asarray(until[1] - until[0])


def busy_of_ops(files: Sequence[Sampled], op: I64, time_ps: F64) -> dict[Ceiling, F64]:
    """Busy time of each op in ps, NaN where too few samples were taken in it; `op` is that of each
    kernel, file by file."""

    def total(columns: Sequence[F64]) -> F64:
        return np.asarray(np.bincount(op, np.concatenate(columns), len(time_ps)), np.float64)

    seen = total([file.seen_ns for file in files])
    taken = total([file.samples for file in files])
    enough = _LEAST_SHARE * sum(file.all_samples for file in files)
    known = ((taken >= _LEAST_SAMPLES) | ((taken > 0) & (taken >= enough))) & (seen > 0)
    result: dict[Ceiling, F64] = {}
    for ceiling in Ceiling:
        if any(ceiling in file.busy_ns for file in files):
            busy = total([file.busy_ns.get(ceiling, 0 * file.seen_ns) for file in files])
            result[ceiling] = np.where(known, busy / np.where(known, seen, 1) * time_ps, np.nan)
    return result
