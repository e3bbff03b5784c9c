"""Modules and named ranges around operators: the path of an op as its program is written.

A trace with `with_stack` or `with_modules` has an event per call of a module, as in
`nn.Module: Linear_3`; `record_function` writes annotations. Instances of one class count as one
here, for an op is one row, whichever layer calls it.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from roofline.importers.pytorch.nesting import NOT_FOUND, nest
from roofline.importers.pytorch.rows import RowNumbers, added_up
from roofline.importers.pytorch.trace import Trace
from roofline.model.op_columns import I32, I64, Bools

_MODULE = "nn.Module: "
_INSTANCE = re.compile(r"_\d{1,9}\Z")
# Modules that only hold others: their instances are not alike.
_LIST = re.compile(r"(?:Sequential|ModuleList|ModuleDict)(?:_\d{1,9})?\Z")
_BACKWARD = "autograd::engine::evaluate_function"
_MOST_LEVELS = 64


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scopes:
    """The modules around each operator: a number in `paths` (-1: nothing), and its direction.

    `layer` is the outermost instance of a module with several around it, a place in `layers` (-1:
    none): the path of its class, and its name.
    """

    around: I32
    paths: Sequence[str]
    layer: I32
    layers: Sequence[tuple[str, str]]
    is_backward: Bools

    def path_of(self, number: int, operator: str, *, is_backward: bool) -> str:
        """Scopes from the outermost one, "backward" in a backward pass, and the operator."""
        around = [self.paths[number]] if number >= 0 else []
        return "/".join([*around, *(["backward"] if is_backward else []), operator])


def scopes_of(trace: Trace, parent: I32) -> Scopes:
    """The scopes of all operators of `trace`; `parent` is the operator around each."""
    operators, scopes = trace.operators, trace.scopes
    around = layer = np.full(len(operators), NOT_FOUND, np.int32)
    paths: dict[str, int] = {}
    layers: list[tuple[str, str]] = []
    if len(scopes) and len(operators):
        outer, scope, order = nest(
            begin=scopes["begin"],
            duration=scopes["duration"],
            thread=scopes["thread"],
            point_ns=operators["begin"],
            point_thread=operators["thread"],
        )
        texts = _paths(trace.names, scopes["name"], outer, order)
        number = [paths.setdefault(text, len(paths)) for text in texts]
        around = np.where(scope >= 0, np.array(number, np.int32)[scope], NOT_FOUND)
        of_scope, layers = _layers(trace.names, scopes["name"], outer, order, texts)
        layer = np.where(scope >= 0, of_scope[scope], NOT_FOUND)
    return Scopes(
        around=around.astype(np.int32),
        paths=list(paths),
        layer=layer.astype(np.int32),
        layers=layers,
        is_backward=_is_backward(trace, parent),
    )


def _layers(
    names: Sequence[str], name: I64, outer: I32, order: I32, paths: Sequence[str]
) -> tuple[I32, list[tuple[str, str]]]:
    """The layer that each scope is or lies in, and all of them: see `Scopes`."""
    found: dict[str, set[str]] = defaultdict(set)
    is_layer = [text.startswith(_MODULE) and not _LIST.search(text) for text in names]
    called = name.tolist()
    for at, path in enumerate(paths):
        if is_layer[called[at]]:
            found[path].add(names[called[at]])
    layer, numbers = np.full(len(order), NOT_FOUND, np.int32), dict[tuple[str, str], int]()
    for at in order.tolist():
        around = int(outer[at])
        if around >= 0 and layer[around] >= 0:
            layer[at] = layer[around]
        elif len(found.get(paths[at], ())) > 1 and is_layer[called[at]]:
            key = (paths[at], names[called[at]].removeprefix(_MODULE))
            layer[at] = numbers.setdefault(key, len(numbers))
    return layer, list(numbers)


def note_paths(
    trace: Trace, scopes: Scopes, numbers: RowNumbers, *, row: I64, operator: I64, time_ns: I64
) -> None:
    """Add the time of events, each of a row and an operator, to the paths of the rows."""
    names = [signature.operator for signature in trace.signatures]
    number = {name: k for k, name in enumerate(dict.fromkeys(names))}
    called = np.array([number[name] for name in names], np.int64)
    n_scopes, n_names = len(scopes.paths) + 1, max(len(number), 1)
    key = row * n_scopes + scopes.around[operator].astype(np.int64) + 1
    key = key * n_names + called[trace.operators["signature"][operator]]
    keys, at = np.unique(key * 2 + scopes.is_backward[operator], return_inverse=True)
    time = added_up(at, time_ns, len(keys), trace.file_name)
    texts = list(number)
    for code, ns in zip(keys.tolist(), time.tolist(), strict=True):
        rest, is_backward = divmod(code, 2)
        rest, name = divmod(rest, n_names)
        place, scope = divmod(rest, n_scopes)
        path = scopes.path_of(scope - 1, texts[name], is_backward=bool(is_backward))
        numbers.rows[place].ran_under(path, ns)


def _paths(names: Sequence[str], name: I64, outer: I32, order: I32) -> list[str]:
    """The path of each scope; `order` lists them outside in."""
    shown = [_INSTANCE.sub("", text.removeprefix(_MODULE)) for text in names]
    paths, levels = [""] * len(order), [0] * len(order)
    for at in order.tolist():
        around = int(outer[at])
        inner = shown[int(name[at])]
        levels[at] = levels[around] + 1 if around >= 0 else 1
        is_shown = around >= 0 and levels[at] <= _MOST_LEVELS
        paths[at] = f"{paths[around]}/{inner}" if is_shown else inner
    return paths


def _is_backward(trace: Trace, parent: I32) -> Bools:
    """Operators inside a node of autograd's graph; ancestors are looked up by doubling."""
    starts = [signature.operator.startswith(_BACKWARD) for signature in trace.signatures]
    if not any(starts) or not len(trace.operators):
        return np.zeros(len(trace.operators), np.bool_)
    result = np.array(starts, np.bool_)[trace.operators["signature"]]
    above = parent.astype(np.int64)
    while (above >= 0).any():
        result = result | ((above >= 0) & result[above])
        above = np.where(above >= 0, above[above], NOT_FOUND)
    return result
