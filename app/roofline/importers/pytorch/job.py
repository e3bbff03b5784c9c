"""All processes of one job: each file's work, on the GPUs if any file has GPU work.

The work of the host in a trace without device work: operators by the time they spent themselves.

On a CPU that is the time to compute. Where an accelerator computed, it is the time to launch that,
and `RowNumbers.forget_costs` drops what the operators cost. Any of these tells that it did: calls
of a GPU's runtime, events of a device's memory or of another accelerator, operators or a backend
that only accelerators have. Devices that the trace lists are those of the machine, used or not.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from roofline.importers.pytorch.attribution import distinct_steps
from roofline.importers.pytorch.captures import (
    CapturedGraph,
    captured_graphs,
    has_capture,
    replays_graphs,
)
from roofline.importers.pytorch.events import read_trace
from roofline.importers.pytorch.gpu_work import gpu_work
from roofline.importers.pytorch.header import (
    cpu,
    device_properties,
    gpu,
    host_of,
    hostname,
    of_devices,
    rank,
    read_environment,
    text,
    whole,
)
from roofline.importers.pytorch.inputs import shapes_label
from roofline.importers.pytorch.lengths import apply_lengths, read_caches
from roofline.importers.pytorch.notes import Findings
from roofline.importers.pytorch.profile import Parts, build_profile
from roofline.importers.pytorch.replays import Alignment, explain_replays, has_replays, summed
from roofline.importers.pytorch.rows import (
    Costs,
    FileWork,
    InstanceSums,
    RowNumbers,
    Sums,
    added_up,
    any_at,
    multiplied,
)
from roofline.importers.pytorch.scopes import note_paths, scopes_of
from roofline.importers.pytorch.serving import ServingStep, server_of, serving_steps, step_at
from roofline.importers.pytorch.trace import Columns, Trace
from roofline.importers.pytorch.words import operator_category
from roofline.importers.shared.launch_times import launches_of
from roofline.importers.shared.nesting import busy_times, innermost, nest, self_times
from roofline.importers.source import Progress, SourceFile
from roofline.model.device import ReportedDevice
from roofline.model.environment import merged
from roofline.model.notes import RECORDING
from roofline.model.op_columns import I32, I64, U64, Bools
from roofline.model.profile import Host, Profile
from roofline.model.units import NS_PER_S, PS_PER_NS

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
        self._found = Findings()
        self._captures: list[Trace] = []
        self._recorded: list[_Recorded] = []
        self._replays: list[tuple[int | None, Alignment]] = []
        self._annotations: set[str] = set()

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
        found = self._found
        found.n_cut += trace.is_cut
        found.n_damaged += trace.n_damaged
        found.other_categories.update(trace.other_categories)
        found.n_counter_ranges += len(trace.counters)
        found.counter_flop += sum(map(_vector_flop, trace.counters))
        for annotations in (trace.annotations, trace.device_annotations):
            self._annotations.update(annotation.name for annotation in annotations)
        if len(trace.work):
            # Without the host, work is in a step by the time when the device ran it.
            annotations = trace.annotations if len(trace.launches) else trace.device_annotations
            steps = serving_steps(annotations)
            self._explain(trace, steps)
            found.assumed.add(trace)
            self._gpu.add(trace, gpu_work(trace, self._gpu.numbers, steps))
        else:
            found.accelerator = found.accelerator or accelerator_behind(trace)
            found.unused = found.unused or listed_device(trace)
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
        device, found = self._device(side), self._found
        if found.accelerator:
            self._cpu.numbers.forget_costs()
        if side is self._gpu:
            found.accelerator, found.idle_files = "", len(self._cpu.hosts)
        found.kind, found.is_named = device.kind, bool(device.name)
        found.n_operators, found.n_merged = side.n_operators, len(side.numbers.merged)
        found.replays = summed([alignment for _, alignment in self._replays])
        found.server = server_of(self._annotations)
        found.recordings = [header.get(RECORDING) for header in side.headers]
        return build_profile(
            Parts(
                device=device,
                hosts=tuple(side.hosts),
                work=side.work,
                shift_ns=side.shifts(),
                numbers=side.numbers,
                captured_at_ns=side.captured_at_ns(),
                environment=merged(read_environment(header) for header in side.headers),
                findings=found,
            )
        )

    def _device(self, side: "_Side") -> ReportedDevice:
        if side is self._gpu:
            count = sum(len(work.busy_ns) for work in side.work)
            return gpu(side.properties, is_hip=side.is_hip, count=count)
        count = max(len(side.work), 1)
        if self._found.accelerator:
            return host_of(self._found.accelerator, count)
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
        properties = of_devices(device_properties(trace.header), trace.device_ids)
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

    def _starts_ns(self) -> list[int]:
        return [work.begin_ns + base for work, base in zip(self.work, self._bases, strict=True)]

    def shifts(self) -> list[int]:
        """The shift that brings each file's times to ns since the first event of all."""
        marks = [
            step.begin_ns + base
            for work, base in zip(self.work, self._bases, strict=True)
            for step in work.steps
        ]
        first = min([*self._starts_ns(), *marks], default=0)
        return [base - first for base in self._bases]

    def captured_at_ns(self) -> int | None:
        """Time of the first event since 1970, where the trace tells."""
        return min((at for at in self._starts_ns() if at >= _EPOCH_NS), default=None)


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


_ACCELERATORS = re.compile(r"mtia|xpu|hpu|npu|privateuse|neuron", re.IGNORECASE)
# `cudnn_is_acceptable` is a question that recurrent layers ask on every device.
_DEVICE_OPERATORS = re.compile(
    r"::record_stream\Z|::_?(?:cudnn|miopen)_(?!is_acceptable\Z)|\b(?:nccl|rccl)[:_]"
)
_DEVICE_BACKENDS = re.compile(r"nccl|rccl", re.IGNORECASE)
_UNNAMED = "an accelerator"


def accelerator_behind(trace: Trace) -> str:
    """The accelerator for which the host launched work, in words; empty if no file names one."""
    seen = _seen(trace)
    return (listed_device(trace) or seen) if seen else ""


def listed_device(trace: Trace) -> str:
    """A device of the machine, in words; empty if the trace lists none."""
    listed = device_properties(trace.header)
    named = (name for device in listed if (name := text(device.get("name"))))
    return next(named, "a GPU" if listed else "")


def _seen(trace: Trace) -> str:
    """The accelerator that the events tell of, in words; empty if they are those of a CPU."""
    if trace.apis:
        return "an AMD GPU" if trace.is_hip else "a GPU"
    other = next((name for name in trace.other_categories if _ACCELERATORS.search(name)), "")
    if other:
        return f"{_UNNAMED} ({other})"
    return _UNNAMED if trace.uses_device_memory or _uses_device(trace) else ""


def _uses_device(trace: Trace) -> bool:
    info = trace.header.get("distributedInfo")
    backend = text(info.get("backend")) if isinstance(info, dict) else ""
    return bool(_DEVICE_BACKENDS.search(backend)) or any(
        _DEVICE_OPERATORS.search(signature.operator) for signature in trace.signatures
    )


_NONE = np.zeros(0, np.int64)
# The category of operators whose names say nothing; a CPU has no kernels whose names say more.
_NO_KERNEL = ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Counted:
    """Operators whose FLOPs count and those whose bytes do, and what they cost by signature."""

    flop: Bools
    moved: Bools
    costs: Costs


def cpu_work(trace: Trace, numbers: RowNumbers) -> FileWork:
    """The work of all threads of `trace`."""
    operators = trace.operators
    begin, duration = operators["begin"], operators["duration"]
    steps = distinct_steps(trace.steps)
    parent, _, order = nest(**operators.spans, point_ns=_NONE, point_thread=_NONE)
    signature = operators["signature"].astype(np.int64)
    n_signatures = len(trace.signatures)
    counted = _counted(order, parent, signature, Costs.of(trace.signatures))
    scope = step_at(begin, steps)
    row = np.array([_row(trace, k, numbers) for k in range(n_signatures)], np.int64)
    all_threads = np.zeros(len(begin), np.int64)
    ends = begin + duration
    edges = np.array([one.begin_ns for one in steps] + [one.end_ns for one in steps[-1:]], np.int64)
    first = min([int(begin.min()), *edges[:1].tolist()])
    last = max([int(ends.max()), *edges[-1:].tolist()])
    numbers.note_gaps(
        flop=row[signature[counted.costs.flop[signature] < 0]],
        moved_bytes=row[signature[counted.costs.moved_bytes[signature] < 0]],
    )
    scopes, self_ns = scopes_of(trace, parent), self_times(duration, parent)
    note_paths(
        trace, scopes, numbers, row=row[signature], operator=np.arange(len(begin)), time_ns=self_ns
    )
    flop, moved = np.flatnonzero(counted.flop), np.flatnonzero(counted.moved)
    return FileWork(
        sums=_sums(trace, row[signature], scope, len(numbers.rows), parent, counted),
        steps=steps,
        # A step lasts until the next one begins, as on a device.
        step_core_ns=np.diff(edges),
        busy_ns=busy_times(all_threads, begin, duration, 1),
        span_ns=np.array([last - first]),
        begin_ns=first,
        end_ns=last,
        notes=_notes(trace, signature),
        flop_slack=float(counted.costs.slack[signature[counted.flop]].sum()),
        launch_times=launches_of(row[signature], duration.astype(np.float64) * PS_PER_NS),
        instances=InstanceSums.of(
            scopes.layers,
            layer=scopes.layer.astype(np.int64),
            scope=scope,
            time_ns=self_ns,
            flop=(flop, signature[flop], counted.costs.flop),
            moved=(moved, signature[moved], counted.costs.moved_bytes),
            file_name=trace.file_name,
        ),
    )


def _counted(order: I32, parent: I32, signature: I64, costs: Costs) -> _Counted:
    """The innermost operators with a cost, so that no work counts twice."""
    flop, moved = costs.flop[signature], costs.moved_bytes[signature]
    is_product = costs.is_product[signature]
    # A product counts although it holds vector work, which is another one's.
    arithmetic = innermost(order, parent, is_product)
    arithmetic |= innermost(order, parent, flop > 0) & ~is_product
    moving = (arithmetic | innermost(order, parent, moved >= 0)) & (moved >= 0)
    return _Counted(flop=arithmetic | (moving & (flop == 0)), moved=moving, costs=costs)


def _row(trace: Trace, signature: int, numbers: RowNumbers) -> int:
    call = trace.signatures[signature]
    category = operator_category(call.operator, _NO_KERNEL)
    return numbers.of(
        call.label,
        category,
        operator=call.operator,
        dtype=call.dtype,
        is_vector=call.is_vector,
        operands=shapes_label(call.inputs),
    )


def _sums(trace: Trace, row: I64, scope: I64, width: int, parent: I32, counted: _Counted) -> Sums:
    """FLOPs and bytes of those operators that count, times of all."""
    operators, name = trace.operators, trace.file_name
    signature = operators["signature"].astype(np.int64)
    keys, at = np.unique((scope + 1) * width + row, return_inverse=True)

    def cost(of: Bools, each: I64) -> U64:
        return multiplied(at[of], signature[of], each, len(keys), name)

    return Sums(
        scope=keys // width - 1,
        row=keys % width,
        occurrences=np.bincount(at, minlength=len(keys)),
        time_ns=added_up(at, operators["duration"], len(keys), name),
        self_ns=added_up(at, self_times(operators["duration"], parent), len(keys), name),
        flop=cost(counted.flop, counted.costs.flop),
        moved_bytes=cost(counted.moved, counted.costs.moved_bytes),
        flop_known=any_at(at[counted.flop], len(keys)),
        bytes_known=any_at(at[counted.moved], len(keys)),
    )


def _notes(trace: Trace, signature: I64) -> Counter[str]:
    with_shapes = np.array([s.has_shapes for s in trace.signatures], np.bool_)
    n_with = int(with_shapes[signature].sum())
    maskless = np.array([s.is_mask_unknown for s in trace.signatures], np.bool_)
    return Counter(
        {
            "with-shapes": n_with,
            "without-shapes": len(signature) - n_with,
            "mask-unknown": int(maskless[signature].sum()),
        }
    )
