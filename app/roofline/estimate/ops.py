"""Ops by name: their shapes and options, and the formulas of their work.

Formulas: docs/estimate.md. Every input is read once and every output written once, unless an
option says otherwise.
"""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from itertools import repeat

from roofline.devices.parts import pruned_bytes
from roofline.devices.topology import NetworkChoice, ring_bytes, ring_steps
from roofline.errors import BadViewError
from roofline.model.compute import Precision

_BYTES = {
    "fp64": 8.0,
    "fp32": 4.0,
    "tf32": 4.0,
    "bf16": 2.0,
    "fp16": 2.0,
    "fp8": 1.0,
    "int8": 1.0,
    "fp4": 0.5,
    "int4": 0.5,
    # Blocks of 16 values with a scale of one byte; blocks of 32 with one of one byte.
    "nvfp4": 0.5 + 1 / 16,
    "mxfp4": 0.5 + 1 / 32,
}
_ALSO = {"f64": "fp64", "f32": "fp32", "float32": "fp32", "float16": "fp16", "bfloat16": "bf16"}
_PRECISIONS = {"nvfp4": "fp4", "mxfp4": "fp4"}
# A group of quantised values carries a scale and a zero point of two bytes each, a square block one
# scale of four.
_SCALE_BYTES = 4
_KEPT = 256
_GROUPED = re.compile(r"(?P<name>[a-z0-9]+):(?P<form>[gb])(?P<size>[1-9]\d{0,8})")


@lru_cache(_KEPT)
def bytes_per_element(name: str) -> float:
    """Bytes of one element of type `name`, its share of a group's scales included.

    "int4:g128" is int4 in groups of 128, "fp8:b128" fp8 in blocks of 128 by 128. `BadViewError`
    names the known types.
    """
    grouped = _GROUPED.fullmatch(name.strip().casefold())
    if grouped:
        values = int(grouped["size"]) ** (2 if grouped["form"] == "b" else 1)
        return _BYTES[_known(grouped["name"])] + _SCALE_BYTES / values
    return _BYTES[_known(name)]


def sparse_ratio(name: str) -> float:
    """Bytes of weights of this type pruned to 2 of 4 over the dense ones."""
    size = bytes_per_element(name)
    return pruned_bytes(size) / size


def precision_of(name: str) -> Precision:
    """The precision in which elements of this type are multiplied."""
    base = _known(name.partition(":")[0])
    return Precision(_PRECISIONS.get(base, base))


def _known(name: str) -> str:
    spelled = name.strip().casefold()
    spelled = _ALSO.get(spelled, spelled)
    if spelled not in _BYTES:
        raise BadViewError(
            f'"{name}" is not an element type.',
            remedy=f"Name one of: {', '.join(_BYTES)}; int4:g128 has groups of 128, "
            "fp8:b128 blocks of 128 by 128.",
        )
    return spelled


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """The work of one call of an op.

    `matrix_flop` are those of the matrix unit, `vector_flop` of the vector unit. `tensors` are the
    bytes that cross the main memory, each input read and each output written once. `link_bytes`
    cross a link, in one direction per device, in `link_steps` steps, of `payload_bytes` in all.
    `exp_ops` are exponentials.
    """

    matrix_flop: float = 0.0
    vector_flop: float = 0.0
    tensors: Mapping[str, float] = field(default_factory=dict)
    link_bytes: float = 0.0
    link_steps: int = 0
    payload_bytes: float = 0.0
    exp_ops: float = 0.0

    @property
    def memory_bytes(self) -> float:
        """Bytes of all tensors."""
        return sum(self.tensors.values())


Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(NetworkChoice):
    """The choices beside the shape; element types by name, `None` for the default.

    `context` counts the new tokens too; a collective has those of the network.
    `threads` are those that run at once, each with `loads_in_flight` loads of `load_bytes`.
    `tile` is the block of a product's output that one processor computes, "128x128" or with its
    depth; `sparse` weights are pruned to 2 of 4; `stride`, `groups` and `padding` (same, valid) are
    a convolution's, `ops` a chain's.
    """

    dtype: str = "bf16"
    weights: str | None = None
    out_dtype: str | None = None
    kv_dtype: str | None = None
    compute: str | None = None
    flops_per_element: float = 1.0
    inputs: int = 1
    kind: str = "layer"
    passes: int = 2
    kv_heads: int | None = None
    context: int | None = None
    window: int | None = None
    causal: bool = False
    flash: bool = True
    ranks: int = 2
    tile: str | None = None
    stride: int = 1
    groups: int = 1
    padding: str = "same"
    ops: int = 2
    sparse: bool = False
    threads: int | None = None
    load_bytes: float = 16.0
    loads_in_flight: int = 1

    def size(self, name: str | None = None) -> float:
        """Bytes per element of the type `name`, or of the op's own."""
        return bytes_per_element(name or self.dtype)

    def __post_init__(self) -> None:
        for one in fields(self):
            value = getattr(self, one.name)
            if isinstance(value, int | float) and not 0 <= value < math.inf:
                raise BadViewError(
                    f"The option {one.name} has a value that it cannot have.",
                    remedy="Numbers are not negative.",
                )

    @property
    def out_size(self) -> float:
        """Bytes per element of the output."""
        return self.size(self.out_dtype)


@dataclass(frozen=True, slots=True, kw_only=True)
class Op:
    """One op: how its shape is written, and its work. `counts` are the numbers a shape may have."""

    form: str
    counts: tuple[int, ...]
    work: Callable[[Shape, Options], Work] = field(repr=False)
    is_collective: bool = False

    def read(self, text: str) -> Shape:
        """The shape `text`, such as "8192x4096x4096"; `BadViewError` names the expected form."""
        pieces = text.strip().casefold().split("x")
        if not all(map(is_size, pieces)):
            raise self._bad_shape(text)
        if self.counts and len(pieces) not in self.counts:
            raise self._bad_shape(text)
        return tuple(map(int, pieces))

    def _bad_shape(self, text: str) -> BadViewError:
        return BadViewError(
            f'The shape "{text.strip()[:_MOST_SHOWN]}" cannot be read.',
            remedy=f"Write {self.form}: positive whole numbers joined by x.",
        )


_MOST_DIGITS = 15
_MOST_SHOWN = 60


def is_size(piece: str) -> bool:
    """A positive whole number that a tensor may have."""
    is_number = piece.isascii() and piece.isdigit() and len(piece) <= _MOST_DIGITS
    return is_number and int(piece) > 0


def _matmul(shape: Shape, options: Options) -> Work:
    batch, m, k, n = shape if len(shape) == 4 else (1, *shape)
    return Work(
        matrix_flop=2 * batch * m * k * n,
        tensors={
            "a": batch * m * k * options.size(),
            "b": batch * k * n * options.size(options.weights),
            "out": batch * m * n * options.out_size,
        },
    )


def _distributed_matmul(shape: Shape, options: Options) -> Work:
    """Each chip contracts its part of D; an all-reduce adds the partial products."""
    b, d, f = shape
    reduce = _ring("all-reduce", b * f * options.out_size, options.ranks)
    return Work(
        matrix_flop=2 * b * d * f / options.ranks,
        tensors={
            "a": b * d / options.ranks * options.size(),
            "b": d * f / options.ranks * options.size(options.weights),
            "out": b * f * options.out_size,
        },
        link_bytes=reduce.link_bytes,
        link_steps=reduce.link_steps,
    )


def _convolution(shape: Shape, options: Options) -> Work:
    batch, height, width, channels, filters, *kernel = shape
    if not options.groups or channels % options.groups or filters % options.groups:
        raise BadViewError(
            "The channels cannot be divided into these groups.",
            remedy="Channels and filters are multiples of --groups.",
        )
    pixels = batch * math.prod(
        tuple(map(_windows, (height, width), kernel, repeat((options.stride, options.padding))))
    )
    taps = channels // options.groups * math.prod(tuple(kernel))
    return Work(
        matrix_flop=2 * pixels * filters * taps,
        tensors={
            "in": batch * height * width * channels * options.size(),
            "weights": filters * taps * options.size(options.weights),
            "out": pixels * filters * options.out_size,
        },
    )


def _windows(size: int, kernel: int, moved: tuple[int, str]) -> int:
    """Places of a kernel along one side of the input."""
    stride, padding = moved
    if padding not in ("same", "valid") or not stride:
        raise BadViewError(
            "The padding or the stride of the convolution is not one that it can have.",
            remedy="Choose --padding same or valid, and a --stride of 1 or more.",
        )
    if padding == "valid" and kernel > size:
        raise BadViewError("The kernel is larger than the input.", remedy="Choose --padding same.")
    room = size if padding == "same" else size - kernel + 1
    return -(-room // stride)


_INDEX_BYTES = 4


def _gather(shape: Shape, options: Options) -> Work:
    rows, width = shape
    return Work(
        tensors={
            "rows": rows * width * options.size(),
            "indices": rows * _INDEX_BYTES,
            "out": rows * width * options.out_size,
        }
    )


def _chain(shape: Shape, options: Options) -> Work:
    """A chain of elementwise ops in one kernel: tensors between them stay on the chip."""
    single = _elementwise(shape, options)
    return replace(single, vector_flop=single.vector_flop * options.ops)


def _dot(shape: Shape, options: Options) -> Work:
    (n,) = shape
    size = options.size()
    return Work(
        vector_flop=2 * n - 1, tensors={"a": n * size, "b": n * size, "out": options.out_size}
    )


def _elementwise(shape: Shape, options: Options) -> Work:
    n = math.prod(shape)
    return Work(
        vector_flop=n * options.flops_per_element,
        tensors={"in": n * options.inputs * options.size(), "out": n * options.out_size},
    )


_NORM_FLOPS = {"layer": 10, "rms": 4}


def _norm(shape: Shape, options: Options) -> Work:
    rows, hidden = shape
    if options.kind not in _NORM_FLOPS:
        raise BadViewError(
            f'"{options.kind}" is not a kind of norm.', remedy="Choose layer or rms."
        )
    n, is_layer = rows * hidden, options.kind == "layer"
    reads = options.passes if is_layer else 1
    weights = (2 if is_layer else 1) * hidden
    return Work(
        vector_flop=_NORM_FLOPS[options.kind] * n,
        tensors={
            "in": reads * n * options.size(),
            "weights": weights * options.size(options.weights),
            "out": n * options.out_size,
        },
    )


def _reduction(shape: Shape, options: Options) -> Work:
    """Each row becomes one number."""
    rows, columns = shape
    return Work(
        vector_flop=rows * max(columns - 1, 0),
        tensors={"in": rows * columns * options.size(), "out": rows * options.out_size},
    )


def _softmax(shape: Shape, options: Options) -> Work:
    n = math.prod(shape)
    return Work(
        exp_ops=n,
        vector_flop=5 * n,
        tensors={"in": n * options.size(), "out": n * options.out_size},
    )


def _attention(shape: Shape, options: Options) -> Work:
    batch, heads, tokens, head = shape
    context = options.context or tokens
    kv_heads = options.kv_heads or heads
    if context < tokens:
        raise BadViewError(
            "The context is shorter than the new tokens.",
            remedy="--context counts the new tokens too.",
        )
    pairs, keys = _pairs(tokens, context, options), _keys(tokens, context, options)
    query = batch * tokens * heads * head
    key = batch * keys * kv_heads * head
    scores = 0.0 if options.flash else 4 * batch * heads * tokens * context * options.size()
    tensors = {
        "query": query * options.size(),
        "key": key * options.size(options.kv_dtype),
        "value": key * options.size(options.kv_dtype),
        "out": query * options.out_size,
    }
    return Work(
        matrix_flop=4 * batch * heads * head * pairs,
        vector_flop=5 * batch * heads * pairs,
        exp_ops=batch * heads * pairs,
        tensors={**tensors, "scores": scores} if scores else tensors,
    )


def _pairs(tokens: int, context: int, options: Options) -> int:
    """Pairs of a query and a key, per sequence and head."""
    cached = context - tokens
    if options.window:
        # Tokens whose window reaches back to the first key see all; the others see the window.
        growing = max(min(tokens, options.window - cached), 0)
        return growing * cached + growing * (growing + 1) // 2 + (tokens - growing) * options.window
    if options.causal:
        return tokens * cached + tokens * (tokens + 1) // 2
    return tokens * context


def _keys(tokens: int, context: int, options: Options) -> int:
    """Keys that are read, per sequence."""
    return min(context, options.window + tokens - 1) if options.window else context


def _collective(name: str) -> Callable[[Shape, Options], Work]:
    def work(shape: Shape, options: Options) -> Work:
        return _ring(name, math.prod(shape) * options.size(), options.ranks)

    return work


def _ring(name: str, payload: float, ranks: int) -> Work:
    """The bytes and steps of one device of a ring; `payload` are the bytes of the full tensor."""
    if ranks < 1:
        raise BadViewError("A collective has ranks.", remedy="Give --ranks 2 or more.")
    return Work(
        link_bytes=ring_bytes(name, payload, ranks),
        link_steps=ring_steps(name, ranks),
        payload_bytes=payload,
    )


OPS: Mapping[str, Op] = {
    "matmul": Op(form="MxKxN, or BATCHxMxKxN", counts=(3, 4), work=_matmul),
    "distributed-matmul": Op(form="BxDxF", counts=(3,), work=_distributed_matmul),
    "convolution": Op(
        form="BATCHxHEIGHTxWIDTHxCHANNELSxFILTERSxKERNEL_HEIGHTxKERNEL_WIDTH",
        counts=(7,),
        work=_convolution,
    ),
    "gather": Op(form="ROWSxWIDTH", counts=(2,), work=_gather),
    "chain": Op(form="any shape, such as 4096x8192", counts=(), work=_chain),
    "dot": Op(form="N", counts=(1,), work=_dot),
    "elementwise": Op(form="any shape, such as 4096x8192", counts=(), work=_elementwise),
    "norm": Op(form="ROWSxHIDDEN", counts=(2,), work=_norm),
    "softmax": Op(form="ROWSxCOLUMNS", counts=(2,), work=_softmax),
    "reduction": Op(form="ROWSxCOLUMNS", counts=(2,), work=_reduction),
    "attention": Op(form="SEQUENCESxHEADSxTOKENSxHEAD_SIZE", counts=(4,), work=_attention),
    **{
        name: Op(
            form="the shape of the full payload",
            counts=(),
            work=_collective(name),
            is_collective=True,
        )
        for name in ("all-reduce", "all-gather", "reduce-scatter", "all-to-all", "permute")
    },
}


def least(holds: Callable[[int], bool], most: int, start: int = 1) -> int | None:
    """The least number from `start` to `most` at which `holds`, which then stays so."""
    high = start
    while not holds(high):
        if high >= most:
            return None
        high = min(2 * high, most)
    low = high // 2 if high > start else start - 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
