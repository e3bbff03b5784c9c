"""Reads exports of Nsight Systems into one profile.

An export has what a trace of PyTorch has, launches, operators and device work, so it becomes the
columns of such a trace; how work is attributed, added up and counted is the same for both.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from roofline.errors import IncompleteProfileError
from roofline.importers.nsight_systems.metrics import Sampled, busy_of_ops, read_samples
from roofline.importers.nsight_systems.ranges import add_ranges
from roofline.importers.nsight_systems.stats import (
    ALL_SUMS,
    WORK,
    ListedWork,
    StatsTable,
    tables_of,
)
from roofline.importers.nsight_systems.tables import (
    PEER_TO_PEER,
    Recording,
)
from roofline.importers.pytorch.gpu_work import gpu_work
from roofline.importers.pytorch.header import gpu, main_memory, whole
from roofline.importers.pytorch.notes import Findings
from roofline.importers.pytorch.profile import Parts, build_profile
from roofline.importers.pytorch.rows import FileWork, RowNumbers
from roofline.importers.pytorch.scan import Kind
from roofline.importers.pytorch.trace import Api, Trace
from roofline.importers.shared.databases import SIGNATURE, Database, joined
from roofline.importers.shared.events import place_of
from roofline.importers.shared.kernel_names import NAN, Collective, is_communication, kind_by_kernel
from roofline.importers.shared.launches import Launches, launch_tables, without_steps
from roofline.importers.source import Progress, SourceFile
from roofline.model.ceilings import Ceiling
from roofline.model.compute import ComputeUnit
from roofline.model.device import DeviceKind, ReportedDevice
from roofline.model.notes import counted, differences, noted, notes_beside
from roofline.model.op_columns import I64
from roofline.model.profile import Diagnostic, Host, Profile, Provenance
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
_NOTES = notes_beside(__file__)


def read(sources: Sequence[SourceFile], *, progress: Progress) -> Profile:
    """The profile in `sources`."""
    numbers, files, listed = RowNumbers(), list[_File](), list[StatsTable]()
    for k, source in enumerate(sorted(sources, key=lambda source: source.name)):
        progress("read", k / len(sources))
        if source.head.startswith(SIGNATURE):
            files.append(_read_file(Recording(source.name, Database(source).read), numbers))
        else:
            listed += tables_of(bytes(source.data), source.name)
    files += [
        _read_file(Recording(table.where, ListedWork(table).read), numbers)
        for table in listed
        if table.rank == WORK
    ]
    if not files:
        return _of_sums(listed)
    profile = _profile(files, numbers)
    return _of_tables(profile, "work-listed") if listed else profile


def _of_sums(tables: Sequence[StatsTable]) -> Profile:
    """The profile of sums: of kernels and copies apart, unless one table has both."""
    used = [table for table in tables if table.rank == ALL_SUMS] or tables
    ops, launches, _ = launch_tables(
        Launches.of([launch for table in used for launch in table.sums()])
    )
    names = dict.fromkeys(table.where for table in used)
    profile = without_steps(
        ops,
        int(launches.time_ps.sum(dtype=np.uint64)),
        Provenance.MEASURED,
        device=ReportedDevice(kind=DeviceKind.GPU, name="", core_count=len(names)),
        hosts=tuple(Host(file_name=name, hostname="", core_count=1) for name in names),
        launches=launches,
    )
    return _of_tables(profile, "work-summed")


def _of_tables(profile: Profile, code: str) -> Profile:
    """`profile` with what its tables lack; they do not hold the environment."""
    notes = (noted(_NOTES, code), *profile.diagnostics)
    return replace(profile, diagnostics=notes, limits=_LIMITS[:1])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _File:
    recording: Recording
    work: FileWork
    samples: Sampled | None


def _read_file(recording: Recording, numbers: RowNumbers) -> _File:
    if not len(recording.events):
        raise _without_work(recording)
    work = gpu_work(_trace(recording), numbers)
    samples = read_samples(recording, work.kernels) if work.kernels else None
    return _File(recording=recording, work=work, samples=samples)


def _without_work(recording: Recording) -> IncompleteProfileError:
    launches = int((recording.launches["api"] == Api.KERNEL).sum())
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
    trace = Trace(file_name=recording.file_name, names=recording.names.texts)
    trace.shapes = [tuple(row) for row in recording.shapes.tolist()]
    trace.header = {"deviceProperties": [row for row in recording.gpus if row]}
    keys = np.unique(events["key"][events["key"] >= 0])
    correlation = place_of(events["key"], keys).astype(np.int64) + 1
    ran = np.zeros(len(keys) + 1, np.int64)
    ran[correlation] = events["name"]
    order = np.argsort(events["start"], kind="stable")
    trace.work.extend(
        begin=events["start"][order],
        duration=(events["end"] - events["start"])[order],
        name=events["name"][order],
        correlation=correlation[order],
        external=np.zeros(len(events), np.int64),
        device=events["gpu"][order],
        kind=np.where(events["is_kernel"][order] == 1, Kind.KERNEL, Kind.MEMCPY),
        shape=events["shape"][order],
    )
    size = events["bytes"][order]
    trace.copied.extend(place=np.flatnonzero(size >= 0), bytes=size[size >= 0])
    launched = place_of(launches["key"], keys).astype(np.int64) + 1
    used = np.flatnonzero(launched)
    tids = (launches["globalTid"][used], recording.ranges["globalTid"])
    _, thread = np.unique(np.concatenate(tids), return_inverse=True)
    trace.launches.extend(
        begin=launches["start"][used],
        correlation=launched[used],
        thread=thread[: len(used)],
        api=launches["api"][used],
        kernel=np.full(len(used), -1),
    )
    trace.apis = {Api.GRAPH: "cudaGraphLaunch"}
    called = (launches["start"][used], thread[: len(used)], ran[launched[used]])
    add_ranges(trace, recording, thread[len(used) :], called)
    _add_messages(trace, size)
    return trace


def _add_messages(trace: Trace, size: I64) -> None:
    """Kernels of collectives, and copies from one GPU to another, move something over a link."""
    name, is_kernel = trace.work["name"], trace.work["kind"] == Kind.KERNEL
    talks = np.array([is_communication(text) for text in trace.names], np.bool_)
    for at in np.flatnonzero(talks[name] & is_kernel).tolist():
        trace.collectives[at] = Collective(kind_by_kernel(trace.names[name[at]]))
    peers = np.array([text.startswith(PEER_TO_PEER) for text in trace.names], np.bool_)
    for at in np.flatnonzero(peers[name] & ~is_kernel).tolist():
        trace.collectives[at] = Collective("send", float(size[at]) if size[at] >= 0 else NAN)


# ------------------------------------------------------------------------------------------ profile


def _profile(files: Sequence[_File], numbers: RowNumbers) -> Profile:
    count = sum(len(file.work.busy_ns) for file in files)
    device = replace(_reported(files[0].recording), core_count=count)
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
    op_of = np.split(kernels.op, np.cumsum(counts)[:-1])
    samples = zip((file.samples for file in files), op_of, strict=True)
    busy = busy_of_ops([*samples], ops.time_ps.astype(np.float64))
    level, dram_ps = main_memory(profile.device.name), busy.pop(Ceiling.DRAM, None)
    if dram_ps is not None:
        busy[Ceiling(level.value)] = dram_ps
    peak_gbs = profile.device.bandwidth_gbs.get(level, np.nan)
    moved = np.full(len(ops), np.nan) if dram_ps is None else dram_ps * peak_gbs / KILO
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


def _reported(recording: Recording) -> ReportedDevice:
    """The GPU as the file describes it: its memory's bandwidth, and its fp32 rate from its size."""
    rows = [row for row in recording.gpus if row]
    reported = gpu(rows, is_hip=False, count=len(recording.gpus))
    if not rows:
        return replace(reported, kind=DeviceKind.GPU)
    names = ("memoryBandwidth", "clockRate", "computeMajor", "computeMinor", "numSms")
    bandwidth, clock_hz, major, minor, processors = (whole(rows[0].get(key)) or 0 for key in names)
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
    busy_ps = max(profile.op_time_ps, 1)
    if profile.is_busy_sampled:
        yield _sampled(files, profile)
    graphs_ns = sum(file.recording.graph_time_ns for file in files)
    if graphs_ns:
        busy = _ms(busy_ps // PS_PER_NS)
        yield noted(_NOTES, "in-graphs", graphs=_ms(graphs_ns), busy=busy)
    events = joined([file.recording.events for file in files], ("start", "end", "is_launched"))
    lasted, alone = events["end"] - events["start"], events["is_launched"] == 0
    share = 100 * int(lasted[alone].sum()) / max(int(lasted.sum()), 1)
    if any(len(file.recording.launches) for file in files):
        yield from counted(
            _NOTES, {"without-launch": int(alone.sum())}, events=len(events), share=f"{share:.3g} %"
        )
    yield from counted(
        _NOTES,
        {
            "gpus-by-process": sum(
                len(file.recording.gpu_ids) < len(file.recording.gpus) for file in files
            )
        },
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


def _ms(time_ns: int) -> str:
    return f"{time_ns / NS_PER_MS:,.3g} ms"
