"""One rank of tensor parallelism: its sizes, and the ops that every block of a layer has."""

from dataclasses import dataclass

from roofline.estimate.element_types import bytes_per_element
from roofline.estimate.llm.config import ModelConfig
from roofline.estimate.llm.model_op import ModelOp
from roofline.estimate.llm.workload import Workload


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """Bytes per element by kind."""

    w: float
    e: float
    a: float
    q: float
    z: float


@dataclass(frozen=True, slots=True)
class Rank:
    """The part of `model` under `load` that one rank of tensor parallelism computes."""

    model: ModelConfig
    load: Workload

    @property
    def sizes(self) -> Sizes:
        """Bytes per element of weights, experts, activations, keys and logits."""
        load = self.load
        return Sizes(
            w=bytes_per_element(load.weights),
            e=bytes_per_element(load.expert_weights or load.weights),
            a=bytes_per_element(load.activations),
            q=bytes_per_element(load.kv),
            z=bytes_per_element(load.logits),
        )

    @property
    def heads(self) -> int:
        """Query heads of one rank."""
        return self.model.heads // self.load.tp

    @property
    def kv_heads(self) -> float:
        """Heads of keys and values of one rank, at least one; a mean where they do not divide."""
        return max(self.model.kv_heads / self.load.tp, 1)

    @property
    def is_fused(self) -> bool:
        """Whether products take in the element-wise ops beside them."""
        return self.load.fusion != "unfused"

    def vector_bytes(self, amount: float) -> float:
        """Bytes of vector ops, which an ideal fusion takes away."""
        return 0.0 if self.load.fusion == "ideal" else amount

    def norm(self, name: str, calls: int, rows: int, width: int = 0) -> ModelOp:
        """A norm over `rows` of `width` elements, without one of the hidden size."""
        wide = width or self.model.hidden
        return ModelOp(
            name=name,
            calls=calls,
            vector=4.0 * rows * wide,
            weights=wide * self.sizes.w,
            activations=self.vector_bytes(2.0 * rows * wide * self.sizes.a),
        )

    def residual(self, name: str, calls: int) -> ModelOp:
        """The sum of what a block gives and what went in."""
        elements = self.load.rows * self.model.hidden
        tensors = {"unfused": 3, "typical": 2, "ideal": 0}[self.load.fusion]
        return ModelOp(
            name=name,
            calls=calls,
            vector=elements,
            activations=tensors * elements * self.sizes.a,
        )

    def product(self, name: str, calls: int, rows: int, wide: int, out: int) -> ModelOp:
        """A product of `rows` with a layer's weights, `wide` by `out`."""
        return ModelOp(
            name=name,
            calls=calls,
            matrix=2.0 * rows * wide * out,
            weights=wide * out * self.sizes.w,
            activations=rows * (wide + out) * self.sizes.a,
            is_layer_product=True,
        )
