"""The work of GPUs in one trace, per op and step: kernels by operator, copies and collectives."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import count

import numpy as np

from roofline.importers.pytorch.attribution import (
    Attribution,
    attribute,
    distinct_steps,
    settle_collectives,
    settle_gradients,
    settle_lists,
)
from roofline.importers.pytorch.collectives import copy_direction, link_of
from roofline.importers.pytorch.inputs import shapes_label
from roofline.importers.pytorch.rows import (
    MAX_LAUNCHES,
    Costs,
    FileWork,
    InstanceSums,
    KernelRows,
    Launches,
    RowNumbers,
    Sums,
    added_up,
    any_at,
    multiplied,
)
from roofline.importers.pytorch.scan import Kind
from roofline.importers.pytorch.scopes import Scopes, note_paths, scopes_of
from roofline.importers.pytorch.serving import (
    FileServing,
    ServingStep,
    StepWindows,
    as_step,
    step_at,
    step_bytes,
    step_windows,
)
from roofline.importers.pytorch.signatures import Signature, is_reuse_unknown
from roofline.importers.pytorch.trace import Api, Step, Trace
from roofline.importers.pytorch.words import is_region, may_compute, operator_category
from roofline.importers.shared.events import NO_LAUNCH, longest_of, place_of
from roofline.importers.shared.kernel_names import (
    COPY,
    NAN,
    Collective,
    is_communication,
    kernel_category,
)
from roofline.importers.shared.nesting import NOT_FOUND, busy_times, spans_of
from roofline.importers.shared.steps import steps_of
from roofline.importers.shared.stream_timeline import (
    COMMUNICATION,
    HOST_COPY,
    WORK,
    Steps,
    timeline_on,
)
from roofline.model.memory import MemoryLevel
from roofline.model.op_columns import I8, I32, I64, Bools
from roofline.model.profile import distinct
from roofline.model.timeline import Timeline

_KERNEL_CHARACTERS = 120
_COPIES = frozenset({"aten::copy_", "aten::clone", "aten::contiguous"})


def gpu_work(trace: Trace, numbers: RowNumbers, serving: Sequence[ServingStep] = ()) -> FileWork:
    """The work of all devices of `trace`; the steps of a server come before the program's own."""
    steps = [*map(as_step, count(), serving)] or distinct_steps(trace.steps)
    attribution = attribute(trace)
    settle_gradients(trace, attribution.parent)
    settle_lists(trace, attribution)
    settle_collectives(trace, attribution)
    scopes = scopes_of(trace, attribution.parent)
    trace.scopes.forget("begin", "duration", "thread")
    # A large trace is mostly these; what follows needs their memory.
    trace.operators.forget("begin", "duration", "thread", "external", "node")
    trace.launches.forget("begin", "thread")
    trace.work.forget("external")
    return _GpuWork(trace, attribution, scopes, steps, numbers, serving).result()


def _within(steps: list[Step], windows: StepWindows) -> list[Step]:
    """The steps on the device's clock; one without work stays where the host was."""
    ends = zip(windows.begin.tolist(), windows.end.tolist(), strict=True)
    return [
        replace(step, begin_ns=begin, end_ns=end) if end else step
        for step, (begin, end) in zip(steps, ends, strict=True)
    ]


def _launched_in(attribution: Attribution, steps: list[Step]) -> I32:
    """The step that launched each event, -1 for none.

    Work whose launch the trace does not hold was launched before it began, so in no step of it.
    Traces without any launch go by the time of the work itself.
    """
    scope = step_at(attribution.launched_ns, steps).astype(np.int32)
    if attribution.has_launch.any():
        scope[~attribution.has_launch] = -1
    return scope


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Executions:
    """Operators that ran kernels, once each: place of the first kernel, signature, is counted."""

    first: I64
    signature: I64
    counted: Bools


class _GpuWork:
    """Columns of one trace's device events, and how they add up."""

    def __init__(
        self,
        trace: Trace,
        attribution: Attribution,
        scopes: Scopes,
        steps: list[Step],
        numbers: RowNumbers,
        serving: Sequence[ServingStep],
    ) -> None:
        self._trace, self._found, self._steps, self._numbers = trace, attribution, steps, numbers
        self._scopes, self._serving = scopes, serving
        work = trace.work
        self._is_kernel = np.asarray(work["kind"] == Kind.KERNEL)
        collectives = np.array([is_communication(name) for name in trace.names], np.bool_)
        computes = self._computes = self._is_kernel & ~collectives[work["name"]]
        self._in_graph = computes & (attribution.api == Api.GRAPH)
        self._in_region = computes & ~self._in_graph & self._is_inside_region()
        named = computes & ~self._in_graph & ~self._in_region
        self._costs = Costs.of(trace.signatures)
        self._copied = self._copied_bytes()
        self._by_operator = (named & (attribution.operator >= 0)) | self._is_operators_copy()
        self._is_loose = named & (attribution.operator < 0)
        self._moves = self._moved()
        if not serving:
            # Only steps that launched work: of others, such as the rest after the last one, or one
            # that copied alone, nothing on the device has a time. All of them, where none did.
            launched = np.unique(_launched_in(attribution, steps)[self._moves[0] == WORK])
            self._steps = [steps[k] for k in launched[launched >= 0].tolist()] or steps
        self._scope = _launched_in(attribution, self._steps)
        self._operator = self._operators()
        self._row = self._rows()

    def _is_operators_copy(self) -> Bools:
        """Copies within a device that do not say their size (ROCm's): those of the operator around
        them, where its shapes do and it does nothing else."""
        within, operator = self._is_within_device(), self._found.operator
        moved = self._costs.moved_bytes
        copies = np.array([s.operator in _COPIES for s in self._trace.signatures], np.bool_)
        if not within.any() or not copies.any():
            return np.zeros(len(within), np.bool_)
        signature = self._trace.operators["signature"][np.maximum(operator, 0)]
        is_one = copies[signature] & (moved[signature] >= 0) & (operator >= 0)
        return np.asarray(within & ~self._is_kernel & ~self._copied[1] & is_one)

    def _is_within_device(self) -> Bools:
        within = np.array(["DtoD" in name for name in self._trace.names], np.bool_)
        return np.asarray(within[self._trace.work["name"]])

    def _is_inside_region(self) -> Bools:
        """Events whose innermost operator only encloses compiled code, or is a named range."""
        signatures = self._trace.signatures
        regions = np.array([s.is_scope or is_region(s.operator) for s in signatures], np.bool_)
        operator = self._found.operator
        if not regions.any():
            return np.zeros(len(operator), np.bool_)
        inside = regions[self._trace.operators["signature"][np.maximum(operator, 0)]]
        return np.asarray(inside & (operator >= 0))

    def result(self) -> FileWork:
        """All sums."""
        work, n_devices = self._trace.work, int(self._trace.work["device"].max()) + 1
        device = work["device"].astype(np.int64)
        busy = busy_times(device, work["begin"], work["duration"], n_devices)
        end = work["begin"] + work["duration"]
        windows = self._windows(device, n_devices) if self._serving else None
        return FileWork(
            sums=self._sums(),
            steps=self._steps if windows is None else _within(self._steps, windows),
            step_core_ns=self._step_core_ns(device, n_devices) if windows is None else windows.core,
            busy_ns=busy,
            span_ns=spans_of(device, work["begin"], end, n_devices),
            begin_ns=int(work["begin"].min()),
            end_ns=int(end.max()),
            notes=self._notes(busy),
            flop_slack=self._flop_slack(),
            launches=self._launches(),
            timeline=self._timeline(device, n_devices),
            serving=None if windows is None else self._of_server(windows),
            instances=self._instances(),
            kernels=self._kernels(),
        )

    def _windows(self, device: I64, n_devices: int) -> StepWindows:
        work = self._trace.work
        begin, n_steps = np.array(work["begin"]), len(self._steps)
        return step_windows(
            begin, begin + work["duration"], device, self._scope, n_steps, n_devices
        )

    def _of_server(self, windows: StepWindows) -> FileServing:
        runs = self._executions()
        step = self._scope[runs.first]
        moved = step_bytes(self._trace.signatures, runs.signature, step, len(self._steps))
        return FileServing(steps=self._serving, windows=windows, moved=moved)

    def _operators(self) -> I32:
        """Operator per event. Copies and the like inside a matrix product are not the product."""
        computes = np.array([may_compute(name) for name in self._trace.names], np.bool_)
        counts = self._costs.is_product[self._trace.operators["signature"]]
        events = self._by_operator & computes[self._trace.work["name"]]
        return self._found.within_holders(events, counts) if len(counts) else self._found.operator

    # ---------------------------------------------------------------------------------------- rows

    def _rows(self) -> I32:
        """Row of each event: its operator's call, or its own name."""
        work = self._trace.work
        row = np.zeros(len(work), np.int32)
        own = ~self._by_operator
        used, at = distinct(work["name"][own])
        row[own] = np.array([self._own_row(name) for name in used.tolist()], np.int64)[at]
        signature = self._signature(self._by_operator)
        calls, at = distinct(signature)
        main = longest_of(signature, *(work[of][self._by_operator] for of in ("name", "duration")))
        row[self._by_operator] = np.array(
            [self._call_row(call, main[call]) for call in calls.tolist()], np.int64
        )[at]
        self._note_kernels(row)
        return row

    def _signature(self, events: Bools) -> I64:
        return self._trace.operators["signature"][self._operator[events]].astype(np.int64)

    def _own_row(self, name: int) -> int:
        text = self._trace.names[name]
        is_copy = text.lower().startswith(("memcpy", "memset"))
        return self._numbers.of(text, COPY if is_copy else kernel_category(text))

    def _call_row(self, signature: int, kernel: int) -> int:
        call = self._trace.signatures[signature]
        category = operator_category(call.operator, self._trace.names[kernel])
        return self._numbers.of(
            call.label,
            category,
            operator=call.operator,
            dtype=call.dtype,
            tf32=call.tf32,
            is_vector=call.is_vector,
            operands=shapes_label(call.inputs),
            stack=call.stack,
        )

    def _note_kernels(self, row: I32) -> None:
        work = self._trace.work
        width = max(len(self._trace.names), 1)
        pairs, at = distinct(row.astype(np.int64) * width + work["name"])
        count = np.bincount(at)
        time = added_up(at, work["duration"], len(pairs), self._trace.file_name)
        for pair, n, ns in zip(pairs.tolist(), count.tolist(), time.tolist(), strict=True):
            self._numbers.rows[pair // width].ran(self._trace.names[pair % width], n, ns)
        self._note_regions(row)
        self._note_paths(row)
        for place, message in self._trace.messages.items():
            self._numbers.rows[row[place]].messages.add(message)

    def _note_paths(self, row: I32) -> None:
        """Under which framework paths the kernels of each row ran, and for how long."""
        operator = self._around()
        held = np.flatnonzero(operator >= 0)
        note_paths(
            self._trace,
            self._scopes,
            self._numbers,
            row=row[held].astype(np.int64),
            operator=operator[held].astype(np.int64),
            time_ns=self._trace.work["duration"][held],
        )

    def _note_regions(self, row: I32) -> None:
        """In which compiled region or graph the kernels of each row ran."""
        held = self._in_graph | self._in_region
        if not held.any():
            return
        operator = self._found.operator[held]
        signature = np.full(len(operator), -1, np.int64)
        signature[operator >= 0] = self._trace.operators["signature"][operator[operator >= 0]]
        place = np.stack([row[held], signature, self._in_graph[held]], axis=1)
        places, count = np.unique(place, axis=0, return_counts=True)
        for (at, number, is_graph), n in zip(places.tolist(), count.tolist(), strict=True):
            region = self._region(number, is_graph=bool(is_graph))
            self._numbers.rows[at].regions[region] += n

    def _region(self, signature: int, *, is_graph: bool) -> str:
        around = self._trace.signatures[signature].operator if signature >= 0 else ""
        if not is_graph:
            return around
        graph = f"graph ({self._trace.apis[Api.GRAPH]})"
        return f"{graph} in {around}" if around else graph

    # ---------------------------------------------------------------------------------------- sums

    def _sums(self) -> Sums:
        work, name = self._trace.work, self._trace.file_name
        width = len(self._numbers.rows)
        pairs = (self._scope.astype(np.int64) + 1) * width + self._row
        keys, at = distinct(pairs)
        runs = self._executions()
        self._note_gaps(runs)
        run_at = at[runs.first]
        counted_at, counted = run_at[runs.counted], runs.signature[runs.counted]
        moved, moved_known = self._copied
        time_ns = added_up(at, work["duration"], len(keys), name)
        bytes_moved = multiplied(
            run_at, runs.signature, self._costs.moved_bytes, len(keys), name
        ) + added_up(at, moved, len(keys), name).astype(np.uint64)
        return Sums(
            scope=keys // width - 1,
            row=keys % width,
            occurrences=np.bincount(run_at, minlength=len(keys))
            + np.bincount(at[~self._by_operator], minlength=len(keys)),
            time_ns=time_ns,
            self_ns=time_ns,
            flop=multiplied(counted_at, counted, self._costs.flop, len(keys), name),
            moved_bytes=bytes_moved,
            flop_known=any_at(counted_at[self._costs.flop[counted] >= 0], len(keys))
            | any_at(at[~self._is_kernel], len(keys)),
            bytes_known=any_at(run_at[self._costs.moved_bytes[runs.signature] >= 0], len(keys))
            | any_at(at[moved_known], len(keys)),
        )

    def _flop_slack(self) -> float:
        runs = self._executions()
        return float(self._costs.slack[runs.signature[runs.counted]].sum())

    def _instances(self) -> InstanceSums | None:
        """The time and the known work of each instance of a module."""
        operator, runs = self._around(), self._executions()
        counted = runs.counted
        return InstanceSums.of(
            self._scopes.layers,
            layer=np.append(self._scopes.layer, NOT_FOUND)[operator].astype(np.int64),
            scope=self._scope.astype(np.int64),
            time_ns=self._trace.work["duration"],
            flop=(runs.first[counted], runs.signature[counted], self._costs.flop),
            moved=(runs.first, runs.signature, self._costs.moved_bytes),
            file_name=self._trace.file_name,
        )

    def _around(self) -> I32:
        """The operator around each event, whether its work is the operator's or not."""
        return np.where(self._by_operator, self._operator, self._found.operator)

    def _note_gaps(self, runs: _Executions) -> None:
        """Rows with work that is not known: a call's without its cost, a copy's without its size.

        Kernels listed by their own name have no cost at all.
        """
        _, moved_known = self._copied
        own = self._row[~self._by_operator & ~moved_known]
        kernels = self._row[~self._by_operator & self._is_kernel]  # a copy does no FLOPs
        row = self._row[runs.first]
        flop, moved = self._costs.flop[runs.signature], self._costs.moved_bytes[runs.signature]
        self._numbers.note_gaps(
            flop=np.concatenate([kernels, row[flop < 0]]),
            moved_bytes=np.concatenate([own, row[moved < 0]]),
        )

    def _executions(self) -> _Executions:
        events = np.flatnonzero(self._by_operator)
        operators, first = np.unique(self._operator[events], return_index=True)
        signature = self._trace.operators["signature"][operators].astype(np.int64)
        has_flop, is_product = (np.zeros(len(self._trace.operators), np.bool_) for _ in range(2))
        has_flop[operators] = self._costs.flop[signature] > 0
        is_product[operators] = self._costs.is_product[signature]
        # A product counts although it holds vector work, which is another one's.
        once = self._found.count_once(is_product) | (self._found.count_once(has_flop) & ~is_product)
        counted = once[operators] | (self._costs.flop[signature] == 0)
        return _Executions(first=events[first], signature=signature, counted=counted)

    def _copied_bytes(self) -> tuple[I64, Bools]:
        """Exact bytes of copies: within a device they are read and written."""
        work = self._trace.work
        stated = np.full(len(work), -1, np.int64)
        sizes, copies = self._trace.sizes, np.flatnonzero(~self._is_kernel)
        place = place_of(work["correlation"][copies], sizes["correlation"])
        stated[copies[place >= 0]] = sizes["bytes"][place[place >= 0]]
        stated[self._trace.copied["place"]] = self._trace.copied["bytes"]
        twice = np.where(self._is_within_device(), 2, 1)
        return np.where(stated >= 0, stated * twice, 0), stated >= 0

    def _timeline(self, device: I64, n_devices: int) -> Timeline:
        """All device events by what they are: work, communication, copies from and to the host."""
        work = self._trace.work
        begin, end = np.array(work["begin"]), np.array(work["begin"] + work["duration"])
        kind, transfer, moved = self._moves
        host = {"in": MemoryLevel.HOST, "out": MemoryLevel.HOST}
        link = link_of(self._trace.header, is_hip=self._trace.is_hip)
        steps = self._on_devices(device, n_devices, kind == WORK)
        return timeline_on(
            device,
            steps,
            begin=begin,
            end=end,
            kind=kind,
            op=self._row,
            rows=np.arange(len(self._numbers.rows)),
            transfer=transfer,
            moved=moved,
            links=[host.get(message.kind, link) for message in moved],
            launch=self._launched(),
        )

    def _moved(self) -> tuple[I8, I32, list[Collective]]:
        """Kind of each event, and what it moves: its number, and what the numbers stand for."""
        kind = np.full(len(self._trace.work), WORK, np.int8)
        transfer = np.full(len(kind), -1, np.int32)
        moved: dict[Collective, int] = {}
        for at, message in self._trace.collectives.items():
            kind[at], transfer[at] = COMMUNICATION, moved.setdefault(message, len(moved))
        directions = np.array([copy_direction(name) for name in self._trace.names], object)
        of_name = (directions != "")[self._trace.work["name"]]
        copies = np.flatnonzero(of_name & ~self._is_kernel)
        sizes, known = (column[copies] for column in self._copied)
        names = directions[self._trace.work["name"][copies]]
        for at, name, size, is_known in zip(
            copies.tolist(), names.tolist(), sizes.tolist(), known.tolist(), strict=True
        ):
            copy = Collective(name, float(size) if is_known else NAN)
            kind[at], transfer[at] = HOST_COPY, moved.setdefault(copy, len(moved))
        return kind, transfer, list(moved)

    def _launched(self) -> I64 | None:
        """When each event was launched; `None` where the trace has no launches."""
        known = self._found.has_launch
        return np.where(known, self._found.launched_ns, NO_LAUNCH) if known.any() else None

    def _step_core_ns(self, device: I64, n_devices: int) -> I64:
        lasted = np.array([step.end_ns - step.begin_ns for step in self._steps], np.int64)
        spans = self._spans(device, n_devices)
        # A step without work lasts as long as the host was in it.
        lasted = np.where(spans.any(axis=1, keepdims=True), spans, lasted[:, None])
        return np.asarray(lasted.sum(axis=1))

    def _spans(self, device: I64, n_devices: int) -> I64:
        """How long each step took on each device: from its first work to that of the next step.

        The host may run ahead of the device, or wait for it: its own time in a step says little.
        """
        is_work = self._moves[0] == WORK
        spans = np.zeros((len(self._steps), n_devices), np.int64)
        ran = np.unique(self._launched_in()[is_work & (self._launched_in() >= 0)])
        for number, steps in enumerate(self._on_devices(device, n_devices, is_work)):
            spans[ran, number] = steps.windows.end - steps.windows.begin
        return spans

    def _launched_in(self) -> I64:
        """The program's own step that launched each event; -1 where it is not known.

        The steps of a server are not the program's: they are listed on their own.
        """
        if self._serving:
            return np.full(len(self._scope), -1)
        return np.where(self._found.has_launch, self._scope, -1).astype(np.int64)

    def _on_devices(self, device: I64, n_devices: int, is_work: Bools) -> list[Steps]:
        """The steps as each device ran them."""
        begin = np.array(self._trace.work["begin"])
        end = begin + np.array(self._trace.work["duration"])
        return steps_of(begin, end, device, self._launched_in(), is_work, n_devices)

    def _kernels(self) -> KernelRows:
        """The kernels that compute, or move data within a device."""
        work, mine = self._trace.work, self._computes
        return KernelRows(
            row=self._row[mine].astype(np.int64),
            scope=self._scope[mine].astype(np.int64),
            device=work["device"][mine].astype(np.int64),
            begin_ns=work["begin"][mine],
            name=work["name"][mine].astype(np.int64),
            names=self._trace.names,
            shape=work["shape"][mine].astype(np.int64),
            shapes=self._trace.shapes,
            time_ns=work["duration"][mine],
        )

    def _launches(self) -> Launches | None:
        work, names = self._trace.work, self._trace.names
        if len(work) > MAX_LAUNCHES:
            return None
        steps = [f"step {step.number}, " for step in self._steps]
        return Launches(
            row=self._row.astype(np.int64),
            detail=[
                f"{steps[scope] if scope >= 0 else ''}{names[name][:_KERNEL_CHARACTERS]}"
                for scope, name in zip(self._scope.tolist(), work["name"].tolist(), strict=True)
            ],
            time_ns=np.array(work["duration"]),
        )

    # --------------------------------------------------------------------------------------- notes

    def _notes(self, busy: I64) -> Counter[str]:
        work, calls = self._trace.work, self._signature(self._by_operator)

        def kernels_of(is_so: Callable[[Signature], bool]) -> int:
            flags = np.array([is_so(call) for call in self._trace.signatures], np.bool_)
            return int(flags[calls].sum())

        # Launches of single kernels, and those whose kernel is in the trace.
        launches = int((self._trace.launches["api"] == Api.KERNEL).sum())
        ran = int((self._is_kernel & (self._found.api == Api.KERNEL)).sum())
        return Counter(
            {
                "kernels": int(self._is_kernel.sum()),
                "unattributed": int(self._is_loose.sum()),
                "in-graphs": int(self._in_graph.sum()),
                "in-regions": int(self._in_region.sum()),
                "launches": launches,
                "launches-not-run": max(launches - ran, 0),
                "without-shapes": kernels_of(lambda call: not call.has_shapes),
                "with-shapes": kernels_of(lambda call: call.has_shapes),
                "uncounted": kernels_of(lambda call: call.is_uncountable),
                "mask-unknown": kernels_of(lambda call: call.is_mask_unknown),
                "gradients-unknown": kernels_of(lambda call: call.are_gradients_unknown),
                "reuse-unknown": kernels_of(is_reuse_unknown),
                "outside-steps": int((self._scope < 0).sum()) if self._steps else 0,
                "overlap-ns": int(work["duration"].sum()) - int(busy.sum()),
                "whole-microseconds": int(
                    not ((work["begin"] % 1000).any() or (work["duration"] % 1000).any())
                ),
            }
        )
