"""Reads exports of Nsight Systems into one profile.

An export has what a trace of PyTorch has, launches, operators and device work, so it becomes the
columns of such a trace; how work is attributed, added up and counted is the same for both.

Samples of GPU metrics are busy shares of units, of each kernel that ran while they were taken. A
sample describes the time until the next one of the same GPU. Ids of metrics differ by version, so
names are the definition; only those in per cent of a unit's greatest rate count.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from roofline.errors import IncompleteProfileError
from roofline.importers.nsight_systems import tables
from roofline.importers.nsight_systems.ranges import add_ranges
from roofline.importers.nsight_systems.tables import PEER_TO_PEER, Recording
from roofline.importers.pytorch.gpu_work import gpu_work
from roofline.importers.pytorch.header import gpu, main_memory, whole
from roofline.importers.pytorch.notes import Findings
from roofline.importers.pytorch.profile import Parts, build_profile
from roofline.importers.pytorch.rows import FileWork, KernelRows, RowNumbers
from roofline.importers.pytorch.scan import Kind
from roofline.importers.pytorch.trace import Api, Trace
from roofline.importers.shared.databases import SIGNATURE, Database, joined
from roofline.importers.shared.events import place_of
from roofline.importers.shared.kernel_names import NAN, Collective, is_communication, kind_by_kernel
from roofline.importers.shared.listed_tables import ListedTable, profile_of_sums, tables_of
from roofline.importers.shared.nesting import busy_times
from roofline.importers.source import Progress, SourceFile
from roofline.model.ceilings import Ceiling
from roofline.model.compute import ComputeUnit
from roofline.model.device import ReportedDevice
from roofline.model.notes import counted, differences, noted, notes_beside
from roofline.model.op_columns import F64, I64
from roofline.model.profile import Diagnostic, Host, Profile, distinct
from roofline.model.units import GIGA, KILO, NS_PER_MS, PS_PER_NS

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
_WORTH_A_NOTE = 0.01  # of the time of a capture


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
        edges = np.append(times, min(int(times[-1]) + int(np.median(np.diff(times))), 2**63 - 1))
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


# fp32 lanes of one multiprocessor by compute capability; each does a multiply-add per cycle.
_LANES = {60: 64, 70: 64, 72: 64, 75: 64, 80: 64, 61: 128, 86: 128, 87: 128, 89: 128, 90: 128,
          100: 128, 103: 128, 120: 128}  # fmt: skip
_LIMITS = (
    "Nsight Systems records when work ran, not what it computed: FLOPs and bytes are known only of"
    " copies, and of operators whose shapes are in NVTX ranges.",
    "The file holds the environment of the program: Roofline does not read it, but share the file"
    " with care.",
)
_LIST_ALL = (
    "List all work with `nsys stats -r cuda_gpu_trace --format csv report.nsys-rep`, or export the"
    " report: `nsys export --type sqlite -o report.sqlite report.nsys-rep`."
)
_NOTES = notes_beside(__file__)
_File = tuple[Recording, FileWork, Sampled]


def read(sources: Sequence[SourceFile], *, progress: Progress) -> Profile:
    """The profile in `sources`."""
    numbers, files, listed = RowNumbers(), list[_File](), list[ListedTable]()
    for k, source in enumerate(sorted(sources, key=lambda source: source.name)):
        progress("read", k / len(sources))
        if source.head.startswith(SIGNATURE):
            files.append(_read_file(Recording(source.name, Database(source)), numbers))
        else:
            listed += tables_of(bytes(source.data), source.name, tables.TOLD_BY)
    lists = [table for table in listed if table.rank == tables.WORK]
    exports = [Recording(table.where, tables.as_export(table)) for table in lists]
    files += [_read_file(one, numbers) for one in exports]
    if not files:  # sums of kernels and of copies, unless one table has both
        timed = [table for table in listed if table.rank < tables.SIZES]
        sums = [table for table in timed if table.rank == tables.ALL_SUMS] or timed
        sizes = [table for table in listed if table.rank >= tables.SIZES]
        profile = profile_of_sums(sums, tables.launch_of, _LIST_ALL, sizes=sizes)
        return replace(profile, limits=_LIMITS[:1])
    profile = _profile(files, numbers)
    if not lists:
        return profile
    notes = (noted(_NOTES, "work-listed"), *profile.diagnostics)
    return replace(profile, diagnostics=notes, limits=_LIMITS[:1])  # no environment in a table


def _read_file(recording: Recording, numbers: RowNumbers) -> _File:
    if not len(recording.events):
        raise _without_work(recording)
    work = gpu_work(_trace(recording), numbers)
    assert work.kernels is not None
    return recording, work, read_samples(recording, work.kernels)


def _without_work(recording: Recording) -> IncompleteProfileError:
    launches = int((recording.launches["api"] == Api.KERNEL).sum())
    why = f"{recording.file_name} has no kernels, copies or graphs of a GPU."
    if launches:
        why = (
            f"The program launched {launches:,} kernels, but {recording.file_name} has none: the"
            " driver may be newer than Nsight Systems, or the system may not let it trace GPUs."
        )
    remedy = "Profile with `nsys profile --trace=cuda,nvtx -o report PROGRAM`."
    return IncompleteProfileError(why, remedy=remedy)


def _trace(recording: Recording) -> Trace:
    """The recording as the columns of a trace."""
    launches, order = recording.launches, np.argsort(recording.events["start"], kind="stable")
    names = ("start", "end", "key", "name", "gpu", "is_kernel", "shape", "bytes")
    events = {name: recording.events[name][order] for name in names}
    trace = Trace(file_name=recording.file_name, names=recording.names.texts)
    trace.shapes = [tuple(row) for row in recording.shapes.tolist()]
    trace.header = {"deviceProperties": [row for row in recording.gpus if row]}
    keys, place = distinct(np.append(-1, events["key"]))
    correlation = place[1:]  # 0 for none
    ran = np.zeros(len(keys), np.int64)
    ran[correlation] = events["name"]
    trace.work.extend(
        begin=events["start"], duration=events["end"] - events["start"], name=events["name"],
        correlation=correlation, external=np.zeros(len(order), np.int64), device=events["gpu"],
        kind=np.where(events["is_kernel"] == 1, Kind.KERNEL, Kind.MEMCPY), shape=events["shape"],
    )  # fmt: skip
    size = events["bytes"]
    trace.copied.extend(place=np.flatnonzero(size >= 0), bytes=size[size >= 0])
    launched = np.maximum(place_of(launches["key"], keys), 0).astype(np.int64)
    used = np.flatnonzero(launched)
    tids = (launches["globalTid"][used], recording.ranges["globalTid"])
    _, thread = np.unique(np.concatenate(tids), return_inverse=True)
    trace.launches.extend(
        begin=launches["start"][used], correlation=launched[used], thread=thread[: len(used)],
        api=launches["api"][used], kernel=np.full(len(used), -1),
    )  # fmt: skip
    trace.apis = {Api.GRAPH: "cudaGraphLaunch"}
    trace.collectives = dict(_messages(trace, size))
    add_ranges(trace, recording, thread[len(used) :], ran[launched[used]])
    return trace


def _messages(trace: Trace, size: I64) -> Iterator[tuple[int, Collective]]:
    """Kernels of collectives, and copies from one GPU to another, move something over a link."""
    is_kernel, names = trace.work["kind"] == Kind.KERNEL, trace.names
    talks = np.array([is_communication(text) for text in names], np.bool_)[trace.work["name"]]
    peers = np.array([text.startswith(PEER_TO_PEER) for text in names], np.bool_)
    for at in np.flatnonzero(talks & is_kernel).tolist():
        yield at, Collective(kind_by_kernel(names[trace.work["name"][at]]))
    for at in np.flatnonzero(peers[trace.work["name"]] & ~is_kernel).tolist():
        yield at, Collective("send", float(size[at]) if size[at] >= 0 else NAN)


def _profile(files: Sequence[_File], numbers: RowNumbers) -> Profile:
    counts = [len(work.busy_ns) for _, work, _ in files]
    device = replace(_reported(files[0][0]), core_count=sum(counts))
    hosts = [
        Host(file_name=one.file_name, hostname="", core_count=count, device=_reported(one))
        for (one, *_), count in zip(files, counts, strict=True)
    ]
    captured = [one.captured_at_ns or 0 for one, *_ in files]
    first = min(work.begin_ns + at for (_, work, _), at in zip(files, captured, strict=True))
    profile = build_profile(
        Parts(
            device=device,
            hosts=tuple(hosts),
            work=[work for _, work, _ in files],
            shift_ns=[at - first for at in captured],
            numbers=numbers,
            captured_at_ns=min(filter(None, captured), default=None),
            environment={},
            findings=Findings(kind=device.kind, is_named=bool(device.name)),
        )
    )
    profile = _with_samples(profile, files)
    return replace(
        profile,
        diagnostics=tuple(_diagnostics(files, profile)),
        limits=_LIMITS,
        format_detail=files[0][0].version,
        stated=tuple(one for recording, *_ in files for one in recording.stated),
    )


def _with_samples(profile: Profile, files: Sequence[_File]) -> Profile:
    """The profile with busy shares, and with bytes of the main memory where nothing else has them:
    the share of its peak that was sampled."""
    ops, kernels = profile.ops, profile.kernels
    samples = [samples for *_, samples in files]
    if kernels is None or not any(one.all_samples for one in samples):
        return profile
    busy = busy_of_ops(samples, kernels.op, ops.time_ps.astype(np.float64))
    level, dram_ps = main_memory(profile.device.name), busy.pop(Ceiling.DRAM, None)
    if dram_ps is not None:
        busy[Ceiling(level.value)] = dram_ps
    peak_gbs = profile.device.bandwidth_gbs.get(level, np.nan)
    moved = np.full(len(ops), np.nan) if dram_ps is None else dram_ps * peak_gbs / KILO
    new = np.isfinite(moved) & ~ops.bytes_known
    filled = np.where(new, np.rint(np.nan_to_num(moved)).astype(np.uint64), ops.bytes_accessed)
    known = ("traffic_known", "bytes_known", "cost_known")
    ops = replace(
        ops,
        busy_ps=busy,
        bytes_accessed=filled,
        traffic_bytes={level: np.where(new, filled, ops.traffic_bytes[level])},
        **{name: getattr(ops, name) | new for name in known},
    )
    return replace(profile, is_busy_sampled=True, ops=ops)


def _reported(recording: Recording) -> ReportedDevice:
    """The GPU as the file describes it: its memory's bandwidth, and its fp32 rate from its size."""
    rows = [row for row in recording.gpus if row]
    is_one_kind = len({row.get("name") for row in rows}) == 1
    first = rows[0] if is_one_kind else {}
    reported = gpu(rows, is_hip=False, count=len(recording.gpus))
    names = ("memoryBandwidth", "clockRate", "computeMajor", "computeMinor", "numSms")
    bandwidth, clock_hz, major, minor, processors = (whole(first.get(key)) or 0 for key in names)
    rate = processors * _LANES.get(major * 10 + minor, 0) * 2 * clock_hz / GIGA
    derived = {ComputeUnit.VECTOR_FP32.value: "multiprocessors × fp32 lanes × 2 × clock"}
    return replace(
        reported,
        bandwidth_gbs={main_memory(reported.name): bandwidth / GIGA} if bandwidth else {},
        unit_gflops={ComputeUnit.VECTOR_FP32: rate} if rate else {},
        derivation=derived if rate else {},
        traits=replace(
            reported.traits,
            clock_ghz=clock_hz / GIGA if clock_hz else None,
            memory_gbs=bandwidth / GIGA if bandwidth else None,
        ),
    )


def _diagnostics(files: Sequence[_File], profile: Profile) -> Iterator[Diagnostic]:
    if profile.is_busy_sampled:
        yield _sampled(files, profile)
    recordings = [recording for recording, *_ in files]
    graphs_ns = sum(one.graph_time_ns for one in recordings)
    events = joined([one.events for one in recordings], ("start", "end", "is_launched"))
    lasted, alone = events["end"] - events["start"], events["is_launched"] == 0
    counts = {
        "in-graphs": int(graphs_ns > 0),
        "without-launch": any(len(one.launches) for one in recordings) * int(alone.sum()),
        "gpus-by-process": sum(len(one.gpu_ids) < len(one.gpus) for one in recordings),
    }
    yield from counted(
        _NOTES,
        counts,
        graphs=_ms(graphs_ns),
        busy=_ms(max(profile.op_time_ps, 1) // PS_PER_NS),
        events=len(events),
        share=f"{100 * int(lasted[alone].sum()) / max(int(lasted.sum()), 1):.3g} %",
    )
    for one in recordings:
        spent_ns, span_ns = _overhead(one)
        if spent_ns > _WORTH_A_NOTE * span_ns:
            yield noted(_NOTES, "overhead", spent=_ms(spent_ns), span=_ms(span_ns))
        yield from differences(one.stated)
        for text in one.warnings:
            yield noted(_NOTES, "profiler-warning", text=text)


def _overhead(recording: Recording) -> tuple[int, int]:
    """How long the profiler itself worked while the GPUs had work, and how long they had, in ns."""
    first, last = int(recording.events["start"].min()), int(recording.events["end"].max())
    begin, end = (np.clip(recording.overhead[of], first, last) for of in ("start", "end"))
    spent = busy_times(np.zeros(len(begin), np.int64), begin, np.maximum(end - begin, 0), 1)
    return int(spent[0]), last - first


def _sampled(files: Sequence[_File], profile: Profile) -> Diagnostic:
    """How busy the units were while the kernels with samples ran, the busiest first."""
    means = {}
    for ceiling, busy_ps in profile.ops.busy_ps.items():
        known = np.isfinite(busy_ps)
        of_ps = max(int(profile.ops.time_ps[known].sum()), 1)
        means[ceiling.label] = 100 * float(busy_ps[known].sum()) / of_ps
    ranked = sorted(means.items(), key=lambda item: -item[1])
    shares = ", ".join(f"{name} {share:.3g} %" for name, share in ranked)
    memory = main_memory(profile.device.name).label
    count = sum(samples.all_samples for *_, samples in files)
    return noted(_NOTES, "sampled", count, memory=memory, shares=shares)


def _ms(time_ns: int) -> str:
    return f"{time_ns / NS_PER_MS:,.3g} ms"
