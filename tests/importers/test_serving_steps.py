"""Steps of a server on the device's clock: windows, waits, bytes by what they are, and bounds."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from roofline.analysis.records import RooflineAnalysis, Scope
from roofline.exports.answering import answer_of
from roofline.exports.records import analysis_to_json
from roofline.exports.text import describe
from roofline.importers.pytorch.serving import step_windows
from roofline.model.profile import Profile
from roofline.pipeline import analyse_files
from roofline.presentation.serving import serving_data
from tests.importers.kineto_profiles import SHARED, needs_shared, profile_of
from tests.tools.make_kineto_traces import BF16, MI300X, KinetoTrace

VLLM = ("mi300x_vllm_graph_decode", "mi300x_vllm_graph_capture")
SGLANG = ("mi300x_sglang_decode", "mi300x_sglang_capture")
TOKENS, WIDTH, OUT = 4, 4096, 8192
PRODUCT = [((TOKENS, WIDTH), BF16), ((WIDTH, OUT), BF16)]
WEIGHTS = WIDTH * OUT * 2


def decode(context: int, sequences: int = TOKENS) -> str:
    sums = f"sq{sequences}sk{context}sqsq{sequences}sqsk{context}"
    return f"execute_{sequences}_context_0(sq0sk0sqsq0sqsk0)_generation_{sequences}({sums})"


PREFILL = "execute_100_context_1(sq100sk100sqsq10000sqsk10000)_generation_0(sq0sk0sqsq0sqsk0)"


def served(*steps: tuple[str, float], pause_us: float = 0.0) -> KinetoTrace:
    """Steps of one product each that takes so many us; the host pauses between them."""
    trace = KinetoTrace(device=MI300X, is_hip=True)
    for name, lasts_us in steps:
        begin = trace.host_us
        trace.call("aten::mm", PRODUCT, ("Cijk_gemm", lasts_us))
        trace.annotate(name, begin)
        trace.wait()
        trace.host_us += pause_us
        trace.device_us = dict.fromkeys(trace.device_us, trace.host_us)
    return trace


def analysed(folder: Path, trace: KinetoTrace) -> RooflineAnalysis:
    path = folder / "trace.json"
    path.write_text(trace.as_json())
    return analyse_files([path])


def documented(analysis: RooflineAnalysis) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(analysis_to_json(analysis, include_infeed_outfeed=True))
    return found


# ----------------------------------------------------------------------------------------- windows


def windows_of(*events: tuple[int, int, int, int], n_steps: int = 1) -> Any:
    """Of events (begin, end, device, step)."""
    begin, end, device, step = (np.array(column, np.int64) for column in zip(*events, strict=True))
    return step_windows(begin, end, device, step.astype(np.int32), n_steps, int(device.max()) + 1)


def test_a_window_is_from_the_first_work_to_the_last() -> None:
    found = windows_of((100, 110, 0, 0), (112, 200, 0, 0))
    assert (found.begin.tolist(), found.end.tolist()) == ([100], [200])
    assert (found.busy.tolist(), found.span.tolist(), found.wait.tolist()) == ([98], [100], [0])


def test_a_long_wait_after_little_work_lies_before_the_step() -> None:
    found = windows_of((0, 4, 0, 0), (1_000, 1_100, 0, 0), (1_110, 1_200, 0, 0))
    assert (found.begin.tolist(), found.busy.tolist(), found.wait.tolist()) == (
        [1_000],
        [190],
        [996],
    )


def test_a_wait_in_the_middle_of_a_step_is_a_part_of_it() -> None:
    found = windows_of((0, 100, 0, 0), (1_000, 1_100, 0, 0))
    assert (found.span.tolist(), found.busy.tolist(), found.wait.tolist()) == ([1_100], [200], [0])


def test_the_wait_between_two_steps() -> None:
    found = windows_of((0, 100, 0, 0), (130, 200, 0, 1), n_steps=2)
    assert found.wait.tolist() == [0, 30]


def test_overlapping_streams_count_once_and_ranks_side_by_side() -> None:
    found = windows_of((0, 100, 0, 0), (50, 120, 0, 0), (10, 70, 1, 0))
    assert (found.busy.tolist(), found.span.tolist()) == ([90], [120])
    assert found.core.tolist() == [180]


def test_a_step_without_work_has_no_time() -> None:
    found = windows_of((0, 100, 0, 1), n_steps=3)
    assert found.span.tolist() == [0, 100, 0]


# ------------------------------------------------------------------------------------------- steps


def test_steps_have_phase_and_batch(tmp_path: Path) -> None:
    trace = served((PREFILL, 90.0), (decode(500), 50.0), (decode(600), 60.0))
    profile: Profile = profile_of(tmp_path, trace)
    assert profile.steps.label == ("0 (prefill, 1)", "1 (decode, 4)", "2 (decode, 4)")
    serving = profile.serving
    assert serving is not None
    assert serving.phase == ("prefill", "decode", "decode")
    assert serving.context_tokens.tolist() == [100, 500, 600]
    assert serving.span_ps.tolist() == [90e6, 50e6, 60e6]
    assert serving.weight_bytes.tolist() == [WEIGHTS] * 3


def test_groups_are_of_one_phase_and_batch(tmp_path: Path) -> None:
    trace = served(
        (PREFILL, 90.0), (decode(500), 50.0), (decode(700), 70.0), (decode(400, 2), 40.0)
    )
    serving = analysed(tmp_path, trace).serving
    assert serving is not None
    assert [(one.phase, one.sequences, one.steps) for one in serving.groups] == [
        ("prefill", 1, 1),
        ("decode", 2, 1),
        ("decode", 4, 2),
    ]
    four = serving.groups[2]
    assert four.time_us == 60
    assert four.context_tokens == 600
    assert four.weight_bytes == WEIGHTS


def test_each_phase_and_batch_is_a_point_of_the_program(tmp_path: Path) -> None:
    trace = served((PREFILL, 90.0), (decode(500), 50.0), (decode(700), 70.0))
    points = analysed(tmp_path, trace).with_infeed.program
    found = {
        label: (scope, time)
        for label, scope, time in zip(
            points.label, points.scope, points.measures.total_time_us.tolist(), strict=True
        )
    }
    assert found["prefill, 1 sequence"] == (Scope.PHASE, 90)
    assert found["decode, 4 sequences"] == (Scope.PHASE, 60)
    rates = dict(zip(points.label, points.measures.flop_rate_gflops.tolist(), strict=True))
    flop = 2 * TOKENS * WIDTH * OUT
    assert rates["decode, 4 sequences"] == pytest.approx(flop / 60e3)
    assert rates["prefill, 1 sequence"] == pytest.approx(flop / 90e3)


def test_the_bound_is_the_time_at_the_roofs(tmp_path: Path) -> None:
    analysis = analysed(tmp_path, served((decode(500), 50.0)))
    assert analysis.serving is not None
    (one,) = analysis.serving.groups
    bandwidth = next(peak.gbs for peak in analysis.device.memory if peak.level.is_main)
    moved = WEIGHTS + 2 * TOKENS * (WIDTH + OUT)
    assert one.bound_us is not None
    assert one.bound_us == pytest.approx(moved / (bandwidth * 1e3))
    assert one.bandwidth_ratio == pytest.approx(one.bound_us / 50)
    assert one.weight_ratio == pytest.approx(WEIGHTS / (bandwidth * 1e3) / 50)
    assert one.other_bytes == 2 * TOKENS * (WIDTH + OUT)
    assert one.flop == 2 * TOKENS * WIDTH * OUT
    assert one.known_ratio == 1


def test_tokens_come_with_the_wait_between_steps(tmp_path: Path) -> None:
    """A step of 50 us and a wait of 50 us: four sequences get a token each 100 us."""
    steps = [(decode(500), 50.0)] * 5
    serving = analysed(tmp_path, served(*steps, pause_us=45.0)).serving
    assert serving is not None
    (one,) = serving.groups
    assert one.wait_us is not None
    assert one.wait_us == pytest.approx(50, abs=5)
    assert one.time_per_token_us == pytest.approx(50 + one.wait_us)
    assert one.tokens_per_s == pytest.approx(4 / (one.time_per_token_us or 0) * 1e6)


def test_one_long_wait_is_named_and_in_no_other_number(tmp_path: Path) -> None:
    trace = served(*[(decode(500), 50.0)] * 3)
    trace.host_us += 100_000
    trace.device_us = dict.fromkeys(trace.device_us, trace.host_us)
    begin = trace.host_us
    trace.call("aten::mm", PRODUCT, ("Cijk_gemm", 50.0))
    trace.annotate(decode(500), begin)
    analysis = analysed(tmp_path, trace)
    assert analysis.serving is not None
    (one,) = analysis.serving.groups
    assert one.longest_wait_us == pytest.approx(100_000, rel=0.01)
    assert one.time_per_token_us is not None
    assert one.time_per_token_us < 100


def test_unknown_lengths_leave_the_context_unknown(tmp_path: Path) -> None:
    serving = analysed(tmp_path, served(("step[DECODE bs=4]", 50.0))).serving
    assert serving is not None
    assert serving.groups[0].context_tokens is None
    assert serving.groups[0].cache_bytes is None
    assert serving.groups[0].tokens_per_s is not None


def test_work_that_is_mostly_unknown_is_not_zero(tmp_path: Path) -> None:
    """A graph without its capture: times are known, and nothing of what its kernels did."""
    trace = KinetoTrace(device=MI300X, is_hip=True)
    begin = trace.host_us
    trace.graph(("Cijk_gemm", 50.0), ("attention", 30.0), call="hipGraphLaunch")
    trace.call("aten::mm", PRODUCT, ("Cijk_gemm", 20.0))
    trace.annotate(decode(500), begin)
    analysis = analysed(tmp_path, trace)
    assert analysis.serving is not None
    (one,) = analysis.serving.groups
    assert one.known_ratio == pytest.approx(0.2)
    assert one.tokens_per_s is not None
    unknown = (one.bound_us, one.flop, one.weight_bytes, one.cache_bytes, one.other_bytes)
    assert unknown == (None,) * 5
    assert (one.bandwidth_ratio, one.weight_ratio, one.flop_ratio) == (None, None, None)
    step = documented(analysis)["serving"]["steps"][0]
    assert (step["bound_us"], step["flop"], step["bytes"]) == (None, None, None)
    text = describe(analysis, analysis.with_infeed, answer_of(analysis))
    assert "not known." in text.split("\n\n")[1]


def test_a_trace_without_a_server_has_no_such_part(tmp_path: Path) -> None:
    trace = KinetoTrace()
    trace.call("aten::mm", PRODUCT, ("gemm", 5.0))
    analysis = analysed(tmp_path, trace)
    assert analysis.serving is None
    assert documented(analysis)["serving"] is None
    assert serving_data(analysis) is None


# ------------------------------------------------------------------------------------------- words


def test_the_card_has_a_column_for_each_phase_and_no_row_without_a_value(tmp_path: Path) -> None:
    data = serving_data(analysed(tmp_path, served((PREFILL, 90.0), (decode(500), 50.0))))
    assert data is not None
    assert [one["label"] for one in data["phases"]] == [
        "Prefill step, 1 sequence",
        "Decode step, 4 sequences",
    ]
    assert [one["id"] for one in data["phases"]] == ["serving:prefill.1", "serving:decode.4"]
    rows = {one["id"]: one["values"] for one in data["figures"]}
    assert all(len(values) == 2 for values in rows.values())
    assert rows["steps"] == [1, 1]
    assert not any(values == [None, None] for values in rows.values())


def test_the_document_has_groups_and_steps(tmp_path: Path) -> None:
    trace = served((PREFILL, 90.0), (decode(500), 50.0))
    found = documented(analysed(tmp_path, trace))["serving"]
    assert found["step_count"] == 2
    assert [step["phase"] for step in found["steps"]] == ["prefill", "decode"]
    assert found["groups"][1]["time_us"] == 50
    assert (found["model"], found["curve"]) == (None, [])


# -------------------------------------------------------------------------------------- real files


def _analysed_pair(*names: str) -> RooflineAnalysis:
    return analyse_files([SHARED / f"{name}.json.gz" for name in names])


@needs_shared
@pytest.mark.parametrize(
    ("files", "name", "difference"),
    # gpt-oss runs padded products here, and casts its table of angles in each layer.
    [(SGLANG, "qwen3-8b", 0.01), (VLLM, "gpt-oss-20b", 0.15)],
)
def test_the_model_is_told_by_its_sizes_and_its_prediction_agrees(
    files: tuple[str, str], name: str, difference: float
) -> None:
    """The prediction knows the model's sizes, batch and context, and nothing of the trace."""
    analysis = _analysed_pair(*files)
    found = documented(analysis)["serving"]
    assert found["model"]["name"] == name
    assert found["model"]["command"].startswith(
        f"roofline predict {name} --phase decode --batch 32"
    )
    own = next(
        point
        for point in found["curve"]
        if (point["batch"], point["context"])
        == (32, round(found["groups"][0]["context_tokens"] / 32))
    )
    assert own["step_us"] == pytest.approx(found["groups"][0]["bound_us"], rel=difference)
    assert {point["batch"] for point in found["curve"]} == {1, 8, 32, 128, 256}
    text = describe(analysis, analysis.with_infeed, answer_of(analysis))
    assert "Its decode step at the roofs" in text
    assert max(map(len, text.splitlines())) <= 120


@needs_shared
def test_sglang_decode_of_qwen3_8b() -> None:
    analysis = _analysed_pair(*SGLANG)
    assert analysis.serving is not None
    (one,) = analysis.serving.groups
    assert (one.phase, one.sequences, one.context_tokens) == ("decode", 32, 32_785)
    assert one.busy_us == pytest.approx(9_768.7, abs=1)
    assert one.bound_us == pytest.approx(3_850, rel=0.01)
    assert one.weight_bytes == pytest.approx(15.14e9, rel=0.001)
    assert one.cache_bytes == 32_785 * 147_456 + 32 * 147_456
    assert one.known_ratio > 0.99
    assert one.longest_wait_us == pytest.approx(463_295, abs=10)
    text = " ".join(describe(analysis, analysis.with_infeed, answer_of(analysis)).split())
    assert "10.5 ms a decode step; 3.9 would do." in text
    assert "463.3 ms lie outside the step." in text


@needs_shared
def test_vllm_decode_of_gpt_oss() -> None:
    analysis = _analysed_pair(*VLLM)
    assert analysis.serving is not None
    (one,) = analysis.serving.groups
    assert one.busy_us == pytest.approx(10_717.7, abs=1)
    assert one.cache_bytes == 12 * 2_048 * (55_086 + 32 * 128) + 24 * 32 * 2_048
    assert one.weight_bytes_least is not None
    assert one.weight_bytes is not None
    assert one.weight_bytes_most is not None
    assert one.weight_bytes_least < one.weight_bytes < one.weight_bytes_most
    assert one.known_ratio > 0.95
    text = " ".join(describe(analysis, analysis.with_infeed, answer_of(analysis)).split())
    assert "10.7 ms a decode step; 3.6 would do." in text
    assert "between 3.82 and 13.5 GB" in text
    assert "roofline predict gpt-oss-20b" in text
