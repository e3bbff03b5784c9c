"""`roofline predict` on the command line."""

import json
from pathlib import Path

import pytest

from tests.cli.test_main import refused, run
from tests.estimate.llm.test_hugging_face import LLAMA

DECODE = ("--phase", "decode", "--batch", "8", "--context", "2048", "--device", "h100-sxm")


def test_a_prediction_is_printed_as_text_and_as_json() -> None:
    assert "serial" in run("predict", "llama-3-8b", *DECODE).stdout.decode()
    found = json.loads(run("predict", "llama-3-8b", *DECODE, "--format", "json").stdout)
    assert found["step_us"]["serial"] == pytest.approx(5146, abs=1)
    assert found["fits"] is True


def test_options_reach_the_prediction() -> None:
    options = ("--weights", "int4:g128", "--kv", "int8", "--no-flash", "--fusion", "unfused")
    done = run("predict", "llama-3-8b", *DECODE, *options, "--tp", "2", "--format", "json")
    ops = {op["name"]: op for op in json.loads(done.stdout)["ops"]}
    assert ops["down_proj"]["bytes"] == 4096 * 7168 * 0.53125 + (7168 + 4096) * 8 * 2
    assert {"kv_write", "softmax", "mlp_allreduce"} <= set(ops)


def test_a_config_is_read_and_a_file_of_kernels_written(tmp_path: Path) -> None:
    config, kernels = tmp_path / "config.json", tmp_path / "model.json"
    config.write_text(json.dumps(LLAMA))
    run("predict", config, *DECODE, "--format", "generic", "-o", kernels)
    assert "gate_up_proj" in run("analyze", kernels).stdout.decode()
    assert "No change" in run("compare", kernels, kernels).stdout.decode()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("llama-9", *DECODE), "is not a model"),
        (("none.json", *DECODE), "cannot be read"),
        (("llama-3-8b", "--phase", "decode", "--device", "h100-sxm"), "--context"),
        (("llama-3-8b", "--phase", "prefill", "--seq", "8", "--device", "h1000"), "no device"),
        (("llama-3-8b", *DECODE, "--weights", "bf17"), "is not an element type"),
    ],
)
def test_what_cannot_be_predicted_is_said(arguments: tuple[str, ...], said: str) -> None:
    assert said in refused("predict", *arguments)


def test_a_prediction_lies_over_a_profile(tmp_path: Path) -> None:
    kernels = tmp_path / "model.json"
    run("predict", "llama-3-8b", *DECODE, "--format", "generic", "-o", kernels)
    text = run("predict", "llama-3-8b", *DECODE, "--over", kernels).stdout.decode()
    assert "The model explains 100.0 % of its matrix FLOPs" in text
    found = json.loads(
        run("predict", "llama-3-8b", *DECODE, "--format", "json", "--over", kernels).stdout
    )
    assert set(found["coverage"]) == {"flops", "bytes", "time"}
    assert found["over"]["products"]["ratio"] == pytest.approx(1, rel=1e-6)
    as_csv = ("--format", "csv", "--over", kernels)
    rows = run("predict", "llama-3-8b", *DECODE, *as_csv).stdout.decode()
    assert rows.startswith("model,measured,by,class,calls_predicted,calls_measured,")
    assert "--over" in refused("predict", "llama-3-8b", *DECODE, "--format", "csv")
    both = ("--format", "generic", "--over", str(kernels))
    assert "--over" in refused("predict", "llama-3-8b", *DECODE, *both)
