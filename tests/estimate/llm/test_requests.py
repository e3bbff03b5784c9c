"""A request: the sums of its steps, its identities, its levers, and measured values beside it."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from roofline.devices.choice import known_part
from roofline.errors import BadViewError
from roofline.estimate.llm.config import preset
from roofline.estimate.llm.request import PredictOptions
from roofline.estimate.llm.request_document import (
    MeasuredRequest,
    measured_in,
    request_document,
    request_text,
)
from roofline.estimate.llm.serving import Request, levers, request_of
from tests.estimate.llm.cases import step
from tests.narrowing import known

H100 = "h100-sxm"


def request(model: str, device: str = H100, draft: str | None = None, **given: Any) -> Request:
    options = PredictOptions(phase="request", **given)
    ahead = None if draft is None else preset(draft)
    return request_of(preset(model), options, known_part(device), ahead)


@pytest.mark.parametrize("model", ["llama-3-8b", "gpt-oss-20b", "deepseek-v3"])
def test_the_sum_is_that_of_every_step(model: str) -> None:
    """gpt-oss has windows of 128 tokens, at which its steps are no longer straight."""
    found = request(model, prompt=96, output=90, batch=4)
    steps = [
        known(step(model, H100, PredictOptions(batch=4, context=96 + i)).step_us["serial"])
        for i in range(1, 90)
    ]
    decode = known(found.decode)
    assert decode.serial_us == pytest.approx(sum(steps), rel=1e-6)
    assert (found.first_us, found.last_us) == pytest.approx((steps[0], steps[-1]))
    prefill = step(model, H100, PredictOptions(phase="prefill", batch=4, seq=96))
    assert found.ttft_us == prefill.step_us["serial"]


def test_numbers_of_a_request_agree() -> None:
    found = request("llama-3-8b", prompt=1024, output=65, batch=4)
    tpot, rate = known(found.tpot_us), known(found.continuous_tokens_per_s)
    assert found.latency_us == pytest.approx(found.ttft_us + 64 * tpot)
    assert known(found.tokens_per_s_per_user) * tpot == pytest.approx(1e6)
    life = 4 * found.single_prefill_us + 64 * tpot
    assert life == pytest.approx(65 / rate * 4 * 1e6)
    alone = request("llama-3-8b", prompt=1024, output=65)
    assert alone.continuous_tpot_us == alone.tpot_us


@pytest.mark.parametrize(
    ("device", "given", "bound_ms", "measured_ms"),
    [
        ("a100-80-sxm", {"prompt": 128, "output": 2048, "batch": 60}, 24.7, 31.1),
        (
            H100,
            {"prompt": 2048, "output": 2048, "batch": 48}
            | {"weights": "fp8", "compute": "fp8", "kv": "fp8"},
            14.1,
            17.5,
        ),
    ],
)
def test_published_servers_are_above_their_bound(
    device: str, given: dict[str, Any], bound_ms: float, measured_ms: float
) -> None:
    """Rows 18 and 19 of docs/predict.md: 1,928 and 2,740 tokens/s, prefill included."""
    found = request("llama-2-7b", device, **given)
    each_ms = given["batch"] / known(found.continuous_tokens_per_s) * 1e3
    assert each_ms == pytest.approx(bound_ms, rel=0.02)
    assert each_ms < measured_ms


def test_the_first_token_may_be_the_only_one() -> None:
    found = request("llama-3-8b", prompt=64, output=1)
    document = request_document(found, "llama-3-8b")
    assert document["decode"]["steps"] == 0
    assert document["tpot_us"] is document["continuous"] is document["decode"]["bound"] is None
    assert "asks for one token" in request_text(found, "llama-3-8b")


def test_guessed_tokens_make_fewer_and_longer_steps() -> None:
    """Of 4 tokens at an acceptance of 0.5, 1.875 stay ((1 - 0.5^4) / 0.5): 63 in 34 steps."""
    found = request("llama-3-8b", prompt=512, output=64, new_tokens=4, acceptance=0.5)
    assert known(found.decode).steps == 34
    assert found.kept == 1.875
    middle = 512 + round(17 * 1.875)
    check = step("llama-3-8b", H100, PredictOptions(context=middle + 4, new_tokens=4))
    plain = step("llama-3-8b", H100, PredictOptions(context=middle + 1))
    serial = [known(one.step_us["serial"]) for one in (plain, check)]
    assert found.speedup == pytest.approx(1.875 * serial[0] / serial[1], rel=1e-3)
    least = known(found.useless_batch)
    more = request("llama-3-8b", prompt=512, output=64, new_tokens=4, acceptance=0.5, batch=least)
    fewer = request(
        "llama-3-8b", prompt=512, output=64, new_tokens=4, acceptance=0.5, batch=least - 1
    )
    assert known(more.speedup) <= 1 < known(fewer.speedup)


def test_a_draft_takes_its_own_steps() -> None:
    given: dict[str, Any] = {"prompt": 512, "output": 64, "new_tokens": 4, "acceptance": 0.9}
    free = request("llama-3-70b", "h200", **given)
    paid = request("llama-3-70b", "h200", "llama-3-8b", **given)
    ahead = known(step("llama-3-8b", "h200", PredictOptions(context=513)).step_us["serial"])
    assert known(paid.first_us) - known(free.first_us) == pytest.approx(3 * ahead, rel=1e-3)


@pytest.mark.covers(135)
def test_levers_are_computed_on_the_step() -> None:
    before = step("llama-3-8b", H100, PredictOptions(batch=8, context=2048))
    found = {one.change: one for one in levers(before)}
    after = step("llama-3-8b", H100, PredictOptions(batch=8, context=2048, weights="int4:g128"))
    serial = [known(one.step_us["serial"]) for one in (before, after)]
    assert found["int4 weights"].gain == pytest.approx(serial[0] / serial[1])
    assert all(one.gain >= 1.05 for one in found.values())
    a100 = step("llama-3-8b", "a100-80-sxm", PredictOptions(phase="prefill", seq=2048))
    assert not [one for one in levers(a100) if one.change == "fp8 products"]


@pytest.mark.covers(158)
def test_what_was_measured_stands_beside_the_bound(tmp_path: Path) -> None:
    found = request("llama-3-8b", prompt=2048, output=256, batch=8)
    file = tmp_path / "vllm.json"
    file.write_text(json.dumps({"mean_ttft_ms": 410, "median_tpot_ms": 7.4, "x": "y"}))
    measured = measured_in(file)
    assert measured == MeasuredRequest(ttft_ms=410, tpot_ms=7.4)
    record = request_document(found, "llama-3-8b", measured)["measured"]
    assert record["ttft_ratio"] == pytest.approx(410e3 / found.ttft_us)
    assert "1.50 times the bound" in request_text(found, "llama-3-8b", measured)
    fast = MeasuredRequest(ttft_ms=100)
    assert "faster than the bound" in request_text(found, "llama-3-8b", fast)
    nested = tmp_path / "genai.json"
    nested.write_text(json.dumps({"time_to_first_token": {"avg": 12.5}}))
    assert measured_in(nested).ttft_ms == 12.5
    nested.write_text(json.dumps({"throughput": 3}))
    with pytest.raises(BadViewError, match="none of the known keys"):
        measured_in(nested)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"prompt": 8}, "A request needs --prompt and --output."),
        ({"prompt": 8, "output": 0}, "--output is a whole number from 1."),
        ({"prompt": 0, "output": 8}, "--prompt is a whole number from 1."),
        ({"prompt": 8, "output": 8, "cached": 8}, "--cached is below --prompt"),
        ({"prompt": 8, "output": 8, "seq": 8}, "--seq and --context are of single steps"),
        ({"prompt": 8, "output": 8, "new_tokens": 4}, "need --acceptance"),
        ({"prompt": 8, "output": 8, "draft": "llama-3-8b"}, "A draft needs --new-tokens"),
    ],
)
def test_what_cannot_be_is_said(given: dict[str, Any], said: str) -> None:
    with pytest.raises(BadViewError, match=said):
        request("llama-3-8b", **given)


def test_a_measured_value_is_above_zero() -> None:
    with pytest.raises(BadViewError, match=r"--measured-ttft-ms is above 0\."):
        replace(MeasuredRequest(), ttft_ms=0.0)
