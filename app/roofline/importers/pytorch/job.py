"""All processes of one job: each file's work, on the GPUs if any file has GPU work."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from roofline.importers.pytorch.captures import (
    CapturedGraph,
    captured_graphs,
    has_capture,
    replays_graphs,
)
from roofline.importers.pytorch.cpu_work import accelerator_behind, cpu_work, listed_device
from roofline.importers.pytorch.events import read_trace
from roofline.importers.pytorch.gpu_work import gpu_work
from roofline.importers.pytorch.header import (
    cpu,
    device_properties,
    gpu,
    host_of,
    hostname,
    rank,
    read_environment,
    whole,
)
from roofline.importers.pytorch.lengths import Assumed, apply_lengths, read_caches
from roofline.importers.pytorch.notes import Findings
from roofline.importers.pytorch.profile import Parts, build_profile
from roofline.importers.pytorch.replays import Alignment, explain_replays, has_replays, summed
from roofline.importers.pytorch.rows import FileWork, RowNumbers
from roofline.importers.pytorch.serving import ServingStep, server_of, serving_steps
from roofline.importers.pytorch.trace import Columns, Trace
from roofline.importers.source import Progress, SourceFile
from roofline.model.device import ReportedDevice
from roofline.model.environment import merged
from roofline.model.op_columns import Bools
from roofline.model.profile import Host, Profile
from roofline.model.units import NS_PER_S

# No capture lasts longer: events farther apart are damage. In ns.
_LONGEST_NS = 30 * 86_400 * NS_PER_S
_EPOCH_NS = 10**18  # times above are since 1970 (2001 and later), below since some start
_VECTOR_FLOP = {
    f"smsp__sass_thread_inst_executed_op_{op}_pred_on.sum": 2 if op.endswith("fma") else 1
    for op in ("dadd", "dmul", "dfma", "fadd", "fmul", "ffma", "hadd", "hmul", "hfma")
}


def read_job(sources: Sequence[SourceFile], progress: Progress) -> Profile:
    """The profile of all `sources`. The order of the files does not matter."""
    ordered = _captures_first(sources)
    job = _Job(pairs=not all(records for _, records in ordered))
    for k, (source, records) in enumerate(ordered):

        def report(fraction: float, done: int = k) -> None:
            progress("read", (done + fraction) / len(sources))

        job.add(_within_one_capture(read_trace(source, report, has_capture=records)))
    return job.profile()


def _captures_first(sources: Sequence[SourceFile]) -> list[tuple[SourceFile, bool]]:
    """By name, and which record graphs: these come before those that replay them, as in time."""
    ordered = sorted(sources, key=lambda source: source.name)
    if len(ordered) == 1:
        return [(ordered[0], False)]
    result = [(source, has_capture(source.data)) for source in ordered]
    return sorted(result, key=lambda pair: not pair[1])


@dataclass(frozen=True, slots=True)
class _Recorded:
    """A graph, the process that recorded it, and whether its file replays graphs, too."""

    rank: int | None
    rehearses: bool
    graph: CapturedGraph


class _Job:
    """Work of the files so far. A file of a process without GPU work counts only if all are so.

    `pairs` is true where some files record graphs and others do not: a file that records and
    replays may then be the capture of another's replays, and waits for these.
    """

    def __init__(self, *, pairs: bool) -> None:
        self._pairs = pairs
        self._gpu, self._cpu = _Side(), _Side()
        self._cut = self._damaged = self._ranges = self._counter_flop = 0
        self._others: Counter[str] = Counter()
        self._accelerator = self._unused = ""
        self._captures: list[Trace] = []
        self._recorded: list[_Recorded] = []
        self._replays: list[tuple[int | None, Alignment]] = []
        self._annotations: set[str] = set()
        self._assumed = Assumed()

    def add(self, trace: Trace) -> None:
        """Add one file; nothing of the trace itself is kept but of one that records graphs."""
        read_caches(trace.signatures)
        rehearses, number = replays_graphs(trace), rank(trace.header)
        graphs = [] if rehearses and not self._pairs else captured_graphs(trace)
        if graphs:
            self._captures.append(trace)
            self._recorded += [_Recorded(number, rehearses, graph) for graph in graphs]
        else:
            self._add(trace)

    def _add(self, trace: Trace) -> None:
        self._cut += trace.is_cut
        self._damaged += trace.n_damaged
        self._others.update(trace.other_categories)
        self._ranges += len(trace.counters)
        self._counter_flop += sum(map(_vector_flop, trace.counters))
        for annotations in (trace.annotations, trace.device_annotations):
            self._annotations.update(annotation.name for annotation in annotations)
        if len(trace.work):
            # Without the host, work is in a step by the time when the device ran it.
            annotations = trace.annotations if len(trace.launches) else trace.device_annotations
            steps = serving_steps(annotations)
            self._explain(trace, steps)
            self._assumed.add(trace)
            self._gpu.add(trace, gpu_work(trace, self._gpu.numbers, steps))
        else:
            self._accelerator = self._accelerator or accelerator_behind(trace)
            self._unused = self._unused or listed_device(trace)
            counts = len(trace.operators) and not self._gpu.work
            self._cpu.add(trace, cpu_work(trace, self._cpu.numbers) if counts else None)

    def _explain(self, trace: Trace, steps: Sequence[ServingStep]) -> None:
        """Give the kernels of replays the operators of their graphs, and attention its lengths."""
        if has_replays(trace):
            alignment = explain_replays(trace, self._graphs_for(trace), steps)
            self._replays.append((rank(trace.header), alignment))
        apply_lengths(trace, steps)

    def _graphs_for(self, trace: Trace) -> list[CapturedGraph]:
        """The graphs that `trace` may replay: its own, and those of its rank, else of any."""
        number, own = rank(trace.header), captured_graphs(trace)
        others = [recorded for recorded in self._recorded if not (own and recorded.rehearses)]
        same = [other.graph for other in others if _is_same(other.rank, number)]
        return own + (same or [other.graph for other in others])

    def _settle_captures(self) -> None:
        """Files that record graphs tell of others' kernels; alone they are traces like others."""
        replays = list(self._replays)
        for trace in self._captures:
            if self._is_explained_by(trace, replays):
                self._gpu.add(trace, None)
            else:
                self._add(trace)

    def _is_explained_by(
        self, trace: Trace, replays: Sequence[tuple[int | None, Alignment]]
    ) -> bool:
        """True if the graphs of `trace` ran in another file, as `replays`: its work counts there.

        What a capture replays itself is a rehearsal. One that replays nothing ran nothing at all.
        """
        if not replays_graphs(trace):
            return bool(replays)
        used = [
            of
            for of, alignment in replays
            if any(name == trace.file_name for name, _ in alignment.used)
        ]
        return any(_is_same(of, rank(trace.header)) for of in used)

    def profile(self) -> Profile:
        """The profile of the GPUs, else of the CPUs."""
        self._settle_captures()
        side = self._gpu if self._gpu.work else self._cpu
        device = self._device(side)
        if self._accelerator:
            self._cpu.numbers.forget_costs()
        return build_profile(
            Parts(
                device=device,
                hosts=tuple(side.hosts),
                work=side.work,
                shift_ns=side.shifts(),
                numbers=side.numbers,
                captured_at_ns=side.captured_at_ns(),
                environment=merged(read_environment(header) for header in side.headers),
                findings=Findings(
                    n_devices=device.core_count,
                    kind=device.kind,
                    n_operators=side.n_operators,
                    n_cut=self._cut,
                    n_damaged=self._damaged,
                    n_counter_ranges=self._ranges,
                    counter_flop=self._counter_flop,
                    n_merged=len(side.numbers.merged),
                    idle_files=len(self._cpu.hosts) if side is self._gpu else 0,
                    is_named=bool(device.name),
                    accelerator="" if side is self._gpu else self._accelerator,
                    unused=self._unused,
                    replays=summed([alignment for _, alignment in self._replays]),
                    server=server_of(self._annotations),
                    assumed=self._assumed,
                    other_categories=self._others,
                ),
            )
        )

    def _device(self, side: "_Side") -> ReportedDevice:
        if side is self._gpu:
            count = sum(len(work.busy_ns) for work in side.work)
            return gpu(side.properties, is_hip=side.is_hip, count=count)
        count = max(len(side.work), 1)
        if self._accelerator:
            return host_of(self._accelerator, count)
        return cpu(side.headers[0], count)


class _Side:
    """Files whose work is on GPUs, or files whose work is on the CPU."""

    def __init__(self) -> None:
        self.numbers = RowNumbers()
        self.work: list[FileWork] = []
        self.hosts: list[Host] = []
        self.headers: list[Mapping[str, object]] = []
        self.properties: list[Mapping[str, object]] = []
        self.is_hip = False
        self.n_operators = 0
        self._bases: list[int] = []

    def add(self, trace: Trace, work: FileWork | None) -> None:
        """Add a file and what it did, if anything."""
        number = rank(trace.header)
        name = hostname(trace.header) or ("" if number is None else f"rank {number}")
        n_cores = len(work.busy_ns) if work else 0
        properties = device_properties(trace.header)
        device = gpu(properties, is_hip=trace.is_hip, count=n_cores) if len(trace.work) else None
        self.hosts.append(
            Host(
                file_name=trace.file_name,
                hostname=name,
                core_count=n_cores,
                device=device,
                rank=number,
            )
        )
        self.headers.append(trace.header)
        self.properties += properties
        self.is_hip |= trace.is_hip
        self.n_operators += len(trace.operators)
        if work:
            self.work.append(work)
            self._bases.append(whole(trace.header.get("baseTimeNanoseconds")) or 0)

    def shifts(self) -> list[int]:
        """The shift that brings each file's times to ns since the first event of all."""
        starts = [work.begin_ns + base for work, base in zip(self.work, self._bases, strict=True)]
        marks = [
            step.begin_ns + base
            for work, base in zip(self.work, self._bases, strict=True)
            for step in work.steps
        ]
        first = min([*starts, *marks], default=0)
        return [base - first for base in self._bases]

    def captured_at_ns(self) -> int | None:
        """Time of the first event since 1970, where the trace tells."""
        starts = [work.begin_ns + base for work, base in zip(self.work, self._bases, strict=True)]
        known = [start for start in starts if start >= _EPOCH_NS]
        return min(known, default=None)


def _within_one_capture(trace: Trace) -> Trace:
    """Drop events whose time is damaged: weeks away from the others, or weeks long."""
    trace.n_damaged += _drop_far(trace.operators.keep, trace.operators)
    trace.n_damaged += _drop_far(trace.keep_work, trace.work)
    trace.steps = [step for step in trace.steps if step.end_ns - step.begin_ns < _LONGEST_NS]
    return trace


def _drop_far(keep: Callable[[Bools], None], columns: Columns) -> int:
    begin, duration = columns["begin"], columns["duration"]
    if not len(begin) or int((begin + duration).max()) - int(begin.min()) < _LONGEST_NS:
        return 0
    near = np.abs(begin - np.median(begin)) < _LONGEST_NS / 2
    is_kept = np.asarray(near & (duration < _LONGEST_NS))
    keep(is_kept)
    return int(len(is_kept) - is_kept.sum())


def _is_same(one: int | None, other: int | None) -> bool:
    """True for two files of one process of the job, as far as they tell."""
    return one is None or other is None or one == other


def _vector_flop(counters: Mapping[str, object]) -> int:
    return sum(
        weight * (whole(counters.get(metric)) or 0) for metric, weight in _VECTOR_FLOP.items()
    )
