"""Reads exports of Nsight Systems into one profile.

An export has what a trace of PyTorch has, launches, operators and device work, so it becomes the
columns of such a trace; how work is attributed, added up and counted is the same for both.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from roofline.errors import IncompleteProfileError
from roofline.importers.nsight_systems.metrics import Sampled, busy_of_ops, read_samples
from roofline.importers.nsight_systems.ranges import Ranges, read_ranges
from roofline.importers.nsight_systems.tables import (
    PEER_TO_PEER,
    Recording,
    launch_key,
    pids,
    read_recording,
)
from roofline.importers.pytorch.collectives import called_collective
from roofline.importers.pytorch.gpu_work import gpu_work
from roofline.importers.pytorch.header import gpu, main_memory
from roofline.importers.pytorch.notes import Findings
from roofline.importers.pytorch.profile import Parts, build_profile
from roofline.importers.pytorch.rows import FileWork, RowNumbers
from roofline.importers.pytorch.scan import Kind
from roofline.importers.pytorch.trace import Api, Trace, api_of
from roofline.importers.shared.kernel_names import Collective, is_communication, kind_by_kernel
from roofline.importers.shared.notes import Note, counted, differences, noted
from roofline.importers.source import Progress, SourceFile
from roofline.model.ceilings import Ceiling
from roofline.model.compute import ComputeUnit
from roofline.model.device import DeviceKind, ReportedDevice
from roofline.model.op_columns import I64
from roofline.model.profile import Diagnostic, Host, Profile, Severity
from roofline.model.units import GIGA, KILO, NS_PER_MS, PS_PER_NS

# fp32 lanes of one multiprocessor by compute capability; each does a multiply-add per cycle.
_LANES = {60: 64, 70: 64, 72: 64, 75: 64, 80: 64, 61: 128, 86: 128, 87: 128, 89: 128, 90: 128,
          100: 128, 103: 128, 120: 128}  # fmt: skip
_LIMITS = (
    "Nsight Systems records when work ran, not what it computed: FLOPs and bytes are known only of"
    " copies, and of operators whose shapes are in NVTX ranges.",
    "The file holds the environment of the program: Roofline does not read it, but share the file"
    " with care.",
)
_NOTES = {
    "sampled": Note(
        Severity.INFO,
        "Busy shares are means of {count:,} samples of GPU metrics, of operations in which at least"
        " 5 were taken, or 2 % of all; bytes of {memory} are its share × its peak. While these ran:"
        " {shares}. Other units were not sampled.",
        "L1, L2 and single pipes: `ncu --set full`.",
    ),
    "in-graphs": Note(
        Severity.WARNING,
        "{graphs} of {busy} ran inside CUDA graphs whose kernels the profiler did not record.",
        "Profile with `nsys profile --cuda-graph-trace=node`: it records them.",
    ),
    "without-launch": Note(
        Severity.INFO,
        "{count:,} of {events:,} kernels and copies ({share} of their time) have no launch in the"
        " file: they were queued before it began, so the ranges around them are unknown.",
    ),
    "gpus-by-process": Note(
        Severity.INFO,
        "The file has no table of its GPUs, as in containers: each device of each process counts"
        " as one GPU, and the part is unknown.",
        "Choose the part on the page, or with --device.",
    ),
    "profiler-warning": Note(Severity.WARNING, "Nsight Systems says: “{text}”"),
}


def read(sources: Sequence[SourceFile], *, progress: Progress) -> Profile:
    """The profile in `sources`."""
    numbers, files = RowNumbers(), []
    for k, source in enumerate(sorted(sources, key=lambda source: source.name)):
        progress("read", k / len(sources))
        files.append(_read_file(source, numbers))
    return _profile(files, numbers)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _File:
    recording: Recording
    work: FileWork
    unlaunched: int
    unlaunched_ns: int
    samples: Sampled | None


def _read_file(source: SourceFile, numbers: RowNumbers) -> _File:
    recording = read_recording(source)
    if not len(recording.events):
        raise _without_work(recording)
    trace = _trace(recording)
    events = recording.events
    work = gpu_work(trace, numbers)
    alone = ~np.isin(trace.work["correlation"], trace.launches["correlation"])
    return _File(
        recording=recording,
        work=work,
        samples=read_samples(recording, work.kernels) if work.kernels else None,
        unlaunched=int(alone.sum()),
        unlaunched_ns=int((events.end - events.begin)[alone].sum()),
    )


def _without_work(recording: Recording) -> IncompleteProfileError:
    launches = int((_apis(recording, recording.launches["nameId"]) == Api.KERNEL).sum())
    why = (
        f"The program launched {launches:,} kernels, but {recording.file_name} has none: the driver"
        " may be newer than Nsight Systems, or the system may not let it trace GPUs."
        if launches
        else f"{recording.file_name} has no kernels, copies or graphs of a GPU."
    )
    return IncompleteProfileError(
        why, remedy="Profile with `nsys profile --trace=cuda,nvtx -o report PROGRAM`."
    )


# -------------------------------------------------------------------------------------------- trace


def _trace(recording: Recording) -> Trace:
    """The recording as the columns of a trace."""
    events, launches = recording.events, recording.launches
    trace = Trace(file_name=recording.file_name, names=list(recording.names))
    trace.shapes = [tuple(row) for row in recording.shapes.tolist()]
    trace.header = {"deviceProperties": [_properties(row) for row in recording.gpus if row]}
    keys = np.unique(events.key)
    keys = keys[keys >= 0]
    order = np.argsort(events.begin, kind="stable")
    correlation = _ids(events.key, keys)
    trace.work.extend(
        begin=events.begin[order],
        duration=(events.end - events.begin)[order],
        name=events.name[order],
        correlation=correlation[order],
        external=np.zeros(len(events), np.int64),
        device=events.gpu[order],
        kind=np.where(events.is_kernel[order] == 1, Kind.KERNEL, Kind.MEMCPY),
        shape=events.shape[order],
    )
    sized = np.flatnonzero(events.size[order] >= 0)
    trace.copied.extend(place=sized, bytes=events.size[order][sized])
    threads = np.unique(np.concatenate([launches["globalTid"], recording.ranges["globalTid"]]))
    launched = _ids(launch_key(pids(launches["globalTid"]), launches["correlationId"]), keys)
    used = np.flatnonzero(launched > 0)
    thread = np.searchsorted(threads, launches["globalTid"][used])
    trace.launches.extend(
        begin=launches["start"][used],
        correlation=launched[used],
        thread=thread,
        api=_apis(recording, launches["nameId"][used]),
        kernel=np.full(len(used), -1),
    )
    trace.apis = {Api.GRAPH: "cudaGraphLaunch"}
    ran = np.zeros(len(keys) + 1, np.int64)
    ran[correlation] = events.name
    _add_ranges(
        trace,
        read_ranges(
            recording,
            np.searchsorted(threads, recording.ranges["globalTid"]),
            (launches["start"][used], thread, ran[launched[used]]),
        ),
    )
    _add_messages(trace)
    return trace


def _apis(recording: Recording, names: I64) -> I64:
    """What the calls of these names start, as `Api`."""
    distinct, place = np.unique(names, return_inverse=True)
    kinds = [api_of(recording.launch_names[number]) for number in distinct.tolist()]
    return np.array(kinds, np.int64)[place]


def _ids(keys: I64, known: I64) -> I64:
    """The place of each key among `known` ones, from 1; 0 for others."""
    place = np.searchsorted(known, keys)
    inside = place < len(known)
    same = inside & (known[np.where(inside, place, 0)] == keys) if len(known) else inside
    return np.where(same, place + 1, 0)


def _add_ranges(trace: Trace, ranges: Ranges) -> None:
    """All ranges as operators, and as the scopes around what begins later inside them."""
    trace.signatures = list(ranges.signatures)
    plain = np.flatnonzero(~ranges.is_call)
    spans = {"begin": ranges.begin, "duration": ranges.duration, "thread": ranges.thread}
    trace.operators.extend(
        **{name: column[plain] for name, column in spans.items()},
        signature=ranges.signature[plain],
        external=np.zeros(len(plain), np.int64),
        node=np.full(len(plain), -1),
    )
    first = len(trace.names)
    trace.names += [signature.operator for signature in ranges.signatures]
    trace.scopes.extend(
        begin=ranges.begin[plain] + 1,
        duration=np.maximum(ranges.duration[plain] - 1, 0),
        thread=ranges.thread[plain],
        name=first + ranges.signature[plain],
    )
    calls = np.flatnonzero(ranges.is_call)
    trace.calls = [
        called_collective(name.removeprefix("nccl:").removeprefix("nccl"), ())
        for name in ranges.called
    ]
    trace.called.extend(
        **{name: column[calls] for name, column in spans.items()}, moved=np.arange(len(calls))
    )
    trace.steps = list(ranges.steps)


def _add_messages(trace: Trace) -> None:
    """Kernels of collectives, and copies from one GPU to another, move something over a link."""
    name, sizes = trace.work["name"], dict(zip(*_sizes(trace), strict=True))
    is_kernel = trace.work["kind"] == Kind.KERNEL
    talks = np.array([is_communication(text) for text in trace.names], np.bool_)
    for at in np.flatnonzero(talks[name] & is_kernel).tolist():
        trace.collectives[at] = Collective(kind_by_kernel(trace.names[name[at]]))
    peers = np.array([text.startswith(PEER_TO_PEER) for text in trace.names], np.bool_)
    for at in np.flatnonzero(peers[name] & ~is_kernel).tolist():
        trace.collectives[at] = Collective("send", float(sizes.get(at, np.nan)))


def _sizes(trace: Trace) -> tuple[list[int], list[int]]:
    return trace.copied["place"].tolist(), trace.copied["bytes"].tolist()


# ------------------------------------------------------------------------------------------ profile


def _profile(files: Sequence[_File], numbers: RowNumbers) -> Profile:
    device = _device(files)
    hosts = [
        Host(
            file_name=file.recording.file_name,
            hostname="",
            core_count=len(file.work.busy_ns),
            device=_reported(file.recording),
        )
        for file in files
    ]
    starts = [file.work.begin_ns + (file.recording.captured_at_ns or 0) for file in files]
    known = [file.recording.captured_at_ns for file in files if file.recording.captured_at_ns]
    first = min(starts)
    profile = build_profile(
        Parts(
            device=device,
            hosts=tuple(hosts),
            work=[file.work for file in files],
            shift_ns=[(file.recording.captured_at_ns or 0) - first for file in files],
            numbers=numbers,
            captured_at_ns=min(known, default=None),
            environment={},
            findings=Findings(
                n_devices=device.core_count, kind=device.kind, is_named=bool(device.name)
            ),
        )
    )
    profile = _with_samples(profile, files)
    return replace(
        profile,
        diagnostics=tuple(_diagnostics(files, profile)),
        limits=_LIMITS,
        format_detail=files[0].recording.version,
        stated=tuple(one for file in files for one in file.recording.stated),
    )


def _with_samples(profile: Profile, files: Sequence[_File]) -> Profile:
    """The profile with busy shares, and with bytes of the main memory where nothing else has them:
    the share of its peak that was sampled."""
    ops, kernels = profile.ops, profile.kernels
    if kernels is None or not any(file.samples for file in files):
        return profile
    counts = [0 if file.work.kernels is None else len(file.work.kernels.row) for file in files]
    time_ps = ops.time_ps.astype(np.float64)
    samples = [file.samples for file in files]
    busy = busy_of_ops(samples, counts, kernels.op, time_ps, len(ops))
    level, dram_ps = main_memory(profile.device.name), busy.pop(Ceiling.DRAM, None)
    if dram_ps is not None:
        busy[Ceiling(level.value)] = dram_ps
    peak_gbs = profile.device.bandwidth_gbs.get(level)
    moved = (
        np.full(len(ops), np.nan) if dram_ps is None or not peak_gbs else dram_ps * peak_gbs / KILO
    )
    new = np.isfinite(moved) & ~ops.bytes_known
    filled = np.where(new, np.rint(np.nan_to_num(moved)).astype(np.uint64), ops.bytes_accessed)
    return replace(
        profile,
        is_busy_sampled=True,
        ops=replace(
            ops,
            busy_ps=busy,
            bytes_accessed=filled,
            traffic_bytes={level: np.where(new, filled, ops.traffic_bytes[level])},
            traffic_known=ops.traffic_known | new,
            bytes_known=ops.bytes_known | new,
            cost_known=ops.cost_known | new,
        ),
    )


def _device(files: Sequence[_File]) -> ReportedDevice:
    count = sum(len(file.work.busy_ns) for file in files)
    return replace(_reported(files[0].recording), core_count=count)


def _properties(row: Mapping[str, int | str]) -> dict[str, object]:
    """A row of the file's GPUs under the names of a trace's header."""
    return {
        "name": row.get("name", ""),
        "totalGlobalMem": row.get("totalMemory"),
        "computeMajor": row.get("computeMajor"),
        "computeMinor": row.get("computeMinor"),
        "numSms": row.get("smCount"),
    }


def _reported(recording: Recording) -> ReportedDevice:
    """The GPU as the file describes it: its memory's bandwidth, and its fp32 rate from its size."""
    rows = [row for row in recording.gpus if row]
    count = len(recording.gpus)
    reported = gpu([_properties(row) for row in rows], is_hip=False, count=count)
    if not rows:
        return replace(reported, kind=DeviceKind.GPU)
    bandwidth, clock_hz = _number(rows[0], "memoryBandwidth"), _number(rows[0], "clockRate")
    level = main_memory(reported.name)
    lanes = _LANES.get(_number(rows[0], "computeMajor") * 10 + _number(rows[0], "computeMinor"), 0)
    rate = _number(rows[0], "smCount") * lanes * 2 * clock_hz / GIGA
    return replace(
        reported,
        bandwidth_gbs={level: bandwidth / GIGA} if bandwidth > 0 else {},
        unit_gflops={ComputeUnit.VECTOR_FP32: rate} if rate > 0 else {},
        derivation={ComputeUnit.VECTOR_FP32.value: "multiprocessors × fp32 lanes × 2 × clock"}
        if rate > 0
        else {},
        traits=replace(
            reported.traits,
            clock_ghz=clock_hz / GIGA if clock_hz > 0 else None,
            memory_gbs=bandwidth / GIGA if bandwidth > 0 else None,
        ),
    )


def _number(row: Mapping[str, int | str], name: str) -> int:
    value = row.get(name)
    return value if isinstance(value, int) else 0


def _diagnostics(files: Sequence[_File], profile: Profile) -> Iterator[Diagnostic]:
    busy_ps = max(profile.op_time_ps, 1)
    if profile.is_busy_sampled:
        yield _sampled(files, profile)
    graphs_ns = sum(file.recording.graph_time_ns for file in files)
    if graphs_ns:
        busy = _ms(busy_ps // PS_PER_NS)
        yield noted(_NOTES, "in-graphs", graphs=_ms(graphs_ns), busy=busy)
    events_ns = sum(int(_lasted(file.recording).sum()) for file in files)
    yield from counted(
        _NOTES,
        {"without-launch": sum(file.unlaunched for file in files)},
        events=sum(len(file.recording.events) for file in files),
        share=_percent(sum(file.unlaunched_ns for file in files), max(events_ns, 1)),
    )
    yield from counted(
        _NOTES, {"gpus-by-process": sum(not file.recording.are_gpus_known for file in files)}
    )
    for file in files:
        yield from differences(file.recording.stated)
        for text in file.recording.warnings:
            yield noted(_NOTES, "profiler-warning", text=text)


def _sampled(files: Sequence[_File], profile: Profile) -> Diagnostic:
    """How busy the units were while the kernels with samples ran, the busiest first."""
    ops, means = profile.ops, {}
    for ceiling, busy_ps in ops.busy_ps.items():
        known = np.isfinite(busy_ps)
        means[ceiling.label] = float(busy_ps[known].sum()) / max(int(ops.time_ps[known].sum()), 1)
    ranked = sorted(means.items(), key=lambda item: -item[1])
    return noted(
        _NOTES,
        "sampled",
        sum(file.samples.all_samples for file in files if file.samples),
        memory=main_memory(profile.device.name).label,
        shares=", ".join(f"{name} {100 * share:.3g} %" for name, share in ranked),
    )


def _lasted(recording: Recording) -> I64:
    return recording.events.end - recording.events.begin


def _percent(part: float, whole: float) -> str:
    return f"{100 * part / whole:.3g} %"


def _ms(time_ns: int) -> str:
    return f"{time_ns / NS_PER_MS:,.3g} ms"
