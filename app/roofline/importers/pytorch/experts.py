"""Mixtures of experts: what the tokens that are routed cost, and which weights they may touch.

Each of R tokens goes to k of E experts, so the products have R k rows, whatever the routing. The
weights of an expert are read once if any token goes to it. Which ones those are is data: between
min(E, k) and min(E, R k), and E (1 - (1 - k/E)^R) with equal chances, which is what counts here.
Argument places are those of the bindings of vLLM, SGLang and aiter, and of Triton's kernels.
"""

import re
from dataclasses import dataclass

from roofline.importers.pytorch.inputs import Family, Inputs, Tensor, known_as, total_bytes

# Bytes per weight by the names of Triton's kernels: 4 bits and one byte of scale per 32 (mxfp4).
_WEIGHT_BYTES = {"mxfp4": 17 / 32, "bf16": 2.0, "fp16": 2.0, "fp8e4nv": 1.0, "fp8e5": 1.0}
_ACTIVATION_BYTES = {"bf16": 2, "fp16": 2, "fp32": 4, "fp8e4nv": 1, "fp8e5": 1}
_GROUPED = re.compile(r"_(?:p_)?matmul_ogs_[A-Z]+_(\w+?)x(\w+?)x(\w+?)_\d+x\d+x\d+x\d+(_swiglu)?")
_HIDDEN, _UP, _DOWN, _CHOICE = 0, 1, 2, 4
_FUSED = frozenset(
    {
        "vllm::inplace_fused_experts",
        "vllm::outplace_fused_experts",
        "vllm::rocm_aiter_fused_moe",
        "sglang::inplace_fused_experts",
        "sglang::outplace_fused_experts",
        "aiter::fused_moe",
        "aiter::fused_moe_",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Touched:
    """How many of `experts` are read, each `bytes_each` of weights: at least, at most, expected."""

    experts: int
    least: int
    most: int
    expected: float
    bytes_each: int

    @property
    def weight_bytes(self) -> int:
        """With equal chances."""
        return round(self.expected * self.bytes_each)


@dataclass(frozen=True, slots=True, kw_only=True)
class Routing:
    """`tokens` of `width` numbers, each sent to `chosen` of `experts` that are `inner` wide."""

    tokens: int
    width: int
    experts: int
    chosen: int
    inner: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Grouped:
    """One product of all experts: its work, and a label of its shapes."""

    label: str
    flop: int
    moved_bytes: int
    touched: Touched


def touched(experts: int, chosen: int, tokens: int, bytes_each: int) -> Touched:
    """Which experts `tokens` touch that each choose `chosen` of them."""
    untouched = (1 - min(chosen / experts, 1.0)) ** tokens
    return Touched(
        experts=experts,
        least=min(experts, chosen) if tokens else 0,
        most=min(experts, tokens * chosen),
        expected=experts * (1 - untouched),
        bytes_each=bytes_each,
    )


def grouped_product(kernel: str, routing: Routing) -> Grouped | None:
    """One of the two products of Triton's `matmul_ogs`; `None` for other kernels and types.

    With `_swiglu` it is the first, whose halves are multiplied into one on the way out.
    """
    match = _GROUPED.match(kernel)
    if match is None:
        return None
    out, taken, stored, is_first = match.groups()
    weight = _WEIGHT_BYTES.get(stored)
    sizes = _ACTIVATION_BYTES.get(out), _ACTIVATION_BYTES.get(taken)
    if weight is None or sizes[0] is None or sizes[1] is None:
        return None
    rows = routing.tokens * routing.chosen
    inner, columns = (
        (routing.width, 2 * routing.inner) if is_first else (routing.inner, routing.width)
    )
    read = routing.tokens * routing.width if is_first else rows * routing.inner
    written = rows * (routing.inner if is_first else routing.width)
    touched_experts = touched(
        routing.experts, routing.chosen, routing.tokens, round(inner * columns * weight)
    )
    name = "gate and up" if is_first else "down"
    return Grouped(
        label=f"experts {name} [{rows}x{inner}, {routing.experts} of {inner}x{columns}] {stored}",
        flop=2 * rows * inner * columns,
        moved_bytes=read * sizes[1] + written * sizes[0] + touched_experts.weight_bytes,
        touched=touched_experts,
    )


# ------------------------------------------------------------------------------- weights as inputs


@dataclass(frozen=True, slots=True, kw_only=True)
class _Given:
    """The arguments of experts in one call: hidden [R, D], w1 [E, N, D], w2 [E, D, F], ids [R, k].

    Packed weights have fewer elements along their last dimension.
    """

    hidden: Tensor
    up: Tensor
    down: Tensor
    choice: Tensor


def _given(inputs: Inputs) -> _Given | None:
    places = [inputs.tensor(at) for at in (_HIDDEN, _UP, _DOWN, _CHOICE)]
    hidden, up, down, choice = places
    if hidden is None or up is None or down is None or choice is None:
        return None
    if (len(hidden.shape), len(up.shape), len(down.shape), len(choice.shape)) != (2, 3, 3, 2):
        return None
    if not up.shape[0] or up.shape[0] != down.shape[0] or choice.shape[0] != hidden.shape[0]:
        return None
    return _Given(hidden=hidden, up=up, down=down, choice=choice)


def touched_by(inputs: Inputs) -> Touched | None:
    """Experts of a call whose weights are arguments; `None` for all others."""
    weights = _given(inputs) if known_as(inputs.operator) in _FUSED else None
    sizes = total_bytes((weights.up, weights.down)) if weights else None
    if weights is None or sizes is None:
        return None
    experts, (tokens, chosen) = weights.up.shape[0], weights.choice.shape
    return touched(experts, chosen, tokens, sizes // experts)


def _flops(inputs: Inputs) -> int | None:
    """Both products of the tokens that are routed; gated experts have twice as many columns."""
    arguments = _given(inputs)
    if arguments is None:
        return None
    rows, width = arguments.choice.shape[0] * arguments.choice.shape[1], arguments.hidden.shape[1]
    columns = arguments.up.shape[1]
    is_packed = arguments.up.shape[2] != width
    inner = arguments.down.shape[2] * (width // max(arguments.up.shape[2], 1) if is_packed else 1)
    return (
        2 * rows * (columns * width + inner * width) if arguments.down.shape[1] == width else None
    )


def _moved(inputs: Inputs) -> int | None:
    """Weights of the experts touched, tokens read and written; what lies between is not counted."""
    arguments, experts = _given(inputs), touched_by(inputs)
    if arguments is None or experts is None or arguments.hidden.size_bytes is None:
        return None
    return experts.weight_bytes + 2 * arguments.hidden.size_bytes


def _weights(inputs: Inputs) -> int | None:
    experts = touched_by(inputs)
    return experts.weight_bytes if experts else None


def _precision(inputs: Inputs) -> str:
    hidden = inputs.tensor(_HIDDEN)
    return hidden.dtype if hidden is not None else ""


FAMILY = Family(names=_FUSED, flops=_flops, moved=_moved, precision=_precision, weights=_weights)
