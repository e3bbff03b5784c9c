"""Predicted steps over measured runs: coverage, errors and their factors."""

import json
import math
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from roofline.compare.from_analysis import run_of
from roofline.compare.run import Run
from roofline.devices.choice import known_part
from roofline.estimate.llm.config import ModelConfig, config_of, preset
from roofline.estimate.llm.document import generic_document
from roofline.estimate.llm.request import PredictOptions, workload
from roofline.estimate.llm.step import Step, step_of
from roofline.exports.model_overlay import overlay, overlay_record, with_expected
from roofline.exports.model_overlay_text import overlay_text
from roofline.pipeline import analyse_files
from tests.conftest import ROOT

SAMPLES = ROOT.parent / "shared" / "samples" / "pytorch"
needs_shared = pytest.mark.skipif(not SAMPLES.is_dir(), reason="needs the shared folder")
QWEN = {
    "model_type": "qwen2",
    "hidden_size": 1024,
    "num_hidden_layers": 24,
    "num_attention_heads": 16,
    "num_key_value_heads": 16,
    "intermediate_size": 2816,
    "vocab_size": 151936,
    "tie_word_embeddings": True,
}
PREFILL = PredictOptions(phase="prefill", batch=16, seq=559, pairs="causal")
NEARLY_ALL = 0.95


def stepped(model: ModelConfig, device: str, options: PredictOptions) -> Step:
    return step_of(model, workload(options), known_part(device))


@cache
def measured(*names: str) -> Run:
    return run_of(analyse_files([SAMPLES / f"{name}.json.gz" for name in names]))


def over(step: Step, *names: str) -> dict[str, Any]:
    record = overlay_record(overlay(step, measured(*names)))
    check(record)
    return record


def check(record: dict[str, Any]) -> None:
    """Shares are shares, factors have the ratio as their product, and the document is JSON."""
    for share in (*record["coverage"].values(), *record["coverage_model"].values()):
        assert share is None or 0 <= share <= 1 + 1e-9
    for one in (*record["ops"], record["products"]):
        if one["factors"] is not None:
            product = math.prod(one["factors"].values())
            assert math.log(product) == pytest.approx(math.log(one["ratio"]), abs=1e-9)
    json.dumps(record, allow_nan=False)


def by_model(record: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {name: one for one in record["ops"] for name in one["model"]}


def saved(step: Step, path: Path, factor: float) -> Run:
    """The step as a measured profile whose products took `factor` times as long."""
    document = generic_document(step, "model")
    for kernel in document["kernels"]:
        if kernel["category"] == "matmul":
            kernel["time"]["value"] = round(kernel["time"]["value"] * factor)
    path.write_text(json.dumps(document))
    return run_of(analyse_files([path]))


@pytest.mark.parametrize("phase", ["prefill", "decode", "train"])
def test_a_model_over_itself_is_covered_and_has_no_error(tmp_path: Path, phase: str) -> None:
    length = {"context": 2048} if phase == "decode" else {"seq": 512}
    options = PredictOptions(phase=phase, batch=4, tp=2, **length)  # type: ignore[arg-type]
    step = stepped(preset("llama-3-8b"), "h100-sxm", options)
    record = overlay_record(overlay(step, saved(step, tmp_path / "model.json", 1.0)))
    check(record)
    assert record["coverage"]["flops"] == pytest.approx(1)
    assert record["coverage_model"]["flops"] == pytest.approx(1)
    assert record["products"]["ratio"] == pytest.approx(1, rel=1e-6)
    assert record["steps_in_unit"] == 1


def test_slower_products_are_farther_from_the_roof(tmp_path: Path) -> None:
    step = stepped(preset("llama-3-8b"), "h100-sxm", PredictOptions(batch=8, context=2048))
    record = overlay_record(overlay(step, saved(step, tmp_path / "model.json", 1.5)))
    found = by_model(record)["down_proj"]
    assert found["by"] == "flops"
    assert found["ratio"] == pytest.approx(1.5, rel=1e-6)
    assert found["factors"]["closeness"] == pytest.approx(1.5, rel=1e-4)
    assert found["factors"]["work"] == pytest.approx(1, abs=1e-4)
    assert "1.50" in overlay_text(record)


def test_the_expected_time_of_an_op_comes_from_the_others(tmp_path: Path) -> None:
    step = stepped(preset("llama-3-8b"), "h100-sxm", PredictOptions(batch=8, context=2048))
    record = overlay_record(overlay(step, saved(step, tmp_path / "model.json", 1.5)))
    found = by_model(record)
    down = found["down_proj"]
    assert down["class"] == "matmul"
    assert down["expected_us"] == pytest.approx(1.5 * down["predicted_us"], rel=1e-6)
    assert found["attention"]["expected_us"] is None
    assert record["expected"]["ratio"] == pytest.approx(1, rel=1e-6)
    slow = [
        {"class": "matmul", "by": by, "predicted_us": 1.0, "measured_us": took, "ratio": took}
        for by, took in (("flops", 2.0), ("flops", 4.0), ("scope", 90.0))
    ]
    assert [one["expected_us"] for one in with_expected(slow)] == [4.0, 2.0, None]


def test_a_run_below_the_bound_is_told(tmp_path: Path) -> None:
    step = stepped(preset("llama-3-8b"), "h100-sxm", PredictOptions(batch=8, context=2048))
    record = overlay_record(overlay(step, saved(step, tmp_path / "model.json", 0.5)))
    assert any("faster than their bound" in note for note in record["notes"])


@needs_shared
@pytest.mark.parametrize(
    ("name", "device"), [("h100_qwen_causal", "h100-sxm"), ("mi300x_qwen_causal", "mi300x")]
)
def test_both_qwen_traces_are_covered(name: str, device: str) -> None:
    record = over(stepped(config_of(QWEN), device, PREFILL), name)
    assert record["unit"] == "step"
    assert record["coverage"]["flops"] > NEARLY_ALL
    assert record["coverage_model"]["flops"] > NEARLY_ALL
    found = by_model(record)
    assert found["gate_proj"]["model"] == ["gate_proj", "up_proj"]
    assert found["q_proj"]["model"] == ["q_proj", "k_proj", "v_proj", "o_proj"]
    assert found["down_proj"]["measured"] == ["aten::mm [8944x2816, 2816x1024] bf16"]
    assert found["attention"]["measured"][0].startswith("aten::_flash_attention_forward")
    for product in ("gate_proj", "q_proj", "down_proj", "attention"):
        assert found[product]["calls"][0] == found[product]["calls"][1]
        assert found[product]["factors"]["work"] == pytest.approx(1, abs=0.02)
        assert found[product]["ratio"] > 1
    assert [one["names"] for one in record["not_measured"]] == [["lm_head"]]
    assert any("do not confirm" in note for note in record["notes"])


@needs_shared
def test_both_passes_of_a_jax_capture_are_told_apart() -> None:
    """Two blocks of a training step, with products in fusions that are named after other ops."""
    path = SAMPLES.parents[1] / "profiles" / "jax-cpu-transformer" / "host_0.xplane.pb"
    model = ModelConfig(
        hidden=256,
        layers=2,
        heads=8,
        kv_heads=8,
        head_size=32,
        vocabulary=1024,
        mlp=1024,
        gated=False,
        tied=True,
    )
    options = PredictOptions(phase="train", batch=8, seq=128, pairs="full", flash=False)
    step = stepped(model, "intel-13900k", options)
    record = overlay_record(overlay(step, run_of(analyse_files([path]))))
    check(record)
    found = by_model(record)
    assert record["coverage_model"]["flops"] == pytest.approx(1)
    assert set(found["fwd.up_proj"]["model"]) == {"fwd.up_proj", "fwd.down_proj", "fwd.lm_head"}
    assert found["fwd.qkv_proj"]["measured"] == ["ynn_fusion.47", "ynn_fusion.36"]
    assert found["fwd.o_proj"]["measured"] == ["ynn_fusion.43", "ynn_fusion.32"]
    assert found["fwd.qk_matmul"]["model"] == ["fwd.qk_matmul", "fwd.sv_matmul"]
    back = found["bwd.up_proj (inputs)"]
    assert back["calls"] == [10, 10]
    assert not set(back["measured"]) & set(found["fwd.up_proj"]["measured"])
    assert found["bwd.qkv_proj (weights)"]["calls"] == [4, 4]
    for one in record["ops"]:
        if one["by"] == "flops":
            assert one["flops"][1] == pytest.approx(one["flops"][0], rel=0.02)


@needs_shared
def test_full_pairs_do_not_match_a_causal_kernel() -> None:
    full = PredictOptions(phase="prefill", batch=16, seq=559)
    record = over(stepped(config_of(QWEN), "h100-sxm", full), "h100_qwen_causal")
    assert ["attention"] in [one["names"] for one in record["not_measured"]]


@needs_shared
def test_a_graph_of_sglang_is_covered() -> None:
    step = stepped(preset("qwen3-8b"), "mi300x", PredictOptions(batch=32, context=1025))
    record = over(step, "mi300x_sglang_decode", "mi300x_sglang_capture")
    assert record["coverage"]["flops"] > NEARLY_ALL
    assert record["coverage_model"]["flops"] == pytest.approx(1)
    found = by_model(record)
    for name in ("qkv_proj", "attention", "o_proj", "gate_up_proj", "down_proj", "lm_head"):
        assert found[name]["by"] == "flops"
        assert len(found[name]["model"]) == 1
        assert found[name]["calls"][0] == found[name]["calls"][1]


@needs_shared
def test_a_graph_of_vllm_is_covered_with_its_padded_experts() -> None:
    options = PredictOptions(batch=32, context=1721, expert_weights="mxfp4")
    step = stepped(preset("gpt-oss-20b"), "mi300x", options)
    record = over(step, "mi300x_vllm_graph_decode", "mi300x_vllm_graph_capture")
    assert record["coverage"]["flops"] > NEARLY_ALL
    found = by_model(record)
    assert found["attention_local"]["calls"] == [12, 12]
    assert found["attention_global"]["calls"] == [12, 12]
    assert found["expert_down"]["by"] == "scope"
    padded = found["expert_down"]["flops"]
    assert padded[1] / padded[0] == pytest.approx(2944 * 3072 / 2880**2, rel=1e-3)
