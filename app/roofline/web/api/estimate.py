"""Estimates over HTTP: what an op of known shape should cost on a part."""

from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

from fastapi import APIRouter, Request

from roofline.estimate.document import estimate_document
from roofline.estimate.on_device import estimate
from roofline.estimate.ops import Options
from roofline.web.api.options import check_options

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
