"""Estimates over HTTP: what an op of known shape should cost on a part."""

from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

from fastapi import APIRouter, Request

from roofline.errors import BadViewError
from roofline.estimate.document import estimate_document
from roofline.estimate.on_device import estimate
from roofline.estimate.ops import Options

router = APIRouter(prefix="/api/v1", tags=["estimates"])

Op = Literal[
    "matmul",
    "dot",
    "elementwise",
    "norm",
    "softmax",
    "attention",
    "all-reduce",
    "all-gather",
    "reduce-scatter",
    "all-to-all",
    "permute",
]
_MOST_TEXT = 100
_MOST_NUMBER = 2**53


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimateBody:
    """An op, its shape and a device, as `roofline estimate` takes them; docs/estimate.md."""

    op: Op
    shape: str
    device: str
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
    alpha_us: float = 0.0
    axes: int | None = None


@router.post("/estimate")
async def estimated(request: Request, given: EstimateBody) -> dict[str, Any]:
    """FLOPs, bytes, intensity and the time of each resource for one op on a part."""
    _check(given, await request.json())
    options = {one.name: getattr(given, one.name) for one in fields(Options)}
    return estimate_document(estimate(given.op, given.shape, given.device, Options(**options)))


def _check(given: EstimateBody, sent: dict[str, Any]) -> None:
    """Raise `BadViewError` for a key that means nothing and for a value out of range."""
    known = [one.name for one in fields(EstimateBody)]
    for name in sent:
        if name not in known:
            raise BadViewError(
                f'"{name[:_MOST_TEXT]}" is not an option of an estimate.',
                remedy=f"Options are {', '.join(known)}.",
            )
    for name, value in asdict(given).items():
        if not _is_in_range(value):
            raise BadViewError(
                f"The option {name} has a value that it cannot have.",
                remedy="Texts have up to 100 characters; numbers are not negative.",
            )


def _is_in_range(value: object) -> bool:
    if isinstance(value, str):
        return len(value) <= _MOST_TEXT
    return not isinstance(value, int | float) or 0 <= value <= _MOST_NUMBER
