"""The estimate of a measured op: its form, filled in from the op's name, tensors and counted work.

Where the tensors do not settle the form, nothing is filled in: a stride is found by the counted
FLOPs, and so is a product, whose FLOPs follow from the element counts of its three tensors.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import isqrt, prod, sqrt

from roofline.errors import BadViewError
from roofline.estimate.forms import Filled, filled
from roofline.estimate.ops import OPS
from roofline.model.tensors import TORCH_PRODUCTS, Tensor, product_of, tensors_of


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredOp:
    """An op of a profile. `operands` and `results` are tensors in XLA's notation, such as
    `bf16[8,128]{1,0}`; `flop` is that of one call, `group_size` the ranks of a collective, both
    `None` where they are not known."""

    name: str
    category: str
    operands: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    flop: float | None = None
    group_size: int | None = None


_TYPES = {
    "bf16": "bf16",
    "f16": "fp16",
    "f32": "fp32",
    "f64": "fp64",
    "s8": "int8",
    "u8": "int8",
    "s4": "int4",
    "u4": "int4",
}
_NEAR = 0.02


def form_of_op(op: MeasuredOp) -> Filled | None:
    """The form with the op's own sizes and element types; `None` where they are not known."""
    operands, results = (list(tensors_of("; ".join(texts))) for texts in (op.operands, op.results))
    operator = op.name.partition(" ")[0]
    if "backward" in operator:
        return None
    for fits, build in _KINDS:
        if fits(op, operator):
            given = build(op, operands, results)
            return None if given is None else _filled(given)
    return None


def _filled(given: Mapping[str, object]) -> Filled | None:
    texts = {key: str(value) for key, value in given.items() if value is not None}
    form = filled(texts["op"], texts)
    try:
        OPS[form.op].work(OPS[form.op].read(form.shape), form.options)
    except BadViewError:  # an empty tensor, for example
        return None
    return form


def _type(tensor: Tensor) -> str | None:
    return "fp8" if tensor.dtype.startswith("f8") else _TYPES.get(tensor.dtype)


Given = dict[str, object]
Build = Callable[[MeasuredOp, list[Tensor], list[Tensor]], Given | None]


def _agrees(op: MeasuredOp, flop: float) -> bool:
    """Whether the counted FLOPs are these."""
    return op.flop is not None and abs(op.flop - flop) <= _NEAR * flop


# ------------------------------------------------------------------------------------ products


def _torch_product(op: MeasuredOp, *_: list[Tensor]) -> Given | None:
    """Shapes as PyTorch's operators take them; the matrices are the last two operands."""
    product = product_of(op.name, "; ".join(op.operands))
    if product is None:
        return None
    sizes = product.batch, product.m, product.k, product.n
    return _matmul(product.first, product.second, None, sizes)


def _xla_product(op: MeasuredOp, operands: list[Tensor], results: list[Tensor]) -> Given | None:
    """Two tensors and their product, told by element counts and the FLOPs.

    A, B and C have batch·m·k, batch·k·n and batch·m·n elements, so batch = 4·A·B·C / FLOPs².
    """
    wide = [one for one in operands if len(one.shape) > 1]
    if len(wide) != 2 or len(operands) != 2 or len(results) != 1 or not op.flop:
        return None
    (first, second), out = wide, results[0]
    a, b, c = first.elements, second.elements, out.elements
    batch = round(4 * a * b * c / op.flop**2)
    if not c or not batch or not _agrees(op, 2 * sqrt(a * b * c / batch)):
        return None
    k = isqrt(a * b // (c * batch))
    m, n = a // max(k * batch, 1), b // max(k * batch, 1)
    if not k or (batch * m * k, batch * k * n, batch * m * n) != (a, b, c):
        return None
    return _matmul(first, second, out, (batch, m, k, n))


def _matmul(
    first: Tensor, second: Tensor, out: Tensor | None, sizes: tuple[int, int, int, int]
) -> Given | None:
    dtype, weights = _type(first), _type(second)
    if dtype is None or weights is None:
        return None
    written = dtype if out is None else _type(out)
    batch, m, k, n = sizes
    return {
        "op": "matmul",
        "batch": batch,
        "m": m,
        "k": k,
        "n": n,
        "dtype": dtype,
        "weights": weights if weights != dtype else None,
        "out_dtype": written if written != dtype else None,
    }


def _convolution(op: MeasuredOp, operands: list[Tensor], _: list[Tensor]) -> Given | None:
    """Images and filters, channels first; the stride is the one whose FLOPs were counted."""
    found = [one for one in operands if len(one.shape) == 4][:2]
    if len(found) < 2 or _type(found[0]) is None or not all(found[1].shape):
        return None
    (batch, channels, height, width), (filters, each, *kernel) = found[0].shape, found[1].shape
    if not each or channels % each:
        return None
    given: Given = {
        "op": "convolution",
        "batch": batch,
        "height": height,
        "width": width,
        "channels": channels,
        "filters": filters,
        "kernel_height": kernel[0],
        "kernel_width": kernel[1],
        "groups": channels // each,
        "dtype": _type(found[0]),
    }
    for stride in (1, 2, 4):
        for padding in ("same", "valid"):
            tried = {**given, "stride": stride, "padding": padding}
            form = _filled(tried)
            if form and _agrees(op, OPS[form.op].work(_shape(form), form.options).matrix_flop):
                return tried
    return None


def _shape(form: Filled) -> tuple[int, ...]:
    return OPS[form.op].read(form.shape)


def _attention(op: MeasuredOp, operands: list[Tensor], _: list[Tensor]) -> Given | None:
    """Queries, keys and values; causal where the counted FLOPs are those of half of the pairs."""
    found = [one for one in operands if len(one.shape) == 4][:3]
    if len(found) < 3 or _type(found[0]) is None:
        return None
    (query, key), is_flash = found[:2], "_flash_attention" in op.name.partition("[")[0]
    tokens, heads = (1, 2) if is_flash and "scaled_dot" not in op.name else (2, 1)
    given: Given = {
        "op": "attention",
        "sequences": query.shape[0],
        "heads": query.shape[heads],
        "tokens": query.shape[tokens],
        "head": query.shape[3],
        "kv_heads": key.shape[heads],
        "context": key.shape[tokens] if key.shape[tokens] != query.shape[tokens] else None,
        "dtype": _type(query),
    }
    causal = _filled({**given, "causal": "yes"})
    halved = causal and OPS["attention"].work(_shape(causal), causal.options).matrix_flop
    return {**given, "causal": "yes"} if halved and _agrees(op, halved) else given


# ------------------------------------------------------------------------------- the other kinds


def _norm(op: MeasuredOp, operands: list[Tensor], _: list[Tensor]) -> Given | None:
    if not operands or len(operands[0].shape) < 2 or _type(operands[0]) is None:
        return None
    *rows, hidden = operands[0].shape
    given: Given = {"rows": prod(rows), "dtype": _type(operands[0])}
    if "softmax" in op.name:
        return {**given, "op": "softmax", "columns": hidden}
    kind = "rms" if "rms" in op.name.casefold() else "layer"
    return {**given, "op": "norm", "hidden": hidden, "kind": kind}


def _elementwise(op: MeasuredOp, operands: list[Tensor], results: list[Tensor]) -> Given | None:
    """As many inputs as have the size of the output; smaller ones are broadcast, and left out."""
    known = [one for one in (*results[:1], *operands) if _type(one) is not None]
    if not known or len(known) < len(operands):
        return None
    whole = results[0] if results else max(known, key=lambda one: one.elements)
    inputs = sum(one.elements == whole.elements for one in operands)
    source = next((one for one in operands if one.elements == whole.elements), whole)
    if not inputs or any(one.elements > whole.elements for one in operands):
        return None
    flop = 0.0 if op.category == _COPY else op.flop
    each = None if flop is None or not whole.elements else flop / whole.elements
    return {
        "op": "elementwise",
        "shape": "x".join(map(str, whole.shape)) or "1",
        "inputs": inputs,
        "flops_per_element": None if each is None else f"{each:.6g}",
        "dtype": _type(source),
        "out_dtype": _type(whole) if _type(whole) != _type(source) else None,
    }


def _reduction(_op: MeasuredOp, operands: list[Tensor], results: list[Tensor]) -> Given | None:
    """Only where the result is known: it says how many elements become one."""
    if not results or not operands or _type(operands[0]) is None:
        return None
    whole, rows = operands[0].elements, results[0].elements
    if not rows or whole % rows or any(one.shape for one in operands[1:]):
        return None
    return {
        "op": "reduction",
        "rows": rows,
        "columns": whole // rows,
        "dtype": _type(operands[0]),
        "out_dtype": _type(results[0]),
    }


def _gather(_op: MeasuredOp, operands: list[Tensor], _: list[Tensor]) -> Given | None:
    tables = [one for one in operands if _type(one) is not None and len(one.shape) == 2]
    indices = [one for one in operands if one.dtype in ("s32", "s64", "u32", "u64")]
    if len(tables) != 1 or len(indices) != 1:
        return None
    return {
        "op": "gather",
        "rows": indices[0].elements,
        "width": tables[0].shape[1],
        "dtype": _type(tables[0]),
    }


_COLLECTIVES = {
    "all-reduce": "all-reduce",
    "all-gather": "all-gather",
    "reduce-scatter": "reduce-scatter",
    "all-to-all": "all-to-all",
    "collective-permute": "permute",
}


def _collective(op: MeasuredOp, operands: list[Tensor], results: list[Tensor]) -> Given | None:
    """The full payload is the larger side; ranks come from the op's groups."""
    name = next(kind for start, kind in _COLLECTIVES.items() if op.category.startswith(start))
    sides = [one for one in (*operands, *results) if one.shape and _type(one) is not None]
    if not sides or (not op.group_size and name != "permute"):
        return None
    payload = max(sides, key=lambda one: one.elements)
    return {
        "op": name,
        "shape": "x".join(map(str, payload.shape)),
        "dtype": _type(payload),
        "ranks": op.group_size,
    }


def _named(*starts: str) -> Callable[[MeasuredOp, str], bool]:
    """Operators of PyTorch by the start of their name."""
    names = tuple(f"aten::{start}" for start in starts)
    return lambda _op, operator: operator.startswith(names)


def _of_category(*words: str) -> Callable[[MeasuredOp, str], bool]:
    return lambda op, _operator: op.category.casefold().startswith(words)


_CONVOLUTIONS = ("cudnn_convolution", "miopen_convolution", "convolution", "_convolution", "conv2d")
_ATTENTION = ("_flash_attention", "_efficient_attention", "_scaled_dot_product", "scaled_dot")
_NORMS = ("native_layer_norm", "layer_norm", "rms_norm", "_fused_rms_norm", "_softmax", "softmax")
_GATHERS = ("index_select", "embedding", "gather")
_ELEMENTWISE = ("elementwise", "loop fusion", "non-fusion elementwise", "activation")
_COPY = "copy"

_KINDS: tuple[tuple[Callable[[MeasuredOp, str], bool], Build], ...] = (
    (lambda _op, operator: operator in TORCH_PRODUCTS, _torch_product),
    (_named(*_CONVOLUTIONS), _convolution),
    (_named(*_ATTENTION), _attention),
    (_named(*_NORMS), _norm),
    (_named(*_GATHERS), _gather),
    (_of_category(*_COLLECTIVES), _collective),
    (_of_category("dot", "convolution", "matmul", "custom-call", "output fusion"), _xla_product),
    (_of_category("reduce", "reduction"), _reduction),
    (_of_category(*_ELEMENTWISE), _elementwise),
    (lambda op, _operator: op.category == _COPY, _elementwise),
)
