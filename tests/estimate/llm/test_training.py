"""Training steps: model and hardware FLOPs, bytes of the optimizer, collectives."""

import pytest

from roofline.estimate.llm.config import preset
from roofline.estimate.llm.request import PredictOptions
from roofline.estimate.llm.step import Step
from tests.estimate.llm.cases import step


def trained(model: str, seq: int, device: str = "tpu-v5p", **options: object) -> Step:
    chosen = PredictOptions(phase="train", seq=seq, **options)  # type: ignore[arg-type]
    return step(model, device, chosen)


def model_flops(found: Step) -> float:
    return found.total(lambda op: op.matrix if op.model_matrix is None else op.model_matrix)


def multiplied(model: str) -> int:
    """Parameters without the embedding table and the norms."""
    found = preset(model)
    norms = found.hidden * (2 * found.layers + 1)
    return found.parameters - found.vocabulary * found.hidden - norms


@pytest.mark.parametrize(
    ("model", "seq", "full", "causal"),
    [
        ("llama-2-7b", 4096, 1.163, 1.081),
        ("llama-3-8b", 8192, 1.286, 1.143),
        ("llama-3-70b", 8192, 1.154, 1.077),
    ],
)
def test_model_flops_over_six_per_parameter_and_token(
    model: str, seq: int, full: float, causal: float
) -> None:
    rule = 6 * multiplied(model) * seq
    assert model_flops(trained(model, seq, pairs="full")) / rule == pytest.approx(full, abs=1e-3)
    assert model_flops(trained(model, seq)) / rule == pytest.approx(causal, abs=1e-3)


def test_a_published_run_has_the_published_share_of_the_peak() -> None:
    per_token = model_flops(trained("llama-2-70b", 4096)) / 4096
    assert per_token == pytest.approx(4.284e11, rel=1e-4)
    assert 692 * per_token / 459e12 == pytest.approx(0.646, abs=5e-4)


def test_hardware_flops_have_the_scores_again_and_recomputation() -> None:
    found = {t.op.name: t.op for t in trained("llama-3-8b", 4096, recompute="full").ops}
    ahead = found["fwd.attention"].matrix
    assert found["bwd.attention"].matrix == 2.5 * ahead
    assert found["bwd.attention"].model_matrix == 2 * ahead
    assert found["recompute.attention"].matrix == ahead
    assert found["recompute.attention"].model_matrix == 0
    plain = {t.op.name: t.op for t in trained("llama-3-8b", 4096, flash=False).ops}
    assert plain["bwd.qk_matmul"].matrix == 2 * plain["fwd.qk_matmul"].matrix


@pytest.mark.covers(185)
def test_bytes_of_the_backward_pass_and_of_the_optimizer() -> None:
    found = {t.op.name: t.op for t in trained("llama-3-8b", 4096, grad_bytes=4).ops}
    ahead, back = found["fwd.qkv_proj"], found["bwd.qkv_proj"]
    assert back.weights == ahead.weights * (1 + 4 / 2)
    assert back.activations == 2 * ahead.activations
    assert back.kv == 2 * ahead.kv
    assert found["optimizer"].bytes == 30 * 8_030_261_248
    assert found["optimizer"].vector == 12 * 8_030_261_248
    assert found["loss"].vector == 5 * 4096 * 128_256


def test_ranks_exchange_activations_and_gradients() -> None:
    found = [t.op for t in trained("llama-3-8b", 4096, tp=4, dp=8).ops]
    reduced = [op for op in found if op.name.endswith("mlp_allreduce")]
    assert [op.name for op in reduced] == ["fwd.mlp_allreduce", "bwd.mlp_allreduce"]
    assert all(op.link == 2 * 3 / 4 * 4096 * 4096 * 2 for op in reduced)
    assert not [op for op in found if "logits_allgather" in op.name]
    gradients = next(op for op in found if op.name == "dp_allreduce")
    assert gradients.link == 2 * 7 / 8 * 8_030_261_248 / 4 * 2


def test_memory_holds_weights_gradients_and_the_optimizer() -> None:
    assert trained("llama-3-8b", 4096).memory_bytes == 8_030_261_248 * 16
    assert trained("llama-3-8b", 4096, tp=2, grad_bytes=4).memory_bytes == 8_030_261_248 * 9
