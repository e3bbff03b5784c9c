"""Graphs as a trace of their capture shows them: launches in order, and the operators around each.

While a stream is captured, launches do not run: the trace has operators with shapes, launches and
the names of their kernels, and no kernels. Servers write one such trace per graph or per batch
size and mark it with an annotation (`capture_32_FULL`, `capture_32_DECODE`,
`capture_8192_PIECEWISE`); a piecewise capture holds one graph for each piece.

Kernels inside an operator that each do a work of their own, told apart by their names.

`vllm::moe_forward` names a layer and runs two products of all experts; attention that names a layer
runs one kernel for layers with a window and another for those without. The trace of a capture has
the rest: the operators that ran inside, with the sizes of what they allocated.
"""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from mmap import mmap

import numpy as np

from roofline.importers.pytorch.attention import names_a_layer
from roofline.importers.pytorch.products import Routing, grouped_product, product_rows
from roofline.importers.pytorch.signatures import Signature
from roofline.importers.pytorch.trace import Api, Columns, Stacks, Trace
from roofline.importers.shared.nesting import nest
from roofline.model.op_columns import I32, I64, Bools

# Names for nodes that are not kernels; some runtimes run them as kernels of their own.
COPY_NODE, FILL_NODE, UNNAMED = "memcpy", "memset", ""
_COPY_KERNEL = re.compile(r"memcpy|__amd_rocclr_copyBuffer", re.IGNORECASE)
_FILL_KERNEL = re.compile(r"memset|__amd_rocclr_fillBuffer", re.IGNORECASE)
_MARKS = (b"StreamBeginCapture", b'"capture_')
_LABEL = re.compile(r"capture_(?:\w+?_)??(\d{1,9})(?:_(\w+))?\Z")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Calls:
    """The operators around the launches of a graph, on a clock that ticks at each of their ends.

    `signature` is a place among the signatures of the file. `scopes` are modules around them.
    """

    begin: I64
    duration: I64
    signature: I64
    scopes: "ScopeCalls"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScopeCalls:
    """Calls of modules and named ranges around operators, on the same clock."""

    begin: I64
    duration: I64
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CapturedGraph:
    """One graph: what each launch launches (`UNNAMED` where the trace does not say), and when.

    `tokens` is the size of the batch that it was captured for: as its annotation names it, else the
    rows of most of its matrix products, `None` where there are none;
    `place` counts the graphs of one annotation. `tick` is the time of each launch on the clock of
    `calls`.
    """

    file_name: str
    label: str
    tokens: int | None
    place: int
    nodes: tuple[str, ...]
    tick: I64
    calls: Calls
    signatures: Sequence[Signature]

    @property
    def is_named(self) -> bool:
        """True if kernels can be told by their names."""
        return any(node not in (UNNAMED, COPY_NODE, FILL_NODE) for node in self.nodes)


def node_of(name: str) -> str:
    """The part of a device event's name that is compared."""
    if _COPY_KERNEL.match(name):
        return COPY_NODE
    if _FILL_KERNEL.match(name):
        return FILL_NODE
    return name.removesuffix(".kd")


def has_capture(data: mmap | bytes) -> bool:
    """True for a file with the mark of a graph's capture: a call of the runtime or a name."""
    return any(data.find(mark) >= 0 for mark in _MARKS)


def replays_graphs(trace: Trace) -> bool:
    """True for a trace that launches graphs."""
    return bool((trace.launches["api"] == Api.GRAPH).any())


def captured_graphs(trace: Trace) -> list[CapturedGraph]:
    """Every graph that `trace` records, in order."""
    spans = _spans(trace)
    if not spans:
        return []
    # Launches whose kernel is in the trace: these were not recorded into a graph.
    ran = np.isin(trace.launches["correlation"], np.unique(trace.work["correlation"]))
    labels = [_label(trace, begin, end) for begin, end, _ in spans]
    graphs = []
    for k, (span, label) in enumerate(zip(spans, labels, strict=True)):
        graph = _graph(trace, span, ran, label, labels[:k].count(label))
        if len(graph.nodes):
            graphs.append(graph)
    return graphs


Span = tuple[int, int, int | None]
"""When a capture began and ended, in ns, and on which thread; `None` is any."""


def _spans(trace: Trace) -> list[Span]:
    """From the calls that begin and end a capture, else from annotations."""
    launches = trace.launches
    at = np.flatnonzero((launches["api"] == Api.CAPTURE) | (launches["api"] == Api.CAPTURED))
    order = at[np.lexsort((launches["begin"][at], launches["thread"][at]))].tolist()
    spans: list[Span] = []
    for at_launch, following in pairwise(order):
        thread = int(launches["thread"][at_launch])
        is_pair = (
            launches["api"][at_launch] == Api.CAPTURE and launches["api"][following] == Api.CAPTURED
        )
        if is_pair and thread == launches["thread"][following]:
            begin, end = int(launches["begin"][at_launch]), int(launches["begin"][following])
            spans.append((begin, end, thread))
    if spans:
        return sorted(spans, key=lambda span: span[:2])
    return [
        (annotation.begin_ns, annotation.end_ns, None)
        for annotation in sorted(trace.annotations, key=lambda mark: mark.begin_ns)
        if _LABEL.match(annotation.name)
    ]


def _label(trace: Trace, begin: int, end: int) -> str:
    """The innermost annotation of a capture around a span."""
    around = [
        annotation
        for annotation in trace.annotations
        if annotation.begin_ns <= begin
        and end <= annotation.end_ns
        and _LABEL.match(annotation.name)
    ]
    return min(around, key=lambda mark: mark.end_ns - mark.begin_ns).name if around else ""


def _graph(trace: Trace, span: Span, ran: Bools, label: str, place: int) -> CapturedGraph:
    begin, end, thread = span
    launches = trace.launches
    is_node = np.isin(launches["api"], (Api.KERNEL, Api.COPY, Api.FILL)) & ~ran
    inside = is_node & (launches["begin"] >= begin) & (launches["begin"] <= end)
    if thread is not None:
        inside &= launches["thread"] == thread
    at = np.flatnonzero(inside)
    at = at[np.argsort(launches["begin"][at], kind="stable")]
    nodes = tuple(_node(trace, k) for k in at.tolist())
    calls, tick = _calls(trace, at, nodes)
    match = _LABEL.match(label)
    return CapturedGraph(
        file_name=trace.file_name,
        label=label,
        tokens=int(match.group(1)) if match else _rows(trace, calls),
        place=place,
        nodes=nodes,
        tick=tick,
        calls=calls,
        signatures=trace.signatures,
    )


def _rows(trace: Trace, calls: Calls) -> int | None:
    """Rows of the left factor in most matrix products: the tokens of a language model's step."""
    counts = Counter[int]()
    places, times = np.unique(calls.signature, return_counts=True)
    for place, count in zip(places.tolist(), times.tolist(), strict=True):
        rows = product_rows(trace.signatures[place].inputs)
        if rows:
            counts[rows] += count
    return max(counts, key=lambda rows: (counts[rows], rows), default=None)


def _node(trace: Trace, launch: int) -> str:
    api = Api(int(trace.launches["api"][launch]))
    if api is not Api.KERNEL:
        return COPY_NODE if api is Api.COPY else FILL_NODE
    kernel = int(trace.launches["kernel"][launch])
    return node_of(trace.names[kernel]) if kernel >= 0 else UNNAMED


def _calls(trace: Trace, at: I64, nodes: Sequence[str]) -> tuple[Calls, I64]:
    """The operators around the launches `at`, on a clock of their own, and when each launched.

    A launch with a work of its own gets a call of its own, which lasts no time.
    """
    operators, launched = trace.operators, np.array(trace.launches["begin"][at])
    around, inside = _around(trace, operators, at)
    _, scopes = _around(trace, trace.scopes, at)
    begin, scope_begin = operators["begin"][inside], trace.scopes["begin"][scopes]
    end, scope_end = (
        spans["begin"][rows] + spans["duration"][rows]
        for spans, rows in ((operators, inside), (trace.scopes, scopes))
    )
    ticks = np.unique(np.concatenate([begin, end, launched, scope_begin, scope_end]))
    first, tick = np.searchsorted(ticks, begin), np.searchsorted(ticks, launched)
    scope_first = np.searchsorted(ticks, scope_begin)
    own = inner_calls(trace, nodes, around)
    places = np.array(list(own), np.int64)
    numbers = _numbers(trace, own.values())
    signature = np.array(operators["signature"][inside], np.int64)
    _note_stacks(trace, at, around, dict(zip(places.tolist(), numbers.tolist(), strict=True)))
    calls = Calls(
        begin=np.concatenate([first, tick[places]]),
        duration=np.concatenate([np.searchsorted(ticks, end) - first, np.zeros_like(places)]),
        signature=np.concatenate([signature, numbers]),
        scopes=ScopeCalls(
            begin=scope_first,
            duration=np.searchsorted(ticks, scope_end) - scope_first,
            names=tuple(trace.names[k] for k in trace.scopes["name"][scopes].tolist()),
        ),
    )
    return calls, tick


def _around(trace: Trace, spans: Columns, at: I64) -> tuple[I32, I64]:
    """The innermost of these spans around each launch, and all that are around any."""
    parent, around, _ = nest(
        **spans.spans,
        point_ns=trace.launches["begin"][at],
        point_thread=trace.launches["thread"][at],
    )
    return around, _with_outer(np.unique(around[around >= 0]), parent)


def _note_stacks(trace: Trace, at: I64, around: I32, own: Mapping[int, int]) -> None:
    """Give the signature of each launch's call the stack of its first launch."""
    launches = trace.launches
    stacks = Stacks(trace, point_ns=launches["begin"][at], point_thread=launches["thread"][at])
    for place, (operator, frame) in enumerate(
        zip(around.tolist(), stacks.frame.tolist(), strict=True)
    ):
        stack = stacks.of(frame)
        if not stack or (operator < 0 and place not in own):
            continue
        signature = own[place] if place in own else int(trace.operators["signature"][operator])
        if not trace.signatures[signature].stack:
            trace.signatures[signature] = replace(trace.signatures[signature], stack=stack)


def _numbers(trace: Trace, signatures: Collection[Signature]) -> I64:
    """Place of each new signature among those of the trace, one per label."""
    places = {signature.label: k for k, signature in enumerate(trace.signatures)}
    for added in signatures:
        if places.setdefault(added.label, len(trace.signatures)) == len(trace.signatures):
            trace.signatures.append(added)
    return np.array([places[signature.label] for signature in signatures], np.int64)


def _with_outer(operators: I32, parent: I32) -> I64:
    """These operators and all around them."""
    is_kept = np.zeros(len(parent), np.bool_)
    while len(operators):
        is_kept[operators] = True
        outer = np.unique(parent[operators])
        operators = outer[(outer >= 0) & ~is_kept[outer]]
    return np.flatnonzero(is_kept)


# aiter runs its two-dimensional kernel for layers with a window, and for all if lengths are short;
# beside the other kernel it is that of windowed layers. (`use_2d_kernel`, aiter 2026.)
_WINDOWED, _FULL = "kernel_unified_attention_2d", "kernel_unified_attention_3d"
# By query heads per head of keys and by depth: gpt-oss, `sliding_window` in its config.json.
_WINDOWS = {(8, 64): 128}
_EXPERTS = frozenset({"vllm::moe_forward", "vllm::moe_forward_shared"})
_SUM = "_finalize_matmul_scatter"


def inner_calls(trace: Trace, nodes: Sequence[str], operators: I32) -> dict[int, Signature]:
    """The calls that the launches of a graph make by themselves, by their places: `nodes` are what
    they launch, `operators` the innermost around each (-1: none)."""
    result = _windowed(trace, nodes, operators)
    routings: dict[int, Routing | None] = {}
    for place, (node, operator) in enumerate(zip(nodes, operators.tolist(), strict=True)):
        if operator < 0 or not node.startswith("_"):
            continue
        outer = trace.signatures[int(trace.operators["signature"][operator])]
        if outer.operator not in _EXPERTS:
            continue
        if operator not in routings:
            routings[operator] = _routing(trace, operator, outer)
        routing = routings[operator]
        call = _product(node, outer, routing) if routing else None
        if call is not None:
            result[place] = call
    return result


def _windowed(trace: Trace, nodes: Sequence[str], operators: I32) -> dict[int, Signature]:
    """Attention of layers with a window; its work is unknown where the window is."""
    if not {_WINDOWED, _FULL} <= set(nodes):
        return {}
    result = {}
    for place, (node, operator) in enumerate(zip(nodes, operators.tolist(), strict=True)):
        if node != _WINDOWED or operator < 0:
            continue
        outer = trace.signatures[int(trace.operators["signature"][operator])]
        if names_a_layer(outer.operator):
            result[place] = _of_window(outer)
    return result


def _of_window(outer: Signature) -> Signature:
    inputs = outer.inputs
    query, key = (inputs.tensor(0), inputs.tensor(1)) if inputs else (None, None)
    window = None
    if query is not None and key is not None and len(query.shape) == len(key.shape) == 3:
        per_head = query.shape[1] // max(key.shape[1], 1)
        window = _WINDOWS.get((per_head, query.shape[2]))
    if window is None or outer.ragged is None:
        return replace(outer, label=f"{outer.label} windowed", ragged=None)
    return replace(
        outer,
        label=f"{outer.label} window {window}",
        window=window,
        ragged=replace(outer.ragged, window=window),
    )


def _routing(trace: Trace, operator: int, outer: Signature) -> Routing | None:
    """Sizes of a mixture of experts, from its arguments and the operators inside it."""
    inputs = outer.inputs
    hidden, logits = (inputs.tensor(0), inputs.tensor(1)) if inputs else (None, None)
    if hidden is None or logits is None or len(hidden.shape) != 2 or len(logits.shape) != 2:
        return None
    tokens, width = hidden.shape
    inside = _inside(trace, operator)
    chosen = _chosen(inside, tokens)
    inner = _inner(inside, tokens * chosen) if chosen else None
    if not chosen or not inner or logits.shape[0] != tokens:
        return None
    return Routing(tokens=tokens, width=width, experts=logits.shape[1], chosen=chosen, inner=inner)


def _inside(trace: Trace, operator: int) -> list[Signature]:
    operators = trace.operators
    begin, lasts = int(operators["begin"][operator]), int(operators["duration"][operator])
    inside = (
        (operators["thread"] == operators["thread"][operator])
        & (operators["begin"] >= begin)
        & (operators["begin"] <= begin + lasts)
    )
    return [trace.signatures[k] for k in np.unique(operators["signature"][inside]).tolist()]


def _chosen(inside: Sequence[Signature], tokens: int) -> int | None:
    """Experts per token: what sorts the tokens has a row per token and a column per choice."""
    for signature in inside:
        first = (
            signature.inputs.tensor(0)
            if signature.inputs and signature.operator == "SortTokens"
            else None
        )
        if first is not None and len(first.shape) == 2 and first.shape[0] == tokens:
            return first.shape[1]
    return None


def _inner(inside: Sequence[Signature], rows: int) -> int | None:
    """Width between the two products: of the room that is made for it, one row per choice."""
    for signature in inside:
        sizes = (
            signature.inputs.whole_numbers(0)
            if signature.inputs and signature.operator == "aten::empty"
            else []
        )
        if len(sizes) == 3 and sizes[:2] == [1, rows]:
            return sizes[2]
    return None


def _product(node: str, outer: Signature, routing: Routing) -> Signature | None:
    grouped = grouped_product(node, routing)
    if grouped is not None:
        return replace(
            outer,
            label=f"{outer.operator} {grouped.label}",
            flop=grouped.flop,
            moved_bytes=grouped.moved_bytes,
            weight_bytes=grouped.touched.weight_bytes,
            touched=grouped.touched,
            is_uncountable=False,
        )
    hidden = outer.inputs.tensor(0) if outer.inputs else None
    item = hidden.item_bytes if hidden is not None else None
    if not node.startswith(_SUM) or item is None:
        return None
    rows = routing.tokens * (routing.chosen + 1)
    return replace(
        outer,
        label=f"{outer.operator} sum of {routing.chosen} [{routing.tokens}x{routing.width}]",
        moved_bytes=rows * routing.width * item,
    )
