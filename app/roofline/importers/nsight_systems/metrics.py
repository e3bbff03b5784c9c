"""Samples of GPU metrics as busy shares of units: of each kernel that ran while they were taken.

A sample describes the time until the next one of the same GPU. Ids of metrics differ by version, so
names are the definition; only those in per cent of a unit's greatest rate count.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
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
    samples: F64
    all_samples: int


def read_samples(recording: Recording, kernels: KernelRows) -> Sampled | None:
    """The samples of a recording; `None` where it has none of a known metric."""
    names, table = recording.metric_names, recording.metrics
    numbers = zip(names["typeId"].tolist(), names["metricId"].tolist(), strict=True)
    texts = dict(zip(numbers, names.texts["metricName"], strict=True))
    seen, samples = np.zeros((2, len(kernels.row)))
    busy: dict[int, F64] = {}
    total = 0
    for kind in sorted({kind for kind, _ in texts}):
        mine = np.flatnonzero(kernels.device == recording.gpu_ids.get(kind & 0xFF, -1))
        of_gpu = table["typeId"] == kind
        times = np.unique(table["timestamp"][of_gpu])
        known = [(one, rows) for one in texts if one[0] == kind and (rows := _rows_of(texts[one]))]
        if not known or not len(mine) or len(times) < 2:
            continue
        total += len(times)
        edges = np.append(times, times[-1] + int(np.median(np.diff(times))))
        spans = _Spans(edges, kernels.begin_ns[mine], kernels.time_ns[mine])
        seen[mine], samples[mine] = spans.over(np.ones(len(times))), spans.samples
        for (_, number), rows in known:
            picked = of_gpu & (table["metricId"] == number)
            share = np.zeros(len(times))
            at = np.searchsorted(times, table["timestamp"][picked])
            share[at] = np.clip(table["value"][picked] / 100, 0, 1)
            for row in rows:
                busy.setdefault(row, np.zeros(len(seen)))[mine] += spans.over(share)
    if not busy:
        return None
    of_ceiling: dict[Ceiling, F64] = {}
    for row, column in busy.items():
        before = of_ceiling.get(_ROWS[row][0], 0.0)
        of_ceiling[_ROWS[row][0]] = np.minimum(np.maximum(before, column), seen)
    return Sampled(busy_ns=of_ceiling, seen_ns=seen, samples=samples, all_samples=total)


def _rows_of(text: str | None) -> list[int]:
    return [k for k, (_, pattern) in enumerate(_ROWS) if pattern.match(text or "")]


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


def busy_of_ops(files: Sequence[tuple[Sampled | None, I64]], time_ps: F64) -> dict[Ceiling, F64]:
    """Busy time of each op in ps, NaN where too few samples were taken in it; of each file the
    samples, and the op of each kernel."""
    sampled = [(file, op) for file, op in files if file is not None]
    ceilings = {ceiling for file, _ in sampled for ceiling in file.busy_ns}

    def column(parts: Iterable[F64 | None]) -> F64:
        pairs = [
            (op, part) for (_, op), part in zip(sampled, parts, strict=True) if part is not None
        ]
        columns = [np.bincount(op, part, len(time_ps)) for op, part in pairs]
        return np.array(sum(columns, np.zeros(len(time_ps))))

    seen, taken = (
        column(getattr(file, of) for file, _ in sampled) for of in ("seen_ns", "samples")
    )
    total = sum(file.all_samples for file, _ in sampled)
    known = (taken >= _LEAST_SAMPLES) | ((taken > 0) & (taken >= _LEAST_SHARE * total))
    known &= seen > 0
    result: dict[Ceiling, F64] = {}
    for ceiling in (one for one in Ceiling if one in ceilings):
        busy = column(file.busy_ns.get(ceiling) for file, _ in sampled)
        result[ceiling] = np.where(known, busy / np.where(known, seen, 1) * time_ps, np.nan)
    return result
