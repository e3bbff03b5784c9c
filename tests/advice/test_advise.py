"""Advice on whole analyses: findings, silence where nothing is known, and a plan that adds up."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from roofline.advice.advise import advise
from roofline.advice.findings import Advice
from roofline.advice.rules import RULES
from roofline.analysis.records import RooflineAnalysis
from roofline.analysis.subjects.choose import choose
from roofline.exports.advice import render_record
from roofline.exports.answering import answered
from roofline.model.device import HardwareCounters, MeasuredWork
from roofline.model.memory import MemoryLevel
from roofline.pipeline import analyse_files
from roofline.presentation.sentences import plain_text, say
from tests.advice.wording import forms_of
from tests.builders import analysed as analysed_table
from tests.builders import reported
from tests.moving import waited

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared"
PYTORCH = SHARED / "samples" / "pytorch"
# 1000 GFLOP/s and 100 GiB/s: 10^9 FLOPs and 107,374,182 bytes take 1 ms each.
GIB100 = 107_374_182


def analysed(table: str, **rest: Any) -> RooflineAnalysis:
    """The analysis of a table whose columns are parted by spaces."""
    return analysed_table(table.replace(" ", " | "), **rest)


def said(sentence: str, roof: str = "") -> str:
    """A sentence of the plan, by its id."""
    return plain_text(say(sentence, roof=roof)).strip()


def advise_on(analysis: RooflineAnalysis) -> Advice:
    """Advice on the default subject."""
    return advise(analysis, choose(analysis))


def found(analysis: RooflineAnalysis) -> list[dict[str, Any]]:
    """The findings, after the checks that hold for every advice."""
    record = answered(analysis).advice
    saved = sum(one["predicted"]["saving_us"] for one in record["findings"] if one["in_plan"])
    assert saved == pytest.approx(record["now_us"] - record["after_us"], rel=1e-9, abs=1e-9)
    groups = [one["group"] for one in record["findings"] if one["in_plan"] and one["group"]]
    assert len(set(groups)) == len(groups), "one thing has one saving"
    for one in record["findings"]:
        assert not (one["in_plan"] and one["hypothetical"])
        assert one["why"] and one["try"] and one["title"]
        assert one["formula"] and one["source"][1].startswith("https://")
        assert one["verify"]["command"].startswith("roofline compare ")
        predicted = one["predicted"]
        if predicted is not None:
            assert 0 < predicted["saving_us"] <= predicted["saving_if_alone_us"] * (1 + 1e-9)
            assert predicted["range_us"] == [predicted["saving_us"] / 2, predicted["saving_us"]]
            assert predicted["saving_us"] >= 0.01 * record["now_us"]
            assert one["verify"]["expect"]["change_us"] == -predicted["saving_us"]
    findings: list[dict[str, Any]] = record["findings"]
    return findings


@pytest.mark.covers(96, 100)
def test_an_op_far_below_its_memory_roof_should_come_closer() -> None:
    (one,) = found(analysed(f"op category self_us flop bytes times\nslow loop 2000 1 {GIB100} 10"))
    assert (one["rule"], one["ops"], one["op_names"]) == ("M1", [0], ["slow"])
    assert one["observed"]["roof_efficiency_ratio"] == pytest.approx(0.5)
    assert one["predicted"]["saving_us"] == pytest.approx(2000 - 1000 / 0.9)
    assert one["predicted"]["at_roof_saving_us"] == pytest.approx(1000)
    assert one["predicted"]["limited_by"] == "hbm"
    assert not one["why"].endswith(said("advice_limit", "HBM")), "it is the limit now"
    assert one["verify"]["expect"]["term"] == "closeness"
    assert forms_of(one) == {""} and one["title"].endswith(" slow")


def test_without_peaks_the_peaks_are_what_is_missing() -> None:
    analysis = analysed_table(
        f"op | category | self_us | flop | bytes\nslow | loop | 2000 | 1 | {GIB100}",
        device=reported(gflops=None, gibs={}),
    )
    record = answered(analysis).advice
    assert (record["state"], record["has_peaks"], record["findings"]) == ("nothing", False, [])
    assert record["summary"] == said("advice_no_peaks")


@pytest.mark.skipif(not SHARED.is_dir(), reason="the reference folder is not there")
def test_without_times_nothing_is_called_not_worth_the_time() -> None:
    for name in ("kernels_without_times.csv", "point_intensity_and_rate.json"):
        analysis = analyse_files([SHARED / "samples" / "minimal" / name])
        assert answered(analysis).advice["summary"] == said("advice_no_time")


@pytest.mark.covers(194, 221)
def test_half_the_bytes_save_until_compute_binds() -> None:
    analysis = analysed(
        f"op category self_us flop bytes times\nbusy loop 1250 750000000 {GIB100} 10"
    )
    (one,) = found(analysis)
    assert (one["rule"], one["also"]) == ("M2", [])
    assert one["lever"] == {"resource": "hbm_bytes", "factor": 0.5}
    assert (one["hypothetical"], one["in_plan"]) == (True, False)
    assert "0.31\u00a0ms" in one["saves"] and RULES["M2"].condition in one["saves"]
    assert one["predicted"]["saving_us"] == pytest.approx(1250 - 750 / 0.8)
    assert one["predicted"]["limited_by"] == "compute"
    assert answered(analysis).advice["summary"] == said("advice_unsure")
    assert one["why"].endswith(said("advice_limit", "compute"))


def test_a_target_replaces_that_of_the_rule() -> None:
    analysis = analysed(f"op category self_us flop bytes times\nslow loop 2000 1 {GIB100} 10")
    found_then = advise(analysis, choose(analysis), 0.6)
    assert found_then.now_us - found_then.after_us == pytest.approx(2000 - 1000 / 0.6)


def test_a_program_at_its_roof_has_nothing_that_is_worth_it() -> None:
    analysis = analysed(f"op category self_us flop bytes times\ndone loop 1020 1 {GIB100} 10")
    record = answered(analysis).advice
    assert (record["state"], record["findings"]) == ("nothing", [])
    assert record["summary"] == said("advice_at_roofs")
    assert record["at_roof_us"] == pytest.approx(1020)


def test_of_a_profile_that_contradicts_itself_the_rest_is_advised_on() -> None:
    analysis = analysed(
        "op category self_us flop bytes times\n"
        f"fast loop 500 1 {GIB100} 10\nslow loop 2000 1 {GIB100} 10",
    )
    first, second = found(analysis)
    assert (first["rule"], first["op_names"]) == ("M1", ["slow"])
    assert (second["rule"], second["op_names"], second["predicted"]) == ("V1", ["fast"], None)


def test_a_note_says_how_to_judge_what_is_not_known() -> None:
    table = f"opaque custom-call 1000 – – 10\nslow loop 2000 1 {GIB100} 10"
    analysis = analysed(f"op category self_us flop bytes times\n{table}")
    (one,) = found(analysis)
    assert (one["rule"], one["op_names"]) == ("M1", ["slow"])
    note = answered(analysis).advice["note"].replace("\u202f", " ")
    assert (
        note == "To judge the other 33 % of the work: record what the operations compute and move."
    )


@pytest.mark.parametrize(
    ("slow_us", "about"), [(220, "After it: about 10.5 ms."), (5_000, "After it: about 5.7 ms.")]
)
def test_the_time_after_a_plan_is_shorter_as_printed(slow_us: int, about: str) -> None:
    done_us = 10_700 - slow_us
    slow = f"slow loop {slow_us} 1 {round(0.04 * GIB100)} 10"
    rows = f"done loop {done_us} 1 {round(done_us / 1000 * GIB100)} 10\n{slow}"
    record = answered(analysed(f"op category self_us flop bytes times\n{rows}")).advice
    assert record["summary"].replace("\u00a0", " ").startswith(about)


def test_idle_time_is_found_from_ten_percent_on() -> None:
    one_op = f"op category self_us flop bytes times\ndone loop 1020 1 {GIB100} 10"
    table = f"{one_op}\nalso loop 1020 1 {GIB100} 10"
    spaced = table.replace(" ", " | ")
    (one,) = found(waited(spaced, idle_us=500))
    assert (one["rule"], one["ops"], one["measured"]) == ("H1", [], True)
    assert one["predicted"]["saving_us"] == pytest.approx(500)
    assert one["saves"].endswith("−0.50\u00a0ms")
    assert "seldom" not in forms_of(one)
    (seldom,) = found(waited(spaced, idle_us=50_000))
    assert "seldom" in forms_of(seldom), "2.5 ms for each of 20 calls: no launch takes so long"
    assert found(waited(spaced, idle_us=200)) == []
    assert found(analysed(table, idle_us=500)) == [], "a table does not say what was waited for"


@pytest.mark.covers(174, 255)
def test_exposed_collectives_are_found_from_their_threshold_on() -> None:
    def rules(comm_us: int) -> list[str]:
        table = (
            f"op category self_us flop bytes times\ndone loop 1020 1 {GIB100} 10\n"
            f"sum all-reduce {comm_us} – – 10"
        )
        return [one["rule"] for one in found(analysed(table))]

    assert rules(500) == ["C1"]
    assert rules(400) == []


def test_short_calls_should_be_merged() -> None:
    (one,) = found(
        analysed(f"op category self_us flop bytes times\ntiny loop 8000 1 {GIB100} 1000")
    )
    assert one["rule"] == "L1"
    assert one["predicted"]["saving_us"] == pytest.approx((8000 - 1000) / 2)
    assert (one["confidence"], one["hypothetical"]) == ("low", True)


@pytest.mark.covers(234, 252)
def test_bytes_of_an_operation_are_held_against_those_that_the_hardware_counted() -> None:
    """The model has 1 MB for each of three operations; counters say 3 MB, 1.05 MB and nothing."""
    counted = MeasuredWork(
        flop=3000,
        unit_flop={},
        traffic_bytes={MemoryLevel.HBM: 4_050_000},
        time_ps=4 * 10**9,
        matched_kernels=2,
        total_kernels=2,
        source="Nsight Compute: kernels.ncu-rep",
        op_bytes={0: 3_000_000, 1: 1_050_000},
    )
    table = "op category self_us flop bytes"
    for name in ("spills", "alike", "other"):
        table += f"\n{name} loop 2000 1e3 1e6"
    device = reported(counters=HardwareCounters(measured=counted))
    (one,) = [one for one in found(analysed(table, device=device)) if one["rule"] == "V2"]
    assert one["op_names"] == ["spills"]
    assert one["title"] == "Take the bytes that the hardware counted in spills"
    assert "up to 3.00 times the bytes" in one["why"]


@pytest.mark.covers(83, 206, 215)
def test_a_producer_and_its_only_reader_should_be_fused() -> None:
    header = "op category self_us flop bytes times operands results producers path"
    tensor = "f32[1000,1000]{1,0}"
    table = (
        f"{header}\n"
        f"a loop 100 1 8000000 1 {tensor} {tensor} p x\n"
        f"b loop 100 1 8000000 1 {tensor} {tensor} a x"
    )
    fused = [one for one in found(analysed(table)) if one["rule"] == "G1"]
    assert [sorted(one["op_names"]) for one in fused] == [["a", "b"]]
    assert fused[0]["lever"] == {"resource": "hbm_bytes", "factor": pytest.approx(0.5)}
    (chain,) = answered(analysed(table)).advice["fusions"]
    assert (chain["op_names"], chain["known_by"]) == (["a", "b"], "graph")
    assert chain["bytes"] == {"now": 16e6, "after": pytest.approx(8e6)}
    assert chain["saving_us"] == pytest.approx(fused[0]["predicted"]["saving_us"])
    assert chain["after_us"] == pytest.approx(100)
    on_chip = table.replace("{1,0}", "{1,0:S(1)}")
    assert answered(analysed(on_chip)).advice["fusions"] == []
    assert all(one["rule"] != "G1" for one in found(analysed(on_chip)))


def test_names_of_strangers_stay_plain_in_markdown() -> None:
    analysis = analysed(f"op category self_us flop bytes times\n<img> loop 2000 1 {GIB100} 10")
    shown = render_record(answered(analysis).advice, "markdown", 5).decode()
    assert "<img>" not in shown
    assert "\\<img\\>" in shown


def test_the_same_profile_gets_the_same_advice() -> None:
    table = "op category self_us flop bytes times\n" + "\n".join(
        f"op{k} kind{k % 7} {1000 + k} {k * 10**6} {GIB100 // (1 + k % 3)} 10" for k in range(200)
    )
    first, second = (json.dumps(answered(one).advice) for one in (analysed(table), analysed(table)))
    assert first == second


# Rules in order, for real profiles; docs/advice.md judges each.
GOLDEN = {
    "profiles/tpu-v6e-inference/host_0.xplane.pb": ["C5", "C3", "C1", "M2"],
    "profiles/tpu-v5p-training-golden/reference.json": ["M1", "K2", "M2", "G5", "V1"],
    "profiles/gpu-v100-tf-multiworker/host_0.xplane.pb": ["H1"],
    "profiles/amd-mi300x-conv-jax08/host_0.xplane.pb": ["H1"],
    "samples/pytorch/h100_qwen_causal.json.gz": ["G1", "M1", "G1", "L2", "O1"],
    "samples/pytorch/mi300x_qwen_causal.json.gz": ["K1", "G1", "L2", "G1", "M1"],
}


@pytest.mark.skipif(not SHARED.exists(), reason="the shared library is missing")
@pytest.mark.parametrize("path", GOLDEN)
def test_findings_of_real_profiles(path: str) -> None:
    analysis = analyse_files([SHARED / path])
    findings = found(analysis)
    assert [one["rule"] for one in findings][:5] == GOLDEN[path]
    total = advise(analysis, choose(analysis))
    assert np.isfinite(total.after_us)


@pytest.mark.skipif(not SHARED.exists(), reason="the shared library is missing")
def test_the_wait_for_one_link_has_one_saving() -> None:
    analysis = analyse_files([SHARED / "profiles" / "tpu-v6e-inference" / "host_0.xplane.pb"])
    waits = [one for one in found(analysis) if one["group"] == "link:host"]
    assert [(one["rule"], one["in_plan"]) for one in waits] == [
        ("C5", True),
        ("C3", False),
        ("C1", False),
    ]
    # The busier direction needs 50.3 s at its peak, of which work that is needed hides 2.0 s.
    saved = [one["predicted"]["saving_us"] / 1e6 for one in waits]
    assert saved == pytest.approx([27.64, 8.90, 2.77], abs=0.01)
    assert answered(analysis).advice["first"]["saving_us"] == saved[0] * 1e6
