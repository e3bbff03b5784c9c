"""The ops of a forward pass: FLOPs by unit and bytes by kind, per call and device.

R rows go through every layer; each of B sequences attends to its context. Formulas and symbols are
those of docs/predict.md: GEMMs count 2·M·N·K, softmax 5 and norms 4 per element.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import ceil
from typing import Literal

from roofline.errors import BadViewError
from roofline.estimate.element_types import bytes_per_element
from roofline.estimate.llm.config import ModelConfig

Phase = Literal["prefill", "decode", "train", "mixed"]
Fusion = Literal["unfused", "typical", "ideal"]
Place = Literal["layer", "first", "last", "boundary", "step"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """A workload: sequences, tokens, element types, fusion, and ways of parallelism.

    `new_tokens` per sequence go through the model, after `cached` ones. `all_logits` takes the head
    over all rows, not over the last of each sequence. In a mixed step `prompts` sequences with
    `prompt_tokens` new ones after `prompt_cached` run beside those that decode.
    """

    phase: Phase = "decode"
    batch: int = 1
    new_tokens: int = 1
    cached: int = 0
    weights: str = "bf16"
    expert_weights: str | None = None
    activations: str = "bf16"
    kv: str = "bf16"
    logits: str = "bf16"
    compute: str | None = None
    causal: bool = False
    fusion: Fusion = "typical"
    flash: bool = True
    all_logits: bool = False
    absorbed: bool | None = None
    tp: int = 1
    ep: int = 1
    pp: int = 1
    dp: int = 1
    microbatches: int = 1
    recompute: bool = False
    grad_bytes: int = 2
    kv_block: int = 1
    acceptance: float | None = None
    prompts: int = 0
    prompt_tokens: int = 0
    prompt_cached: int = 0

    @property
    def context(self) -> int:
        """Keys per sequence, the new ones included."""
        return self.cached + self.new_tokens

    @property
    def rows(self) -> int:
        """Tokens that go through the layers."""
        return self.batch * self.new_tokens + self.prompts * self.prompt_tokens

    @property
    def head_rows(self) -> int:
        """Rows of the language-model head."""
        return self.rows if self.all_logits else self.batch


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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sizes:
    """Bytes per element by kind."""

    w: float
    e: float
    a: float
    q: float
    z: float


@dataclass(frozen=True, slots=True)
class Pass:
    """One forward pass of `model` under `load`, split over the ranks of tensor parallelism."""

    model: ModelConfig
    load: Workload

    def ops(self) -> tuple[ModelOp, ...]:
        """All ops in the order of the model; those of zero calls are left out."""
        return tuple(op for op in self._ops() if op.calls)

    def _ops(self) -> Iterator[ModelOp]:
        yield self._embedding()
        yield from self._attention_block()
        yield from self._mlp_block()
        yield replace(self._norm("final_norm", 1, self.load.head_rows), place="last")
        yield self._head()
        yield from self._collectives()

    # ---------------------------------------------------------------------------------- sizes

    @property
    def sizes(self) -> _Sizes:
        """Bytes per element of weights, experts, activations, keys and logits."""
        load = self.load
        return _Sizes(
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
    def _is_fused(self) -> bool:
        return self.load.fusion != "unfused"

    def _vector_bytes(self, amount: float) -> float:
        """Bytes of vector ops, which an ideal fusion takes away."""
        return 0.0 if self.load.fusion == "ideal" else amount

    # ------------------------------------------------------------------------------- outside layers

    def _embedding(self) -> ModelOp:
        gathered = self.load.rows * self.model.hidden
        return ModelOp(
            name="embed",
            calls=1,
            place="first",
            weights=gathered * self.sizes.w,
            activations=gathered * self.sizes.a,
        )

    def _norm(self, name: str, calls: int, rows: int, width: int = 0) -> ModelOp:
        wide = width or self.model.hidden
        return ModelOp(
            name=name,
            calls=calls,
            vector=4.0 * rows * wide,
            weights=wide * self.sizes.w,
            activations=self._vector_bytes(2.0 * rows * wide * self.sizes.a),
        )

    def _residual(self, name: str, calls: int) -> ModelOp:
        elements = self.load.rows * self.model.hidden
        tensors = {"unfused": 3, "typical": 2, "ideal": 0}[self.load.fusion]
        return ModelOp(
            name=name,
            calls=calls,
            vector=elements,
            activations=tensors * elements * self.sizes.a,
        )

    def _head(self) -> ModelOp:
        model, rows = self.model, self.load.head_rows
        words = model.vocabulary / self.load.tp
        return ModelOp(
            name="lm_head",
            calls=1,
            place="last",
            matrix=2.0 * rows * model.hidden * words,
            weights=words * model.hidden * self.sizes.w,
            activations=rows * model.hidden * self.sizes.a + rows * words * self.sizes.z,
        )

    # ------------------------------------------------------------------------------------ attention

    def _attention_block(self) -> Iterator[ModelOp]:
        layers = self.model.layers
        yield self._norm("attn_norm", layers, self.load.rows)
        yield from self._latent() if self.model.is_latent else self._grouped()
        if self.model.sandwich_norms:
            yield self._norm("post_attn_norm", layers, self.load.rows)
        yield self._residual("attn_residual", layers)

    def _grouped(self) -> Iterator[ModelOp]:
        """Attention with as many or fewer heads of keys than of queries."""
        model, load, s = self.model, self.load, self.sizes
        rows, head = load.rows, model.head_size
        n, k = self.heads, self.kv_heads
        wide = (n + 2 * k) * head
        yield ModelOp(
            name="qkv_proj",
            calls=model.layers,
            matrix=2.0 * rows * model.hidden * wide,
            weights=model.hidden * wide * s.w,
            activations=(rows * model.hidden + rows * n * head) * s.a
            if self._is_fused
            else (3 * rows * model.hidden + rows * wide) * s.a,
            kv=2.0 * rows * k * head * s.q if self._is_fused else 0.0,
            is_layer_product=True,
        )
        turned = rows * (n + k) * head
        unfused = 0.0 if self._is_fused else 2.0 * turned * s.a
        if model.qk_norm:
            yield ModelOp(
                name="qk_norm",
                calls=model.layers,
                vector=4.0 * turned,
                weights=2.0 * head * s.w,
                activations=unfused,
            )
        yield ModelOp(name="rope", calls=model.layers, vector=3.0 * turned, activations=unfused)
        if not self._is_fused:
            written = 2.0 * rows * k * head
            yield ModelOp(
                name="kv_write",
                calls=model.layers,
                activations=written * s.a,
                kv=written * s.q,
            )
        yield from self._attention()
        yield ModelOp(
            name="o_proj",
            calls=model.layers,
            matrix=2.0 * rows * n * head * model.hidden,
            weights=n * head * model.hidden * s.w,
            activations=(rows * n * head + rows * model.hidden) * s.a,
            is_layer_product=True,
        )

    def _attention(self) -> Iterator[ModelOp]:
        """Full layers, and windowed ones where the model has them."""
        local = self.model.windowed_layers
        if not local:
            yield from self._scores("", self.model.layers, window=0)
            return
        yield from self._scores("_local", local, window=self.model.window)
        yield from self._scores("_global", self.model.layers - local, window=0)

    def _scores(self, suffix: str, calls: int, *, window: int) -> Iterator[ModelOp]:
        load, s, head = self.load, self.sizes, self.model.head_size
        n, k = self.heads, self.kv_heads
        pairs = self.pairs(window)
        keys = min(load.context, window + load.new_tokens - 1) if window else load.context
        query = load.rows * n * head * s.a
        key = load.batch * keys * k * head * s.q
        product, soft = 2.0 * load.batch * n * head * pairs, 5.0 * load.batch * n * pairs
        if load.flash:
            yield ModelOp(
                name=f"attention{suffix}",
                calls=calls,
                matrix=2 * product,
                vector=soft,
                activations=2 * query,
                kv=2 * key,
                is_attention=True,
            )
            return
        scores = load.batch * n * load.new_tokens * keys * s.a
        parts = (
            ("qk_matmul", product, 0.0, query + scores, key),
            ("softmax", 0.0, soft, 2 * scores, 0.0),
            ("sv_matmul", product, 0.0, scores + query, key),
        )
        for name, matrix, vector, moved, read in parts:
            yield ModelOp(
                name=f"{name}{suffix}",
                calls=calls,
                matrix=matrix,
                vector=vector,
                activations=moved,
                kv=read,
                is_attention=True,
            )

    def pairs(self, window: int = 0) -> float:
        """Pairs of a query and a key, per sequence and head."""
        new, cached = self.load.new_tokens, self.load.cached
        if window:
            reach = max(min(new, window - cached), 0)  # tokens before which the window is not full
            return reach * cached + reach * (reach + 1) / 2 + (new - reach) * window
        if self.load.causal:
            return new * cached + new * (new + 1) / 2
        return new * (cached + new)

    def _latent(self) -> Iterator[ModelOp]:
        """Multi-head latent attention: the cache holds one compressed key for all heads."""
        m, load, s = self.model, self.load, self.sizes
        rows, n, calls = load.rows, self.heads, m.layers
        key = m.head_without_position + m.head_with_position
        if m.q_rank:
            yield self._product("q_a_proj", calls, rows, m.hidden, m.q_rank)
            yield self._norm("q_a_norm", calls, rows, m.q_rank)
            yield self._product("q_b_proj", calls, rows, m.q_rank, n * key)
        else:
            yield self._product("q_proj", calls, rows, m.hidden, n * key)
        yield self._product("kv_a_proj", calls, rows, m.hidden, m.kv_rank + m.head_with_position)
        cached = rows * (m.kv_rank + m.head_with_position)
        yield ModelOp(
            name="kv_a_norm",
            calls=calls,
            vector=4.0 * rows * m.kv_rank,
            weights=m.kv_rank * s.w,
            activations=self._vector_bytes(cached * s.a),
            kv=cached * s.q,
        )
        yield ModelOp(name="rope", calls=calls, vector=3.0 * rows * (n + 1) * m.head_with_position)
        yield from self._absorbed() if self._is_absorbed else self._expanded()
        yield self._product("o_proj", calls, rows, n * m.value_head, m.hidden)

    @property
    def _is_absorbed(self) -> bool:
        """Decode works on the compressed keys, prefill and training expand them."""
        chosen = self.load.absorbed
        return self.load.phase == "decode" if chosen is None else chosen

    def _product(self, name: str, calls: int, rows: int, wide: int, out: int) -> ModelOp:
        return ModelOp(
            name=name,
            calls=calls,
            matrix=2.0 * rows * wide * out,
            weights=wide * out * self.sizes.w,
            activations=rows * (wide + out) * self.sizes.a,
            is_layer_product=True,
        )

    def _expanded(self) -> Iterator[ModelOp]:
        m, load, s, n = self.model, self.load, self.sizes, self.heads
        seen = load.batch * load.context
        wide = n * (m.head_without_position + m.value_head)
        yield ModelOp(
            name="kv_b_proj",
            calls=m.layers,
            matrix=2.0 * seen * m.kv_rank * wide,
            weights=m.kv_rank * wide * s.w,
            activations=seen * wide * s.a,
            kv=seen * m.kv_rank * s.q,
            is_layer_product=True,
        )
        each = m.head_without_position + m.head_with_position + m.value_head
        yield ModelOp(
            name="attention",
            calls=m.layers,
            matrix=2.0 * load.batch * n * self.pairs() * each,
            vector=5.0 * load.batch * n * self.pairs(),
            activations=(load.rows * n * each + seen * wide) * s.a,
            kv=seen * m.head_with_position * s.q,
            is_attention=True,
        )

    def _absorbed(self) -> Iterator[ModelOp]:
        m, load, s, n = self.model, self.load, self.sizes, self.heads
        rows, rank, turned = load.rows, m.kv_rank, m.head_with_position
        for name, wide in (("q_absorb", m.head_without_position), ("v_absorb", m.value_head)):
            if name == "v_absorb":
                yield ModelOp(
                    name="attention",
                    calls=m.layers,
                    matrix=2.0 * load.batch * n * self.pairs() * (2 * rank + turned),
                    vector=5.0 * load.batch * n * self.pairs(),
                    activations=rows * n * (2 * rank + turned) * s.a,
                    kv=load.batch * load.context * (rank + turned) * s.q,
                    is_attention=True,
                )
            yield ModelOp(
                name=name,
                calls=m.layers,
                matrix=2.0 * rows * n * wide * rank,
                weights=n * wide * rank * s.w,
                activations=rows * n * (wide + rank) * s.a,
                is_layer_product=True,
            )

    # ------------------------------------------------------------------------------------------ MLP

    def _mlp_block(self) -> Iterator[ModelOp]:
        model = self.model
        yield self._norm("mlp_norm", model.layers, self.load.rows)
        yield from self._dense("", model.mlp_layers, model.mlp / self.load.tp)
        if model.expert_layers:
            yield from self._experts()
        if model.sandwich_norms:
            yield self._norm("post_mlp_norm", model.layers, self.load.rows)
        yield self._residual("mlp_residual", model.layers)

    def _dense(self, prefix: str, calls: int, width: float) -> Iterator[ModelOp]:
        model, rows, s = self.model, self.load.rows, self.sizes
        names = ("gate_up_proj" if model.gated else "up_proj", "mlp_act", "down_proj")
        if prefix:
            names = (f"{prefix}_gate_up", f"{prefix}_act", f"{prefix}_down")
        wide = (2 if model.gated or prefix else 1) * width
        reads = 1 if self._is_fused or wide == width else 2
        yield ModelOp(
            name=names[0],
            calls=calls,
            matrix=2.0 * rows * model.hidden * wide,
            weights=model.hidden * wide * s.w,
            activations=(reads * rows * model.hidden + rows * wide) * s.a,
            is_layer_product=True,
        )
        yield ModelOp(
            name=names[1],
            calls=calls,
            vector=5.0 * rows * width,
            activations=self._vector_bytes((wide + width) * rows * s.a),
        )
        yield ModelOp(
            name=names[2],
            calls=calls,
            matrix=2.0 * rows * width * model.hidden,
            weights=width * model.hidden * s.w,
            activations=(rows * width + rows * model.hidden) * s.a,
            is_layer_product=True,
        )

    @property
    def touched_experts(self) -> float:
        """Experts of one rank that a layer's rows reach, where the router spreads them evenly."""
        model, load = self.model, self.load
        missed = (1 - model.active_experts / model.experts) ** (load.rows * load.ep)
        return model.experts / load.ep * (1 - missed)

    def _experts(self) -> Iterator[ModelOp]:
        model, load, s = self.model, self.load, self.sizes
        calls, rows = model.expert_layers, load.rows
        width = model.expert_width / load.tp
        routed, touched = rows * model.active_experts, self.touched_experts
        gathered = 0.0 if self._is_fused else (rows + routed) * model.hidden * s.a
        yield ModelOp(
            name="router",
            calls=calls,
            matrix=2.0 * rows * model.hidden * model.experts,
            vector=5.0 * rows * model.experts,
            weights=model.hidden * model.experts * s.w,
            activations=(rows * model.hidden + rows * model.experts) * s.a,
        )
        yield ModelOp(
            name="expert_gate_up",
            calls=calls,
            matrix=4.0 * routed * model.hidden * width,
            weights=touched * 2 * model.hidden * width * s.e,
            activations=(routed * model.hidden + 2 * routed * width) * s.a + gathered,
            is_layer_product=True,
        )
        yield ModelOp(
            name="expert_act",
            calls=calls,
            vector=5.0 * routed * width,
            activations=self._vector_bytes(3.0 * routed * width * s.a),
        )
        yield ModelOp(
            name="expert_down",
            calls=calls,
            matrix=2.0 * routed * width * model.hidden,
            weights=touched * model.hidden * width * s.e,
            activations=(routed * width + routed * model.hidden) * s.a,
            is_layer_product=True,
        )
        if model.shared_experts:
            yield from self._dense("shared", calls, model.shared_experts * width)
        yield ModelOp(
            name="moe_combine",
            calls=calls,
            vector=2.0 * routed * model.hidden,
            activations=self._vector_bytes((routed + rows) * model.hidden * s.a),
        )

    # ---------------------------------------------------------------------------------- collectives

    def _collectives(self) -> Iterator[ModelOp]:
        load, model, s = self.load, self.model, self.sizes
        if load.tp > 1:
            payload = load.rows * model.hidden * s.a
            for name in ("attn_allreduce", "mlp_allreduce"):
                yield _ring(name, model.layers, 2 * (load.tp - 1), load.tp, payload)
            logits = load.head_rows * model.vocabulary * s.z
            gathered = _ring("logits_allgather", 1, load.tp - 1, load.tp, logits)
            yield replace(gathered, place="last")
        if load.ep > 1 and model.expert_layers:
            routed = load.rows * model.active_experts * model.hidden * s.a
            for name in ("ep_dispatch", "ep_combine"):
                yield _ring(name, model.expert_layers, load.ep - 1, load.ep, routed)
        if load.pp > 1:
            sent = load.rows * model.hidden * s.a
            yield ModelOp(name="pp_send", calls=1, link=sent, link_steps=1, place="boundary")


def _ring(name: str, calls: float, steps: int, ranks: int, payload: float) -> ModelOp:
    """A collective of `ranks`, each step of which sends one part of the payload."""
    return ModelOp(name=name, calls=calls, link=steps / ranks * payload, link_steps=steps)


def check(model: ModelConfig, load: Workload) -> None:
    """Raise `BadViewError` for a workload that cannot be."""
    ways = ("tp", "ep", "pp", "dp", "microbatches", "batch", "new_tokens", "grad_bytes", "kv_block")
    for name in ways:
        if getattr(load, name) < 1:
            raise _bad(f"--{name.replace('_', '-')} is below 1.", "Give 1 or more.")
    if load.cached < 0:
        raise _bad("There are fewer keys than new tokens.", "--context counts the new tokens too.")
    if model.heads % load.tp:
        raise _bad(
            f"{model.heads} heads cannot be split over {load.tp} devices.",
            "Choose --tp so that it divides the heads.",
        )
    if load.ep > max(model.experts, 1):
        raise _bad(
            f"The model has {model.experts} experts for {load.ep} ranks.", "Choose a smaller --ep."
        )
    if load.pp > model.layers:
        raise _bad(f"{model.layers} layers cannot be {load.pp} stages.", "Choose a smaller --pp.")
    if load.batch % load.microbatches:
        raise _bad(
            f"{load.batch} sequences are not {load.microbatches} equal microbatches.",
            "Choose --microbatches so that it divides --batch.",
        )


def _bad(message: str, remedy: str) -> BadViewError:
    return BadViewError(message, remedy=remedy)


def forward(model: ModelConfig, load: Workload) -> tuple[ModelOp, ...]:
    """The ops of one forward pass of one microbatch per device; of a pipeline those of a stage.

    A stage has layers ÷ stages, rounded up; the first has the embedding, the last the head.
    """
    check(model, load)
    part = replace(load, batch=load.batch // load.microbatches)
    return Pass(stage_of(model, load.pp), part).ops()


def stage_of(model: ModelConfig, stages: int) -> ModelConfig:
    """The layers of one stage of a pipeline, kinds of layers in proportion."""
    if stages == 1:
        return model
    layers = ceil(model.layers / stages)
    return replace(
        model,
        layers=layers,
        windowed_layers=round(model.windowed_layers * layers / model.layers),
        dense_layers=round(model.dense_layers * layers / model.layers),
    )
