"""A predicted step as JSON, text and a file of kernels."""

import json
from pathlib import Path

import pytest

from roofline.compare.from_analysis import run_of
from roofline.estimate.llm.document import generic_document, step_document, step_text
from roofline.estimate.llm.request import PredictOptions
from roofline.model.profile import Provenance
from roofline.pipeline import analyse_files
from tests.estimate.llm.cases import serial_ms, step

DECODE = PredictOptions(batch=8, context=2048, tp=4)


@pytest.mark.covers(71, 130, 137, 159)
def test_the_document_has_the_keys_of_the_interface() -> None:
    found = step("llama-3-8b", "h100-sxm", DECODE)
    document = json.loads(json.dumps(step_document(found, "llama-3-8b")))
    assert {"ops", "step_us", "tokens_per_s", "memory_bytes", "fits", "coverage"} <= set(document)
    assert set(document["step_us"]) == {"overlap", "scheduled", "serial", "no_overlap"}
    assert document["coverage"] is None
    ops = {op["name"]: op for op in document["ops"]}
    assert {"name", "calls", "flops", "bytes", "time_us", "bound"} <= set(ops["qkv_proj"])
    assert ops["qkv_proj"]["flops"] == 2 * 8 * 4096 * 1536
    assert ops["qkv_proj"]["calls"] == 32
    assert ops["attn_norm"]["flops"] == 4 * 8 * 4096
    assert ops["attn_allreduce"]["bytes"] == 0
    assert ops["attn_allreduce"]["link_bytes"] == 2 * 3 / 4 * 8 * 4096 * 2
    assert ops["attn_allreduce"]["bound"] == "link"
    serial = sum(op["calls"] * op["time_us"] for op in document["ops"])
    assert document["step_us"]["serial"] == pytest.approx(serial)
    assert document["tokens_per_s"] == pytest.approx(8 / serial * 1e6)
    assert document["tokens_per_s_per_device"] == pytest.approx(2 / serial * 1e6)


def test_training_names_model_flops_and_hardware_flops() -> None:
    options = PredictOptions(phase="train", seq=4096, recompute="full")
    totals = step_document(step("llama-3-8b", "h100-sxm", options), "llama-3-8b")["totals"]
    assert totals["flops"] > 1.3 * totals["flops_model"]


def test_the_text_says_times_memory_and_thresholds() -> None:
    text = step_text(step("llama-3-8b", "h100-sxm", DECODE), "llama-3-8b")
    for said in ("serial", "tokens/s", "Needs ", "are compute-bound from batch", "by default"):
        assert said in text


@pytest.mark.parametrize("device", ["h100-sxm", "tpu-v5e", "mi300x", "t4"])
def test_other_commands_read_the_file_of_kernels(tmp_path: Path, device: str) -> None:
    options = PredictOptions(batch=8, context=2048, tp=1 if device == "t4" else 4)
    found = step("llama-3-8b", device, options)
    path = tmp_path / "model.json"
    path.write_text(json.dumps(generic_document(found, "llama-3-8b")))
    analysis = analyse_files([path])
    profile = analysis.profile
    assert profile.flop_provenance is profile.bytes_provenance is Provenance.MODELLED
    assert any("predicted" in limit for limit in profile.limits)
    assert profile.time_ps / 1e9 == pytest.approx(serial_ms(found), rel=1e-6)
    run = run_of(analysis)
    matrix = sum(
        found_work.sum() for name, found_work in run.work.items() if name.startswith("matrix")
    )
    assert matrix == pytest.approx(sum(t.op.matrix for t in found.ops), rel=1e-6)
    assert not [note for note in profile.diagnostics if note.code == "rows-left-out"]
