"""The groups that each op belongs to: names from the outermost group to the innermost."""

import re
from collections.abc import Callable, Sequence

from roofline.analysis.kernel_names import stem
from roofline.analysis.paths import BACKWARD, FORWARD, RECOMPUTED, op_path
from roofline.analysis.records import RooflineAnalysis
from roofline.analysis.source_frames import own_source
from roofline.model.profile import OpTable
from roofline.presentation.op_names import element_types

Key = tuple[str, ...]
UNKNOWN: Key = ()
OPTIMIZER, OTHER = "optimizer", "other"

_ALTERNATIVES = ";"  # a fused op may have several paths: the first is its own
_BACKWARD_SCOPE = "backward"
_BACKWARD_NAME = re.compile(r"backward", re.IGNORECASE)
_OPTIMIZER = re.compile(
    r"(?:^|[/(_.])(?:optimi[sz]er|optax|adamw?|adafactor|lamb|lion|sgd|apply_(?:updates|gradients))"
    r"(?=$|[/)_.#])",
    re.IGNORECASE,
)
_INSTANCE = re.compile(r"[_.]?\d{1,9}\Z")
_DIFFERENTIATED = ("jvp(", "transpose(")


def op_keys(analysis: RooflineAnalysis, by: str) -> list[Key]:
    """One key per op of `analysis.ops`; empty where the profile does not say. IDLE is a group."""
    table = analysis.profile.ops
    idle = [(analysis.ops.name[op],) for op in range(len(table), len(analysis.ops))]
    return [*_KEYS[by](analysis, range(len(table))), *idle]


def all_keys(analysis: RooflineAnalysis) -> dict[str, list[Key]]:
    """The keys of every grouping."""
    return {by: op_keys(analysis, by) for by in _KEYS}


def scope_of(path: str) -> Key:
    """Modules around an op, without how the framework reached it; its own name is left out."""
    found = op_path(path.partition(_ALTERNATIVES)[0])
    if found is None:
        return UNKNOWN
    inside = found.modules
    return inside[1:] if inside[:1] == (_BACKWARD_SCOPE,) else inside


def module_of(scope: Key) -> Key:
    """The same scope without the numbers of instances: `layer_5/mlp` is `layer/mlp`."""
    classes = (_INSTANCE.sub("", name) for name in scope)
    return tuple(name for name in classes if name)


def instance_level(scope: Key) -> int | None:
    """The outermost level of `scope` that names one of several instances; `None`: none does."""
    return next((level for level, name in enumerate(scope) if _INSTANCE.search(name)), None)


def phases(table: OpTable) -> list[Key]:
    """Forward, backward, recomputed or optimizer, by path and category.

    Where nothing in the profile is another phase, all is forward. Where the paths mark the
    derivative, ops with a path outside it are `other` (JAX), or forward (PyTorch, which marks its
    backward pass alone). Where they do not mark it though there is one, the rest is not known.
    """
    texts = [path.partition(_ALTERNATIVES)[0] for path in table.framework_path]
    certain = [
        _certain(text, category) for text, category in zip(texts, table.category, strict=True)
    ]
    is_jax = any(mark in text for text in texts for mark in _DIFFERENTIATED)
    is_marked = is_jax or any(_is_backward_scope(text) for text in texts)
    if is_jax:
        rest: Key = (OTHER,)
    elif is_marked or not any(certain):
        rest = (FORWARD,)
    else:
        rest = UNKNOWN
    return [
        (phase,) if phase else rest if text else UNKNOWN
        for phase, text in zip(certain, texts, strict=True)
    ]


def _certain(text: str, category: str) -> str:
    """The phase that an op's own path or category says; empty where they say none."""
    if category == OPTIMIZER or _OPTIMIZER.search(text):
        return OPTIMIZER
    found = op_path(text)
    if found is None:
        return ""
    if found.direction in (BACKWARD, RECOMPUTED):
        return found.direction
    if _is_backward_scope(text) or _BACKWARD_NAME.search(found.leaf):
        return BACKWARD
    return FORWARD if "jvp(" in text else ""


def _is_backward_scope(text: str) -> bool:
    return text.startswith(f"{_BACKWARD_SCOPE}/")


def _paths(analysis: RooflineAnalysis, ops: Sequence[int]) -> list[Key]:
    paths = analysis.profile.ops.framework_path
    return [scope_of(paths[op]) for op in ops]


def _modules(analysis: RooflineAnalysis, ops: Sequence[int]) -> list[Key]:
    return [module_of(scope) for scope in _paths(analysis, ops)]


def _sources(analysis: RooflineAnalysis, ops: Sequence[int]) -> list[Key]:
    table = analysis.profile.ops
    places = zip(table.source_file, table.source_line.tolist(), table.source_stack, strict=True)
    inner = list(places)
    own = [_source(*own_source(*one)[:2]) for one in inner]
    # One line of the user's around a model that a library has would be one group of all.
    tells = len(set(own) - {UNKNOWN}) > 1
    return [own[op] if tells else _source(*inner[op][:2]) for op in ops]


def _source(file: str, line: int) -> Key:
    if not file:
        return UNKNOWN
    return (file, f"line {line}") if line >= 0 else (file,)


def _categories(analysis: RooflineAnalysis, ops: Sequence[int]) -> list[Key]:
    return [_known(analysis.ops.category[op]) for op in ops]


def _programs(analysis: RooflineAnalysis, ops: Sequence[int]) -> list[Key]:
    names = analysis.profile.program_names
    numbers = analysis.profile.ops.program_id.tolist()
    return [_known(names.get(numbers[op], "")) for op in ops]


def _kernels(analysis: RooflineAnalysis, ops: Sequence[int]) -> list[Key]:
    return [_known(stem(analysis.ops.name[op])) for op in ops]


def _dtypes(analysis: RooflineAnalysis, ops: Sequence[int]) -> list[Key]:
    table = analysis.profile.ops
    return [_known(", ".join(element_types(table, op))) for op in ops]


def _phases(analysis: RooflineAnalysis, ops: Sequence[int]) -> list[Key]:
    found = phases(analysis.profile.ops)
    return [found[op] for op in ops]


def _bounds(analysis: RooflineAnalysis, ops: Sequence[int]) -> list[Key]:
    codes = analysis.ops.measures.bound.tolist()
    return [(analysis.bound_label(codes[op]),) if codes[op] else UNKNOWN for op in ops]


def _known(name: str) -> Key:
    return (name,) if name else UNKNOWN


_KEYS: dict[str, Callable[[RooflineAnalysis, Sequence[int]], list[Key]]] = {
    "module": _modules,
    "layer": _paths,
    "category": _categories,
    "source": _sources,
    "program": _programs,
    "kernel": _kernels,
    "dtype": _dtypes,
    "phase": _phases,
    "bound": _bounds,
}
