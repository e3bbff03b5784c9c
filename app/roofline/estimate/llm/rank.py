"""One op of a model, and one rank of tensor parallelism: its sizes and the ops of every block."""

from dataclasses import dataclass
from typing import Literal

from roofline.devices.topology import ring_bytes
from roofline.estimate.llm.config import ModelConfig
from roofline.estimate.llm.workload import Workload
from roofline.estimate.ops import bytes_per_element

Stage = Literal["layer", "first", "last", "boundary", "step"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """A collective of `ranks` that lie outside of the groups `inner`; `payload` are bytes of the
    full tensor, or of one rank's buffer where it exchanges or sends. With `chosen` experts of each
    token, a token goes once to each other node. `is_of_data` is true between replicas, whose
    weights and gradients pass behind the work of other layers."""

    kind: str
    payload: float
    ranks: int
    inner: tuple[int, ...] = ()
    chosen: int = 0
    is_of_data: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOp:
    """One op of the model: `calls` times per step, all else per call.

    `exp` are exponentials, `weights`, `activations` and `kv` bytes of the main memory by kind,
    `sent` what goes to other devices. `is_layer_product` is true for products with a
    layer's weights, which run at the compute type; others run at that of activations.
    `model_matrix` are the FLOPs that the model needs, where the hardware does more. `place` is the
    part of a pipeline that runs the op: every stage, its first or last one, the way between two, or
    all once per step.
    """

    name: str
    calls: float
    matrix: float = 0.0
    vector: float = 0.0
    exp: float = 0.0
    weights: float = 0.0
    activations: float = 0.0
    kv: float = 0.0
    sent: Sent | None = None
    is_layer_product: bool = False
    model_matrix: float | None = None
    is_attention: bool = False
    place: Stage = "layer"

    @property
    def bytes(self) -> float:
        """Bytes of the main memory."""
        return self.weights + self.activations + self.kv

    @property
    def link(self) -> float:
        """Bytes that one device sends to others, as on a ring."""
        sent = self.sent
        return ring_bytes(sent.kind, sent.payload * (sent.chosen or 1), sent.ranks) if sent else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """Bytes per element by kind."""

    w: float
    e: float
    a: float
    q: float
    z: float
    d: float


@dataclass(frozen=True, slots=True)
class Rank:
    """The part of `model` under `load` that one rank of tensor parallelism computes."""

    model: ModelConfig
    load: Workload

    @property
    def sizes(self) -> Sizes:
        """Bytes per element: weights, experts, activations, keys, logits, tokens to experts."""
        load = self.load
        return Sizes(
            w=bytes_per_element(load.weights),
            e=bytes_per_element(load.expert_weights or load.weights),
            a=bytes_per_element(load.activations),
            q=bytes_per_element(load.kv),
            z=bytes_per_element(load.logits),
            d=bytes_per_element(load.dispatch or load.activations),
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

    def shared(self, rows: float) -> float:
        """Rows of norms and residuals on one rank."""
        return rows / self.load.tp if self.load.sequence_parallel else rows

    def norm(self, name: str, calls: int, rows: float, width: int = 0) -> ModelOp:
        """A norm over `rows` of `width` elements, without one of the hidden size.

        Ranks of sequence parallelism share the rows of the hidden size.
        """
        wide = width or self.model.hidden
        rows = rows if width else self.shared(rows)
        return ModelOp(
            name=name,
            calls=calls,
            vector=4.0 * rows * wide,
            weights=wide * self.sizes.w,
            activations=self.vector_bytes(2.0 * rows * wide * self.sizes.a),
        )

    def residual(self, name: str, calls: int) -> ModelOp:
        """The sum of what a block gives and what went in."""
        elements = self.shared(self.load.rows) * self.model.hidden
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
