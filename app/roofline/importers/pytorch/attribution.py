"""Device work to the operators that launched it, and both to steps.

A kernel's correlation names its launch, and the launch lies inside an operator on its thread: that
holds in traces of every age. Kernels' own `External id` names the operator only in traces since
2024 (before, it repeats the correlation), so it comes second. What old traces do not record follows
from the operators around and inside: the gradients of a convolution, the messages of collectives.
"""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from roofline.importers.pytorch.collectives import called_collective_of
from roofline.importers.pytorch.inputs import element_of
from roofline.importers.pytorch.signatures import Signature, priced
from roofline.importers.pytorch.trace import Api, Columns, Step, Trace
from roofline.importers.shared.events import place_of
from roofline.importers.shared.kernel_names import UNKNOWN_KIND, Collective
from roofline.importers.shared.nesting import NOT_FOUND, holders, innermost, nest
from roofline.model.op_columns import I8, I32, I64, Bools


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Attribution:
    """Per device event: its operator (`NOT_FOUND`: unknown), and when and how it was launched.

    `thread` is the launching thread (-1: unknown), `api` what the launching call starts,
    `Api.OTHER` where the trace dropped it. `order` lists operators outside in, `parent` is the
    operator around each.
    """

    operator: I32
    launched_ns: I64
    thread: I32
    api: I8
    has_launch: Bools
    parent: I32
    order: I32

    def within_holders(self, events: Bools, counts: Bools) -> I32:
        """Operator per event; kernels inside an operator that alone `counts` go to that one.

        `events` are those that may be the work of such an operator.
        """
        works = np.zeros(len(self.parent), np.bool_)
        works[self.operator[events & (self.operator >= 0)]] = True
        target = holders(self.order, self.parent, works, counts)
        return np.where(self.operator >= 0, target[self.operator], NOT_FOUND).astype(np.int32)

    def count_once(self, operators: Bools) -> Bools:
        """Of these operators, those that hold no other of them."""
        return innermost(self.order, self.parent, operators)


def attribute(trace: Trace) -> Attribution:
    """Which operator and which call launched each event."""
    work, launches, operators = trace.work, trace.launches, trace.operators
    launch = place_of(work["correlation"], launches["correlation"])
    known = launch >= 0
    used, point = np.unique(launch[known], return_inverse=True)
    parent, around, order = nest(
        **operators.spans, point_ns=launches["begin"][used], point_thread=launches["thread"][used]
    )
    operator = np.full(len(work), NOT_FOUND, np.int32)
    operator[known] = around[point]
    launched = np.array(work["begin"])
    launched[known] = launches["begin"][launch[known]]
    thread = np.full(len(work), NOT_FOUND, np.int32)
    thread[known] = launches["thread"][launch[known]]
    api = np.full(len(work), Api.OTHER, np.int8)
    api[known] = launches["api"][launch[known]]
    _by_external_id(trace, operator)
    return Attribution(
        operator=operator,
        launched_ns=launched,
        thread=thread,
        api=api,
        has_launch=known,
        parent=parent,
        order=order,
    )


def _by_external_id(trace: Trace, operator: I32) -> None:
    """Fill in operators of kernels whose launch told none."""
    external = trace.work["external"]
    open_ones = np.flatnonzero(
        (operator < 0) & (external > 0) & (external != trace.work["correlation"])
    )
    ids = trace.operators["external"]
    if not len(open_ones) or not len(ids):
        return
    order = np.argsort(ids, kind="stable")
    wanted = external[open_ones]
    first = np.searchsorted(ids, wanted, side="left", sorter=order)
    last = np.searchsorted(ids, wanted, side="right", sorter=order)
    single = last - first == 1  # old traces repeat ids on several threads
    operator[open_ones[single]] = order[first[single]]


def distinct_steps(steps: list[Step]) -> list[Step]:
    """Steps in order of time, one per number: the longest of its markers, in whole if cut."""
    longest: dict[int, Step] = {}
    for step in steps:
        known = longest.get(step.number)
        if known is None or step.end_ns - step.begin_ns > known.end_ns - known.begin_ns:
            longest[step.number] = step
    return sorted(longest.values(), key=lambda step: (step.begin_ns, step.number))


_INPUT, _WEIGHT = 1, 2
_BOTH = _INPUT | _WEIGHT


def settle_gradients(trace: Trace, parent: I32) -> None:
    """Give calls whose inner operators tell their gradients the FLOPs of these, in place.

    `parent` is the operator around each one.
    """
    open_ones = np.array([s.are_gradients_unknown for s in trace.signatures], np.bool_)
    if not open_ones.any():
        return
    signature = trace.operators["signature"]
    kinds = np.array([_gradient(s.operator) for s in trace.signatures], np.int64)
    kind = kinds[signature]
    inner = (kind > 0) & (parent >= 0)
    # The gradients that operators directly inside each operator compute.
    ran = np.zeros(len(parent), np.int64)
    np.bitwise_or.at(ran, parent[inner], kind[inner])
    settled = np.flatnonzero(open_ones[signature] & (ran > 0))
    _settle(trace, settled, ran[settled], _settled)


def _settle(
    trace: Trace, operators: I32 | I64, kinds: I64, settled: Callable[[Signature, int], Signature]
) -> None:
    """Give these operators, each of a kind, the signature that is `settled` of theirs, in place."""
    signature, width = trace.operators["signature"], int(kinds.max(initial=0)) + 1
    keys = signature[operators].astype(np.int64) * width + kinds
    distinct, inverse = np.unique(keys, return_inverse=True)
    first = len(trace.signatures)
    for number, kind in (divmod(key, width) for key in distinct.tolist()):
        trace.signatures.append(settled(trace.signatures[number], kind))
    signature[operators] = first + inverse


def _gradient(operator: str) -> int:
    if operator.endswith("_backward_input"):
        return _INPUT
    return _WEIGHT if operator.endswith("_backward_weight") else 0


def _settled(call: Signature, gradients: int) -> Signature:
    """The call with known gradients; with one of two it has half of the FLOPs."""
    if gradients == _BOTH or call.flop is None:
        return replace(call, are_gradients_unknown=False)
    return replace(call, are_gradients_unknown=False, flop=call.flop // 2, moved_bytes=None)


# c10d's operator lies around `record_param_comms`, which lies around the launch.
_LEVELS = 4


def settle_collectives(trace: Trace, attribution: Attribution) -> None:
    """Fill in kinds, payloads and groups of the trace's collectives, in place."""
    places = [
        at for at, collective in trace.collectives.items() if math.isnan(collective.payload_bytes)
    ]
    if not places:
        return
    at = np.array(places, np.int64)
    by_source = (
        _around(trace.stated, trace.calls, attribution, at),
        _of_operators(trace, attribution, at),
        _around(trace.called, trace.calls, attribution, at),
    )
    for place, *calls in zip(places, *by_source, strict=True):
        trace.collectives[place] = _merged([*calls, trace.collectives[place]])


def _merged(sources: Sequence[Collective | None]) -> Collective:
    """The first known value of each field; the kernel itself comes last."""
    known = [source for source in sources if source is not None]
    return Collective(
        next((source.kind for source in known if source.kind != UNKNOWN_KIND), UNKNOWN_KIND),
        next(
            (source.payload_bytes for source in known if not math.isnan(source.payload_bytes)),
            math.nan,
        ),
        next((source.group_size for source in known if source.group_size), 0),
    )


def _around(
    spans: Columns, calls: Sequence[Collective], attribution: Attribution, at: I64
) -> list[Collective | None]:
    """The span around each event's launch on its thread. Spans of one kind do not overlap."""
    if not len(spans):
        return [None] * len(at)
    threads, begin = spans["thread"].astype(np.int64), spans["begin"]
    inside = np.full(len(at), -1, np.int64)
    for thread in np.unique(attribution.thread[at]).tolist():
        mine = np.flatnonzero(threads == thread)
        mine = mine[np.argsort(begin[mine], kind="stable")]
        events = np.flatnonzero((attribution.thread[at] == thread) & attribution.has_launch[at])
        launched = attribution.launched_ns[at[events]]
        last = np.searchsorted(begin[mine], launched, side="right") - 1
        events, span = events[last >= 0], mine[last[last >= 0]]
        holds = launched[last >= 0] <= begin[span] + spans["duration"][span]
        inside[events[holds]] = span[holds]
    moved = np.append(spans["moved"], -1)[inside].tolist()
    return [calls[call] if call >= 0 else None for call in moved]


def _of_operators(trace: Trace, attribution: Attribution, at: I64) -> list[Collective | None]:
    """The message of the innermost operator around each launch that is a collective."""
    calls = [called_collective_of(call) for call in trace.signatures]
    moves = np.array([*(call is not None for call in calls), False], np.bool_)
    signatures = np.append(trace.operators["signature"].astype(np.int64), -1)
    parents = np.append(attribution.parent.astype(np.int64), -1)
    operator, chosen = attribution.operator[at].astype(np.int64), np.full(len(at), -1, np.int64)
    for _ in range(_LEVELS):
        signature = signatures[operator]
        chosen = np.where((chosen < 0) & moves[signature], signature, chosen)
        operator = parents[operator]
    return [calls[number] if number >= 0 else None for number in chosen.tolist()]


_OF_LISTS = re.compile(r"aten::(?:cat|stack|_foreach_\w+|_fused_\w+)\Z")
_KERNEL = re.compile(
    r"(?:CatArray\w*|(?<!Copy)Functor)<(?:\w+::)*(?:\(anonymous namespace\)::)?(?:c10::)?"
    r"(?:OpaqueType<(\d+)|(BFloat16|Half|float|double|long|int|short|(?:un)?signed char|bool)\b)"
)


def settle_lists(trace: Trace, attribution: Attribution) -> None:
    """Give calls with lists of tensors the types in the names of their kernels, in place."""
    is_open = np.array([_is_open(call) for call in trace.signatures], np.bool_)
    if not is_open.any():
        return
    kinds = [found.groups() if (found := _KERNEL.search(name)) else None for name in trace.names]
    types = list(dict.fromkeys(kind for kind in kinds if kind))
    number = np.array([types.index(kind) if kind else -1 for kind in kinds], np.int64)
    signature = trace.operators["signature"]
    kind = number[trace.work["name"]]
    ran = np.flatnonzero((attribution.operator >= 0) & (kind >= 0))
    operator = attribution.operator[ran]
    of_list = is_open[signature[operator]]
    _settle(trace, operator[of_list], kind[ran[of_list]], lambda call, at: _typed(call, *types[at]))


def _is_open(call: Signature) -> bool:
    tensors = call.inputs.all_tensors if call.inputs and _OF_LISTS.match(call.operator) else []
    return any(tensor.item_bytes is None for tensor in tensors)


def _typed(call: Signature, opaque: str | None, spelled: str | None) -> Signature:
    """The call with tensors of the type `spelled`, or of so many bytes per element."""
    if call.inputs is None:
        return call
    dtype, item_bytes = ("", int(opaque)) if opaque else element_of(spelled or "")
    tensors = tuple(
        tuple(
            replace(tensor, dtype=dtype, item_bytes=item_bytes)
            if tensor.item_bytes is None
            else tensor
            for tensor in place
        )
        for place in call.inputs.tensors
    )
    return priced(replace(call, inputs=replace(call.inputs, tensors=tensors)))
