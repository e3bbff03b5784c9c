"""Training that shares weights, sequences or layers: memory, collectives, and the schedule."""

from typing import Any

import pytest

from roofline.devices.choice import known_part
from roofline.errors import BadViewError
from roofline.estimate.llm.config import preset
from roofline.estimate.llm.document import step_document, step_text
from roofline.estimate.llm.memory import activation_bytes
from roofline.estimate.llm.request import PredictOptions, workload
from roofline.estimate.llm.step import Step, TimedOp, step_of
from tests.narrowing import known

LLAMA = preset("llama-3-8b")
LAYER = 218_112_000  # 4096 · 48 · 128 + 4096² + 3 · 4096 · 14336 + 2 · 4096


def train(model: str = "llama-3-8b", device: str = "h100-sxm", **options: Any) -> Step:
    given = PredictOptions(**{"phase": "train", "batch": 1, "seq": 8192, **options})
    return step_of(preset(model), workload(given), known_part(device))


def ops(found: Step) -> dict[str, TimedOp]:
    return {timed.op.name: timed for timed in found.ops}


def sent(found: Step) -> float:
    return sum(t.counted * t.op.link for t in found.ops if t.op.sent and t.op.sent.is_of_data)


def test_volumes_are_those_of_zero() -> None:
    """Two passes of the weights' bytes, three with shared ones; tables are gathered once."""
    none, first, second, third = (sent(train(dp=8, zero=stage)) for stage in range(4))
    assert first == second == pytest.approx(none)
    tables = LLAMA.parameters - 32 * LAYER
    assert third == pytest.approx(1.5 * none - tables * 2 * 7 / 8)


def test_memory_approaches_two_gathered_layers() -> None:
    many = train(dp=2**20, zero=3)
    assert many.memory_bytes == pytest.approx(2 * 2 * LAYER, rel=1e-3)
    kinds = step_document(train(dp=8, zero=1), "llama-3-8b")["memory"]
    assert kinds["optimizer"] == 12 * LLAMA.parameters / 8
    assert kinds["weights"] == 2 * LLAMA.parameters


def test_what_is_exposed_adds_up_to_the_schedule() -> None:
    every: tuple[dict[str, Any], ...] = (
        {"dp": 8},
        {"dp": 8, "zero": 3},
        {"tp": 8, "dp": 64, "zero": 3},
        {"cp": 4},
    )
    for options in every:
        found = train("llama-3-70b", **options)
        exposed = found.schedule.exposed_us
        own = sum(t.counted * known(t.time_us) for t in found.ops if not t.op.sent)
        assert own + sum(exposed.values()) == pytest.approx(found.schedule.time_us)


def test_gathers_hide_from_a_number_of_tokens() -> None:
    found = train("llama-3-70b", tp=8, dp=64, zero=3)
    assert "from 11,655 tokens per sequence" in step_text(found, "llama-3-70b")
    for tokens, hides in ((11_654, False), (11_655, True)):
        at = train("llama-3-70b", tp=8, dp=64, zero=3, seq=tokens)
        assert at.schedule.is_hidden is hides


def test_sequence_parallelism_shares_norms_and_halves_hops() -> None:
    """Norms and residuals on 8,192 / 8 rows; an all-reduce is a gather and a scatter."""
    plain, shared = ops(train(tp=8)), ops(train(tp=8, sequence_parallel=True))
    norm = shared["fwd.attn_norm"].op
    assert norm.vector == 4 * 1024 * 4096
    assert norm.activations == 2 * 1024 * 4096 * 2
    assert shared["fwd.attn_residual"].op.vector == 1024 * 4096
    both = [shared[f"fwd.attn_{kind}"] for kind in ("allgather", "reducescatter")]
    whole = plain["fwd.attn_allreduce"]
    assert sum(one.op.link for one in both) == whole.op.link
    assert sum(known(one.time_us) for one in both) == pytest.approx(known(whole.time_us))
    elements = 2 * (4 * 4096 / 8 + (2 * 4 + 2 * 1) * 128 + 3 * 14336 / 8) + 4 * 4
    assert train(tp=8, sequence_parallel=True).activation_bytes == 32 * 8192 * elements


def test_context_parallelism_shares_rows_and_sends_keys_round() -> None:
    """2 of 8,192 tokens each: 2 · 4096 · 8 · 128 keys and values of two bytes to the neighbour."""
    found, whole = ops(train(cp=2)), ops(train())
    assert found["fwd.qkv_proj"].op.matrix == whole["fwd.qkv_proj"].op.matrix / 2
    assert found["fwd.attention"].op.matrix == whole["fwd.attention"].op.matrix / 2
    ring = found["fwd.cp_exchange"].op
    assert (ring.calls, ring.link) == (32, 2 * 4096 * 8 * 128 * 2)
    assert found["bwd.cp_exchange"].op.link == 2 * ring.link
    assert "dp_allreduce" in found  # gradients of both halves
    step = train(cp=2)
    assert step.tokens_per_s_per_device == pytest.approx(known(step.tokens_per_s) / 2)


def test_chunks_of_layers_shorten_the_bubble() -> None:
    """A stage waits for m + (p - 1) / V microbatches: 8 + 3 / 2 of 4 stages with two chunks."""
    options: dict[str, Any] = {"pp": 4, "batch": 8, "microbatches": 8, "seq": 1024}
    plain, chunks = train(**options), train(**options, virtual=2)
    assert ops(plain)["fwd.qkv_proj"].repeats == 11
    assert ops(chunks)["fwd.qkv_proj"].repeats == 9.5
    assert ops(chunks)["fwd.pp_send"].repeats == 2 * ops(plain)["fwd.pp_send"].repeats
    document = step_document(chunks, "llama-3-8b")
    assert document["pipeline"]["bubble"] == pytest.approx(3 / (16 + 3))
    assert chunks.activation_bytes == plain.activation_bytes * (1 + 3 / 8)


def test_recomputation_keeps_less() -> None:
    """Per token and layer 139,392 bytes; selective drops two norms and the MLP's activation."""
    loads = [train(recompute=kind).load for kind in ("none", "selective", "full")]
    kept = [activation_bytes(LLAMA, load) for load in loads]
    assert kept[0] == 32 * 8192 * 139_392
    assert kept[1] == 32 * 8192 * (139_392 - 2 * (2 * 4096 + 14336))
    assert kept[2] == 8192 * (32 * 4096 * 2 + 139_392)
    again = [t.op for t in train(recompute="selective").ops if t.op.name.startswith("recompute.")]
    assert {op.name for op in again} == {
        "recompute.attn_norm",
        "recompute.mlp_norm",
        "recompute.mlp_act",
        "recompute.final_norm",
    }


def test_experts_are_the_same_on_the_replicas_alone() -> None:
    found = ops(train("mixtral-8x7b", ep=8, dp=4, seq=2048))
    model = preset("mixtral-8x7b")
    experts = known(found["experts_allreduce"].op.sent)
    others = known(found["dp_allreduce"].op.sent)
    assert (experts.ranks, others.ranks) == (4, 32)
    assert experts.payload == model.routed_parameters / 8 * 2
    assert others.payload == (model.parameters - model.routed_parameters) * 2


def test_times_of_sharing_worked_by_hand() -> None:
    """Llama-3-8B, 8,192 tokens, H100: 450 GB/s of NVLink, 50 GB/s of network.

    Sequence parallelism, tp 8: a gather of 8192 · 4096 · 2 B = 67,108,864 B sends 7/8 of it,
    58,720,256 B / 450e9 = 130.489 us, and one hop of 0.6. With tp 16 it leaves the node: inside
    7/8 of it again, and 1/2 of an eighth, 4,194,304 B / 50e9 = 83.886 us, at the same time; the
    hops are 0.6 + 2.7.
    Interleaving, p = 4 stages of V = 2 chunks and m = 8 microbatches of 8,192 tokens: the longest
    path has V (p - 1 + m - 1) = 20 sends of 67,108,864 B, each 149.131 us on NVLink and 0.6.
    A ring of 2 context ranks: keys and values of 4,096 tokens, 2 · 4096 · 8 · 128 · 2 B =
    16,777,216 B / 450e9 = 37.283 us + 0.6.
    """
    near = ops(train(tp=8, sequence_parallel=True))["fwd.attn_allgather"]
    assert near.time_us == pytest.approx(58_720_256 / 450e3 + 0.6)
    far = ops(train(tp=16, sequence_parallel=True))["fwd.attn_allgather"]
    assert far.time_us == pytest.approx(58_720_256 / 450e3 + 0.6 + 2.7)
    assert far.clocks_us["network"] == pytest.approx(4_194_304 / 50e3)
    chunks = ops(train(pp=4, virtual=2, batch=8, microbatches=8))["fwd.pp_send"]
    assert chunks.time_us == pytest.approx(67_108_864 / 450e3 + 0.6)
    assert chunks.counted == 2 * (3 + 7)
    ring = ops(train(cp=2))["fwd.cp_exchange"]
    assert ring.time_us == pytest.approx(16_777_216 / 450e3 + 0.6)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"zero": 3}, "Nothing to share: --zero needs --dp."),
        ({"zero": 4, "dp": 2}, "is not a stage of ZeRO"),
        ({"virtual": 2}, "--virtual needs --pp."),
        ({"virtual": 3, "pp": 4, "microbatches": 4, "batch": 4}, "do not make 12 equal chunks"),
        ({"virtual": 2, "pp": 4, "microbatches": 2, "batch": 4}, "do not fill 4 stages"),
        ({"sequence_parallel": True}, "needs --tp"),
        ({"cp": 3}, "are not 3 equal parts"),
        ({"phase": "decode", "context": 64, "seq": None, "cp": 2}, "of training and prefill"),
        ({"phase": "prefill", "zero": 1, "dp": 2}, "--zero is of training"),
    ],
)
def test_what_cannot_be_is_said(options: dict[str, Any], said: str) -> None:
    with pytest.raises(BadViewError, match=said):
        train(**options)
