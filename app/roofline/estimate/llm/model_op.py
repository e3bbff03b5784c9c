"""One op of a model: FLOPs by unit and bytes by kind, per call and device."""

from dataclasses import dataclass
from typing import Literal

Place = Literal["layer", "first", "last", "boundary", "step"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOp:
    """One op of the model: `calls` times per step, all else per call.

    `weights`, `activations` and `kv` are bytes of the main memory by kind, `link` bytes that cross
    a link in one direction, in `link_steps` steps. `is_layer_product` is true for products with a
    layer's weights, which run at the compute type; others run at that of activations.
    `model_matrix` are the FLOPs that the model needs, where the hardware does more. `place` is the
    part of a pipeline that runs the op: every stage, its first or last one, the way between two, or
    all once per step.
    """

    name: str
    calls: float
    matrix: float = 0.0
    vector: float = 0.0
    weights: float = 0.0
    activations: float = 0.0
    kv: float = 0.0
    link: float = 0.0
    link_steps: int = 0
    is_layer_product: bool = False
    model_matrix: float | None = None
    is_attention: bool = False
    place: Place = "layer"

    @property
    def bytes(self) -> float:
        """Bytes of the main memory."""
        return self.weights + self.activations + self.kv
