"""Estimates over HTTP: what an op of known shape should cost on a part."""

from collections.abc import Iterable, Mapping
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
    "distributed-matmul",
    "convolution",
    "gather",
    "chain",
    "dot",
    "elementwise",
    "norm",
    "softmax",
    "reduction",
    "attention",
    "all-reduce",
    "all-gather",
    "reduce-scatter",
    "all-to-all",
    "permute",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimateBody(Options):
    """An op, its shape and a device, as `roofline estimate` takes them; docs/estimate.md."""

    op: Op
    shape: str
    device: str


@router.post("/estimate")
async def estimated(request: Request, given: EstimateBody) -> dict[str, Any]:
    """FLOPs, bytes, intensity and the time of each resource for one op on a part."""
    check_options(asdict(given), await request.json(), "an estimate")
    options = {one.name: getattr(given, one.name) for one in fields(Options)}
    return estimate_document(estimate(given.op, given.shape, given.device, Options(**options)))


_MOST_TEXT = 100
_MOST_NUMBER = 10**9


def check_options(given: Mapping[str, object], sent: Iterable[str], what: str) -> None:
    """Raise `BadViewError` for a key of `sent` that means nothing and for a value out of range.

    `given` are the options as they were read, without unknown keys; `what` is "an estimate".
    """
    for name in sent:
        if name not in given:
            raise BadViewError(
                f'"{name[:_MOST_TEXT]}" is not an option of {what}.',
                remedy=f"Options are {', '.join(given)}.",
            )
    for name, value in given.items():
        if not _is_in_range(value):
            raise BadViewError(
                f"The option {name} has a value that it cannot have.",
                remedy="Texts have up to 100 characters; numbers are not negative.",
            )


def _is_in_range(value: object) -> bool:
    if isinstance(value, str):
        return len(value) <= _MOST_TEXT
    return not isinstance(value, int | float) or 0 <= value <= _MOST_NUMBER
