"""Modules and named ranges around operators: the path of an op as its program is written.

A trace with `with_stack` or `with_modules` has an event per call of a module, as in
`nn.Module: Linear_3`; `record_function` writes annotations. Instances of one class count as one
here, for an op is one row, whichever layer calls it. The backward pass calls no modules: its
operators belong to the modules around the operator that made their node of autograd's graph.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from roofline.importers.kernels import kernel
from roofline.importers.pytorch.rows import RowNumbers, added_up
from roofline.importers.pytorch.trace import Stacks, Trace, node_of
from roofline.importers.shared.events import in_order
from roofline.importers.shared.nesting import NOT_FOUND, nest, paths_of
from roofline.model.op_columns import I32, I64, Bools

BACKWARD = "backward"
_DIRECTIONS = ("forward", BACKWARD, "recomputed")
_MODULE = "nn.Module: "
_INSTANCE = re.compile(r"_\d{1,9}\Z")
# Modules that only hold others: their instances are not alike.
_LIST = re.compile(r"(?:Sequential|ModuleList|ModuleDict)(?:_\d{1,9})?\Z")
_BACKWARD = "autograd::engine::evaluate_function"
_MOST_THREADS = 64  # of forward passes


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scopes:
    """The modules around each operator: a number in `paths` (-1: nothing), and its direction.

    `layer` is the outermost instance of a module with several around it, a place in `layers` (-1:
    none): the path of its class, its name, and its direction. `frame` is one of `stacks`.
    """

    around: I32
    paths: Sequence[str]
    layer: I32
    layers: Sequence[tuple[str, str, str]]
    is_backward: Bools
    stacks: Stacks
    frame: I32

    def path_of(self, number: int, operator: str, *, is_backward: bool) -> str:
        """ "backward" in a backward pass, scopes from the outermost one, and the operator."""
        around = [self.paths[number]] if number >= 0 else []
        return "/".join([*([BACKWARD] if is_backward else []), *around, operator])


def scopes_of(trace: Trace, parent: I32) -> Scopes:
    """The scopes of all operators of `trace`; `parent` is the operator around each."""
    operators, scopes = trace.operators, trace.scopes
    around = layer = np.full(len(operators), NOT_FOUND, np.int32)
    is_backward, made_by = _is_backward(trace, parent), _inherited(_made_by(trace), parent)
    stacks = Stacks(trace, point_ns=operators["begin"], point_thread=operators["thread"])
    called = np.zeros(len(operators), np.bool_)
    direction = is_backward.astype(np.int32)
    paths: list[str] = []
    layers: list[tuple[str, str]] = []
    if len(scopes) and len(operators):
        outer, scope, order = nest(
            **scopes.spans, point_ns=operators["begin"], point_thread=operators["thread"]
        )
        modules = _flags([text.startswith(_MODULE) for text in trace.names])[scopes["name"]]
        in_module = _inherited(modules, outer) >= 0
        called = np.append(in_module, False)[scope]  # the last one is that of no scope
        direction[is_backward & called] = _DIRECTIONS.index("recomputed")
        forward = _of_forward(scope, made_by)
        joins = is_backward & ~called & np.append(in_module, False)[forward]
        scope = np.where(joins, forward, scope)
        shown = [_INSTANCE.sub("", text.removeprefix(_MODULE)) for text in trace.names]
        number, paths = paths_of(shown, scopes["name"], outer, order)
        around = np.where(scope >= 0, number[scope], NOT_FOUND)
        of_scope, layers = _layers(trace.names, scopes["name"], outer, order, number, paths)
        layer = np.where(scope >= 0, of_scope[scope], NOT_FOUND)
    ways = [(*one, way) for way in _DIRECTIONS for one in layers]
    return Scopes(
        around=around.astype(np.int32),
        paths=paths,
        layer=np.where(layer >= 0, layer + direction * len(layers), layer).astype(np.int32),
        layers=ways,
        is_backward=is_backward,
        stacks=stacks,
        frame=np.where(
            is_backward & ~called & (made_by >= 0), _of_forward(stacks.frame, made_by), stacks.frame
        ),
    )


@kernel("void(int32[], int32[], int32[], int32[])")
def _hand_down(order, outer, own, outermost):  # type: ignore[no-untyped-def]
    for at in order:
        around = outer[at]
        is_inside = around >= 0 and outermost[around] >= 0
        outermost[at] = outermost[around] if is_inside else own[at]


def _layers(
    names: Sequence[str], name: I64, outer: I32, order: I32, path: I64, paths: Sequence[str]
) -> tuple[I32, list[tuple[str, str]]]:
    """The layer that each scope is or lies in, and all of them: see `Scopes`."""
    is_layer = np.array(
        [text.startswith(_MODULE) and not _LIST.search(text) for text in names], np.bool_
    )
    key = path * len(names) + name
    found = np.unique(key[is_layer[name]])
    is_one_of_several = np.bincount(found // len(names), minlength=len(paths)) > 1
    own = np.where(is_layer[name] & is_one_of_several[path], np.arange(len(name)), NOT_FOUND)
    layer = np.full(len(order), NOT_FOUND, np.int32)
    _hand_down(order, outer, own.astype(np.int32), layer)
    heads = order[layer[order] == order]
    keys, number = in_order(*np.unique(key[heads], return_inverse=True))
    of_head = np.full(len(order) + 1, NOT_FOUND, np.int32)
    of_head[heads] = number
    called = [(paths[one // len(names)], names[one % len(names)]) for one in keys.tolist()]
    return of_head[layer], [(one, text.removeprefix(_MODULE)) for one, text in called]


def note_paths(
    trace: Trace, scopes: Scopes, numbers: RowNumbers, *, row: I64, operator: I64, time_ns: I64
) -> None:
    """Add the time of events, each of a row and an operator, to the paths of the rows.

    A path has the stack of its first event.
    """
    names = [signature.operator for signature in trace.signatures]
    number = {name: k for k, name in enumerate(dict.fromkeys(names))}
    called = np.array([number[name] for name in names], np.int64)
    n_scopes, n_names = len(scopes.paths) + 1, max(len(number), 1)
    key = row * n_scopes + scopes.around[operator].astype(np.int64) + 1
    key = key * n_names + called[trace.operators["signature"][operator]]
    keys, first, at = np.unique(
        key * 2 + scopes.is_backward[operator], return_index=True, return_inverse=True
    )
    time = added_up(at, time_ns, len(keys), trace.file_name)
    texts, frames = list(number), scopes.frame[operator[first]].tolist()
    for code, ns, frame in zip(keys.tolist(), time.tolist(), frames, strict=True):
        rest, is_backward = divmod(code, 2)
        rest, name = divmod(rest, n_names)
        place, scope = divmod(rest, n_scopes)
        path = scopes.path_of(scope - 1, texts[name], is_backward=bool(is_backward))
        numbers.rows[place].ran_under(path, ns, scopes.stacks.of(frame))


def _is_backward(trace: Trace, parent: I32) -> Bools:
    """Operators inside a node of autograd's graph."""
    starts = [signature.operator.startswith(_BACKWARD) for signature in trace.signatures]
    if not any(starts) or not len(trace.operators):
        return np.zeros(len(trace.operators), np.bool_)
    return _inherited(_flags(starts)[trace.operators["signature"]], parent) >= 0


def _flags(values: Sequence[bool]) -> I32:
    return np.where(values, 0, NOT_FOUND).astype(np.int32)


def _inherited(values: I32, parent: I32) -> I32:
    """The value of each span or, where it has none, of the nearest around it that has one; those
    around are looked up by doubling."""
    result, above = values.copy(), parent.astype(np.int64)
    while (above >= 0).any():
        takes = (above >= 0) & (result < 0)
        result[takes] = result[above[takes]]
        above = np.where(above >= 0, above[above], NOT_FOUND)
    return result


def _of_forward(around: I32, made_by: I32) -> I32:
    """The scope or call around the operator whose gradient each operator computes."""
    return np.where(made_by >= 0, around[made_by], NOT_FOUND)


def _made_by(trace: Trace) -> I32:
    """The operator that made the node which each operator runs: the last one before it with the
    node's number, on the thread that has most numbers of its forward thread's nodes."""
    operators = trace.operators
    made_by = np.full(len(operators), NOT_FOUND, np.int32)
    sequence, forward = node_of(operators["node"])
    made = np.flatnonzero((operators["node"] >= 0) & (forward == 0))
    made = made[np.lexsort((operators["begin"][made], sequence[made]))]
    thread = operators["thread"][made]
    makers = [made[thread == one] for one in np.unique(thread)[:_MOST_THREADS].tolist()]
    for number in np.unique(forward[forward > 0])[:_MOST_THREADS].tolist():
        nodes = np.flatnonzero((operators["node"] >= 0) & (forward == number))
        found = [_last_before(trace, nodes, one, sequence) for one in makers]
        matches = [int((one >= 0).sum()) for one in found]
        if matches and matches.count(max(matches)) == 1:
            made_by[nodes] = found[matches.index(max(matches))]
    return made_by


def _last_before(trace: Trace, nodes: I64, makers: I64, sequence: I64) -> I64:
    """The last of the makers, in order of their numbers, that made each node before it ran."""
    begin = trace.operators["begin"]
    last = makers[np.searchsorted(sequence[makers], sequence[nodes], side="right") - 1]
    is_made = (sequence[last] == sequence[nodes]) & (begin[last] <= begin[nodes])
    return np.where(is_made, last, NOT_FOUND)
