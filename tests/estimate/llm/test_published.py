"""Published measurements beside the bound: the bound of each, and that nothing is below it."""

import re
from dataclasses import dataclass, field
from typing import Any

import pytest

from roofline.estimate.llm.request import PredictOptions
from tests.estimate.llm.cases import MODEL, needs_shared, serial_ms, step

A100, H100 = "a100-80-sxm", "h100-sxm"
FP8 = {"weights": "fp8", "compute": "fp8", "kv": "fp8"}


@dataclass(frozen=True)
class Published:
    """A row of published_measurements.md: its number, the bound in ms, and how it is asked for.

    Collectives start at once there. Row 20 has the lines of a 2x4 slice, two links of 50 GB/s, for
    which the document counts all four.
    """

    row: int
    bound_ms: float
    model: str
    device: str
    options: dict[str, Any] = field(default_factory=dict)


def decode(context: int, **more: Any) -> dict[str, Any]:
    return {"phase": "decode", "context": context, **more}


def prefill(seq: int, **more: Any) -> dict[str, Any]:
    return {"phase": "prefill", "seq": seq, "pairs": "causal", **more}


ROWS = (
    Published(1, 6.52, "llama-2-7b", A100, decode(128)),
    Published(2, 3.28, "llama-2-7b", A100, decode(128, weights="int8")),
    Published(3, 2.06, "llama-2-7b", A100, decode(128, weights="int4:g32")),
    Published(4, 0.82, "llama-2-7b", A100, decode(128, tp=8)),
    Published(5, 7.37, "llama-3-8b", A100, decode(128)),
    Published(6, 33.7, "llama-2-70b", A100, decode(128, weights="int8")),
    Published(7, 8.45, "llama-2-70b", A100, decode(128, tp=8)),
    Published(8, 8.55, "llama-3-70b", A100, decode(128, tp=8)),
    Published(9, 24.8, "llama-3.1-405b", A100, decode(128, tp=8, weights="int8")),
    Published(10, 6.27, "mixtral-8x7b", A100, decode(128, weights="int8")),
    Published(11, 1.57, "mixtral-8x7b", A100, decode(128, tp=8)),
    Published(13, 93.0, "llama-2-7b", A100, prefill(2048)),
    Published(14, 7.08, "llama-2-7b", A100, prefill(128)),
    Published(15, 270, "llama-2-70b", A100, prefill(2048, tp=4)),
    Published(16, 17.2, "llama-2-7b", H100, prefill(2048, **FP8)),
    Published(17, 63.3, "llama-2-70b", H100, prefill(2048, tp=4, **FP8)),
    Published(18, 24.5, "llama-2-7b", A100, decode(1153, batch=60)),
    Published(19, 13.6, "llama-2-7b", H100, decode(3073, batch=48, **FP8)),
    Published(20, 5.05, "llama-3-8b", "tpu-v5e", decode(256, batch=128, tp=8)),
)


@pytest.mark.parametrize("case", ROWS, ids=lambda case: f"{case.row}-{case.model}")
def test_the_bound_is_that_of_the_document(case: Published) -> None:
    found = step(case.model, case.device, PredictOptions(**case.options, latency="none"))
    assert serial_ms(found) == pytest.approx(case.bound_ms, rel=1e-2)


def test_one_die_of_two_has_half_of_the_bandwidth() -> None:
    """Row 12: one die of an MI250X, whose entry in the catalogue has both."""
    found = step("llama-2-7b", "mi250x", PredictOptions(**decode(128)))
    assert 2 * serial_ms(found) == pytest.approx(8.11, rel=1e-2)


@needs_shared
def test_no_measurement_is_below_its_bound() -> None:
    text = (MODEL / "published_measurements.md").read_text("utf-8")
    cells = [line.strip("|").split("|") for line in text.splitlines() if re.match(r"\| \d", line)]
    measured = {int(row[0]): row[2] for row in cells}
    for case in ROWS:
        stated = re.search(r"([\d.]+) ms", measured[case.row])
        assert stated is not None
        found = step(case.model, case.device, PredictOptions(**case.options))
        assert float(stated[1]) > 1.2 * serial_ms(found), case.row


@pytest.mark.parametrize(
    ("model", "measured", "peak", "mfu", "bound"),
    [
        ("llama-2-70b", 692, 459e12, 0.646, 1071),
        ("mixtral-8x7b", 2909, 459e12, 0.505, 5758),
        ("deepseek-v3", 1543, 1978.9e12, 0.195, 7901),  # the peak is that of fp8
    ],
)
def test_published_training_reaches_the_stated_share(
    model: str, measured: float, peak: float, mfu: float, bound: float
) -> None:
    found = step(model, "tpu-v5p", PredictOptions(phase="train", seq=4096))
    flop = found.total(lambda op: op.matrix if op.model_matrix is None else op.model_matrix) / 4096
    assert measured * flop / peak == pytest.approx(mfu, abs=6e-4)
    assert peak / flop == pytest.approx(bound, rel=1e-3)
