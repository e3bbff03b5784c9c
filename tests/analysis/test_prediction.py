"""Ops without a time: predictions at their roof, points of rates, and no part in any sum."""

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from roofline.analysis.records import RooflineAnalysis, Timing
from roofline.api.profiles import Profile
from roofline.devices.choice import read_choice
from roofline.exports.answering import answer_of
from roofline.exports.render import render
from roofline.model.memory import MemoryLevel
from roofline.pipeline import analyse_files
from roofline.presentation.page import PageIdentity, page_data
from roofline.presentation.sentences import plain_text

ROOT = Path(__file__).resolve().parents[2]
MINIMAL = ROOT.parent / "shared" / "samples" / "minimal"
needs_shared = pytest.mark.skipif(not MINIMAL.is_dir(), reason="the shared samples are not there")

PREDICTED = """\
# device: TPU7x bf16 seed
# peak_bf16: 2307 TFLOP/s
# peak_hbm: 7.2 TB/s
name,calls,flops,hbm_bytes,precision
LayerNorm,1,2684354560,1610629120,bf16
MatMul 600x600,1,432000000,2160000,bf16
FFN Up,1,8796093022208,2818572288,bf16
"""
POINT = "# device: T4\nname,performance_tflops,dram_ai\nMy Model,12,150\n"
MIXED = """\
# peak_fp32: 10 TFLOP/s
# peak_dram: 100 GB/s
name,flops,bytes,time_s,gflops,ai
measured,1e12,1e10,1,,
planned,4e12,1e10,,,
stated,,,,500,10
"""


def analysis_of(folder: Path, text: str, **rest: Any) -> RooflineAnalysis:
    path = folder / "kernels.csv"
    path.write_text(text, "utf-8")
    return analyse_files([path], **rest)


def row(analysis: RooflineAnalysis, name: str) -> int:
    return analysis.ops.name.index(name)


def rate(analysis: RooflineAnalysis, name: str) -> float:
    return float(analysis.ops.measures.flop_rate_gflops[row(analysis, name)])


def bound(analysis: RooflineAnalysis, name: str) -> str:
    return analysis.bound_label(int(analysis.ops.measures.bound[row(analysis, name)]))


# ------------------------------------------------------------------------------------- predictions


@pytest.mark.covers(56, 92, 209)
def test_work_without_a_time_stands_at_its_roof(tmp_path: Path) -> None:
    found = analysis_of(tmp_path, PREDICTED)
    assert rate(found, "LayerNorm") == pytest.approx(2684354560 / 1610629120 * 7200)
    assert rate(found, "MatMul 600x600") == pytest.approx(200 * 7200)
    assert rate(found, "FFN Up") == pytest.approx(2_307_000)
    names = ("LayerNorm", "MatMul 600x600", "FFN Up")
    assert [bound(found, name) for name in names] == ["HBM", "HBM", "Compute"]
    assert [found.nearest.ceiling_of(row(found, name)) for name in names] == [
        *("hbm", "hbm", "matrix_bf16")
    ]
    measures = found.ops.measures
    assert measures.intensity[MemoryLevel.HBM][row(found, "MatMul 600x600")] == pytest.approx(200)
    assert measures.attainable_gflops[:3] == pytest.approx(measures.flop_rate_gflops[:3])
    assert found.ops.timing[:3] == (Timing.PREDICTED,) * 3
    for unknown in (
        measures.roofline_efficiency_ratio,
        measures.self_time_us,
        measures.total_time_us,
        found.ops.saving_per_core_us,
        found.with_infeed.self_share_ratio,
    ):
        assert np.isnan(unknown[:3]).all()


def test_there_is_no_total_of_predictions(tmp_path: Path) -> None:
    found = analysis_of(tmp_path, PREDICTED)
    total = found.with_infeed.program.measures
    assert np.isnan(total.flop_rate_gflops).all()
    assert np.isnan(total.total_time_us).all()
    assert found.profile.time_ps == 0


def test_other_peaks_allow_other_rates(tmp_path: Path) -> None:
    choice = read_choice(None, ["hbm=3.6TB/s", "matrix_bf16=100TFLOP/s"])
    found = analysis_of(tmp_path, PREDICTED, choice=choice)
    assert rate(found, "LayerNorm") == pytest.approx(2684354560 / 1610629120 * 3600)
    assert rate(found, "MatMul 600x600") == pytest.approx(100_000)
    assert bound(found, "MatMul 600x600") == "Compute"


def test_without_peaks_there_is_no_prediction(tmp_path: Path) -> None:
    text = "".join(line for line in PREDICTED.splitlines(keepends=True) if line[0] != "#")
    found = analysis_of(tmp_path, text)
    assert np.isnan(found.ops.measures.flop_rate_gflops).all()
    assert bound(found, "FFN Up") == "Unknown"


@pytest.mark.parametrize("text", ["name,flops,gflops\nk,10,\nj,5,1\n", "name,bytes,bw\nk,10,\n"])
def test_half_known_work_gives_no_prediction(tmp_path: Path, text: str) -> None:
    found = analysis_of(tmp_path, f"# peak_fp32: 1 TFLOP/s\n# peak_dram: 1 GB/s\n{text}")
    at = row(found, "k")
    assert np.isnan(found.ops.measures.flop_rate_gflops[at])
    assert bound(found, "k") == "Unknown"


# ------------------------------------------------------------------------------------------ points


def test_a_point_of_rates_is_measured(tmp_path: Path) -> None:
    found = analysis_of(tmp_path, POINT)
    assert rate(found, "My Model") == pytest.approx(12_000)
    measures = found.ops.measures
    assert measures.bottleneck_intensity[0] == pytest.approx(150, rel=1e-6)
    assert measures.memory_bandwidth_gibs[0] == pytest.approx(12e12 / 150 / 2**30)
    assert measures.roofline_efficiency_ratio[0] == pytest.approx(0.25)  # 80 of 320 GB/s
    assert np.isnan(measures.self_time_us[0])
    assert found.ops.timing[0] is Timing.RATE


def test_points_of_one_name_stay_apart(tmp_path: Path) -> None:
    found = analysis_of(tmp_path, POINT + "My Model,6,75\nMy Model,1,1\n")
    names = ("My Model", "My Model (point 2)", "My Model (point 3)")
    assert found.profile.ops.name == names
    assert [rate(found, name) for name in names] == pytest.approx([12e3, 6e3, 1e3])


# ------------------------------------------------------------------------------------------- mixed


def test_only_measured_work_is_summed(tmp_path: Path) -> None:
    found = analysis_of(tmp_path, MIXED)
    total = found.with_infeed.program.measures
    assert total.flop_rate_gflops[0] == pytest.approx(1000)
    assert total.total_time_us[0] == pytest.approx(1e6)
    assert total.memory_bandwidth_gibs[0] == pytest.approx(1e10 / 2**30)
    view = found.with_infeed
    assert [found.ops.name[op] for op in view.op] == ["measured", "planned", "stated"]
    assert view.self_share_ratio[0] == 1
    assert np.isnan(view.self_share_ratio[1:]).all()
    assert rate(found, "planned") == pytest.approx(10_000)
    assert rate(found, "stated") == pytest.approx(500)


def test_a_time_and_no_time_of_one_name_are_two_operations(tmp_path: Path) -> None:
    text = "# peak_fp32: 1 TFLOP/s\n# peak_dram: 1 GB/s\nname,flops,bytes,time_s\n"
    found = analysis_of(tmp_path, text + "gemm,1e9,1e6,1\ngemm,3e9,3e6,\ngemm,1e9,1e6,1\n")
    assert found.profile.ops.name == ("gemm", "gemm (no time)")
    assert rate(found, "gemm") == pytest.approx(1)
    assert rate(found, "gemm (no time)") == pytest.approx(1000)
    assert found.with_infeed.program.measures.flop_rate_gflops[0] == pytest.approx(1)


# ----------------------------------------------------------------------------------- what is shown


@pytest.mark.parametrize(
    ("text", "headline"),
    [
        (PREDICTED, "Three operations without times: the chart shows where they could lie."),
        (POINT, "One kernel without a time: the chart shows where it could lie."),
        (
            "\n".join([*MIXED.splitlines()[:3], *MIXED.splitlines()[4:], ""]),
            "Two operations without times: the chart shows where they could lie.",
        ),
    ],
)
def test_the_page_says_that_no_time_was_measured(tmp_path: Path, text: str, headline: str) -> None:
    found = analysis_of(tmp_path, text)
    page = page_data(found, answer_of(found), PageIdentity(id="x", created_at="now"))
    verdict = page["views"]["in"]["verdict"]
    assert plain_text(verdict["headline"]) == headline
    assert "There is no total." in plain_text(verdict["lead"])
    assert set(page["ops"]["columns"]["timing"]) <= {"predicted", "rate"}
    assert page["views"]["in"]["program"]["columns"]["total_time_us"] == [None]
    report = render(found, "text", infeed=True).decode()
    assert headline in report
    assert " 0 s" not in report, "a time that was not measured is not 0"
    assert len(Profile("found", found).figure().data)


def test_pages_with_measured_times_have_no_such_column(tmp_path: Path) -> None:
    found = analysis_of(tmp_path, "name,flops,bytes,time_s\nk,10,10,1\n")
    assert (
        "timing"
        not in page_data(found, answer_of(found), PageIdentity(id="x", created_at="now"))["ops"][
            "columns"
        ]
    )


def test_the_table_says_at_best(tmp_path: Path) -> None:
    said = render(analysis_of(tmp_path, MIXED), "text", infeed=True).decode()
    lines = {line.split()[1]: line for line in said.splitlines() if line[:1].isdigit()}
    assert "at best" in lines["planned"]
    assert "at best" not in lines["measured"] + lines["stated"]


@pytest.mark.parametrize("form", ["json", "csv", "xprof"])
def test_every_export_takes_ops_without_times(tmp_path: Path, form: str) -> None:
    assert render(analysis_of(tmp_path, MIXED), form, infeed=True)


def test_records_say_how_rates_were_obtained(tmp_path: Path) -> None:
    found = json.loads(render(analysis_of(tmp_path, MIXED), "json", infeed=True))
    timing = {op["name"]: (op["timing"], op["self_time_us"]) for op in found["ops"]}
    assert timing == {
        "measured": ("measured", 1e6),
        "planned": ("predicted", None),
        "stated": ("rate", None),
    }


def test_the_generic_export_is_read_again(tmp_path: Path) -> None:
    first = analysis_of(tmp_path, MIXED)
    again = tmp_path / "again.json"
    again.write_bytes(render(first, "generic", infeed=True))
    second = analyse_files([again])
    assert second.ops.timing == first.ops.timing
    for column in fields(first.ops.measures):
        one, other = (getattr(each.ops.measures, column.name) for each in (first, second))
        pairs = [(one[key], other[key]) for key in one] if isinstance(one, dict) else [(one, other)]
        for before, after in pairs:
            assert before == pytest.approx(after, nan_ok=True, rel=1e-6), column.name


# -------------------------------------------------------------------------------------- real files


@pytest.mark.covers(139)
@needs_shared
@pytest.mark.parametrize("kind", ["csv", "json"])
def test_the_form_of_the_third_founding_document(kind: str) -> None:
    found = analyse_files([MINIMAL / f"point_intensity_and_rate.{kind}"])
    assert rate(found, "My Model") == pytest.approx(12_000)
    assert found.ops.measures.roofline_efficiency_ratio[0] == pytest.approx(0.25)


@needs_shared
def test_bytes_over_a_link_do_not_drop_the_kernel() -> None:
    found = analyse_files([MINIMAL / "unknown_level_ici.json"])
    assert found.profile.ops.name == ("dot", "dist matmul")
    assert rate(found, "dist matmul") == pytest.approx(34_359.738368)
    assert rate(found, "dot") == pytest.approx(1999999 / 4000002 * 2000)
    codes = {note.code for note in found.diagnostics}
    assert not codes & {"rows-left-out", "levels-left-out"}
    assert found.profile.ops.traffic_bytes[MemoryLevel.ICI][1] > 0
