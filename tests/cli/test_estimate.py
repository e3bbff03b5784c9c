"""`roofline estimate` on the command line."""

import json

import pytest

from tests.cli.test_main import refused, run


def test_an_estimate_is_printed_as_text_and_as_json() -> None:
    given = ("estimate", "matmul", "8192x4096x4096", "--device", "h100-sxm", "--dtype", "bf16")
    assert "Bound by compute." in run(*given).stdout.decode()
    found = json.loads(run(*given, "--format", "json").stdout)
    assert found["flops"] == 2 * 8192 * 4096 * 4096
    assert set(found["bytes"]) == {"hbm"}


def test_rates_and_latencies_name_their_sources() -> None:
    """A T4 has no links of its own, so that its rate is that of PCIe."""
    given = ("estimate", "all-reduce", "8192x8192", "--device")
    text = run(*given, "t4", "--ranks", "4").stdout.decode()
    assert "at 16 GB/s (links; Derived: PCIe 3.0 x16)" in text
    assert "hops (NVIDIA NCCL, tuning.cc" in text
    library = run(*given, "h100-sxm", "--ranks", "8", "--latency", "library").stdout.decode()
    assert "15 µs  library (" in library


def test_options_reach_the_estimate() -> None:
    given = ("estimate", "attention", "8x32x1x128", "--device", "tpu-v5e", "--format", "json")
    found = json.loads(run(*given, "--kv-heads", "8", "--context", "2048", "--causal").stdout)
    assert found["tensors"]["key"] == 8 * 2048 * 8 * 128 * 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("matmul", "-8x8x8", "--device", "h100-sxm"), "MxKxN"),
        (("matmul", "8x8x8", "--device", "h100"), "h100-sxm"),
        (("matmul", "8x8x8", "--device", "h100-sxm", "--dtype", "bf17"), "is not an element type"),
    ],
)
def test_what_cannot_be_estimated_is_said(arguments: tuple[str, ...], said: str) -> None:
    assert said in refused("estimate", *arguments)
