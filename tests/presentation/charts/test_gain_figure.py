"""Time to gain: all of the time, words that add up as printed, and 20,000 operations."""

import gzip
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from roofline.analysis.records import RooflineAnalysis
from roofline.exports.answering import answer_of
from roofline.figures.figure import painted
from roofline.figures.gain import LEAST_SHARE, Part, Texture, merged
from roofline.library.samples import find_samples
from roofline.model.memory import MemoryLevel
from roofline.pipeline import analyse_files
from roofline.presentation.charts.gain_figure import GainBlocks, gain_figure, gain_of
from roofline.presentation.charts.gain_records import Gain, GainChart
from roofline.presentation.json_text import to_json
from roofline.presentation.page import PageIdentity, page_data
from roofline.presentation.palette import LIGHT
from tests.builders import analysed, reported
from tests.shared_profiles import needs_shared, shared

ROOT = Path(__file__).parents[3]
SAMPLES = {sample.name: sample.files for sample in find_samples(ROOT / "sample_profiles")}
QWEN = "samples/pytorch/h100_qwen_causal.json.gz"
DEVICE = "# peak_dram: 1000 GB/s\n# peak_compute: 100 TFLOP/s\n"


@pytest.fixture(scope="module", params=SAMPLES)
def sample(request: pytest.FixtureRequest) -> RooflineAnalysis:
    return analyse_files([Path(file) for file in SAMPLES[request.param]])


def gain(analysis: RooflineAnalysis) -> Gain:
    page = page_data(analysis, answer_of(analysis), PageIdentity(id="x", created_at=""))
    found: Gain | None = page["figures"]["gain"]
    assert found is not None
    return found


def charts(found: Gain) -> list[GainChart]:
    return [one for one in (found["op"], found["group"]) if one is not None]


def number(text: str) -> float:
    return float(re.sub(r"[^\d.]", "", text))


def of_role(chart: GainChart, role: str, width: str = "wide") -> list[dict[str, Any]]:
    wanted = {"role": role, "width": width}
    return [trace for trace in chart["figure"]["data"] if trace["meta"] == wanted]


def test_blocks_are_all_of_the_time_and_all_gains(sample: RooflineAnalysis) -> None:
    subject = answer_of(sample).subject
    found = GainBlocks(sample, subject)
    for every in (found.of_ops, found.of_groups(dict(enumerate(sample.ops.category)))):
        for blocks in (every, merged(every, LEAST_SHARE * subject.time_us)):
            times = math.fsum(one.time_us for one in blocks)
            assert times == pytest.approx(subject.time_us, rel=1e-9)
            if found.is_judged:
                gains = math.fsum(one.gain_us for one in blocks)
                assert gains == pytest.approx(subject.gain_us, rel=1e-9)
                needed = math.fsum(one.needed_us for one in blocks if one.part is Part.WORK)
                assert needed == pytest.approx(subject.parts.needed, rel=1e-9)


def test_the_equation_adds_up_as_printed(sample: RooflineAnalysis) -> None:
    found = gain(sample)
    amounts = [number(term["amount"]) for term in found["equation"]]
    assert math.fsum(amounts) == pytest.approx(number(found["total"].split("\u00a0")[0]))
    assert all(amounts), "what prints as 0 is left out"
    times = math.fsum(term["time_us"] for term in found["equation"])
    assert times == pytest.approx(answer_of(sample).subject.time_us, rel=0.02)


def test_what_the_work_needs_is_the_number_of_the_headline() -> None:
    """14.48 ms are 9.53 at the roofs, 4.90 to gain and 0.05 of waits: "9.6" stood below "9.5"."""
    found = gain(analyse_files(SAMPLES["pytorch-mi300x-two-ranks"]))
    assert [term["amount"] for term in found["equation"]] == ["9.5", "5.0"]


def test_the_equation_has_the_numbers_of_the_lines_above() -> None:
    """Of 6.42, 0.03 and 0.01 ms one is rounded down: the headline says 6.42 of unknown cost."""
    device = reported(gflops=None, gibs={MemoryLevel.DRAM: 1000.0})
    rows = "op | category | self_us | flop | bytes\nopaque | custom-call | 6417 | – | –"
    found = gain(analysed(f"{rows}\ncopy | copy | 6 | 0 | 1", device=device, idle_us=36))
    said = {term["label"]: term["amount"] for term in found["equation"]}
    assert said == {"cost not known": "6.42", "to gain": "0.01", "idle, cause unknown": "0.03"}


def test_each_block_has_one_mark_in_either_layout(sample: RooflineAnalysis) -> None:
    for chart in charts(gain(sample)):
        for width in ("wide", "narrow"):
            marks = of_role(chart, "marks", width)
            rows = [row for trace in marks for row in trace["customdata"]]
            assert rows == list(range(len(chart["blocks"])))
        labels = [text for trace in of_role(chart, "labels") for text in trace["text"]]
        assert len(labels) <= 16
        painted(chart["figure"], LIGHT.__getitem__)


def test_names_from_files_are_inert() -> None:
    rows = "<b>m,5e8,1e6,400\n,1e8,1e6,300\n"
    chart = gain(analysed_table(f"{DEVICE}name,flops,dram_bytes,time_us\n{rows}"))["op"]
    labels = [text for trace in of_role(chart, "labels") for text in trace["text"]]
    assert any("&lt;b&gt;m" in text for text in labels)
    assert not any(re.search("<(?!br>)", text) for text in labels)


def analysed_table(text: str) -> RooflineAnalysis:
    """The analysis of a table of kernels."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernels.csv"
        path.write_text(text)
        return analyse_files([path])


@pytest.mark.parametrize("ops", [1, 2, 3])
def test_few_operations_are_wide_blocks(ops: int) -> None:
    rows = "".join(f"op{k},{k + 1}e8,1e6,{100 * (k + 1)}\n" for k in range(ops))
    found = gain(analysed_table(f"{DEVICE}name,flops,dram_bytes,time_us\n{rows}"))
    assert found["title"] == "Time to gain"
    assert len(found["op"]["blocks"]) == ops
    assert found["by"] == "op"


def test_without_peaks_blocks_are_times_alone() -> None:
    table = "name,flops,dram_bytes,time_us\na,1e9,1e8,300\nb,2e9,1e8,500\n"
    found = gain(analysed_table(table))
    assert found["title"] == "Time"
    assert [block["name"] for block in found["op"]["blocks"]] == ["b", "a"]
    textures = {trace["meta"]["role"] for trace in found["op"]["figure"]["data"]}
    assert textures == {Texture.PLAIN.value, "labels", "marks"}
    assert not found["op"]["figure"]["layouts"]["wide"]["yaxis"]["visible"]


def test_unknown_work_is_dots_and_nothing_to_gain() -> None:
    rows = "a,1e9,1e8,300\nb,,,500\n"
    found = gain(analysed_table(f"{DEVICE}name,flops,dram_bytes,time_us\n{rows}"))
    last = found["op"]["blocks"][-1]
    assert (last["name"], last["key"], last["gain_us"]) == ("b", "unknown", 0)
    (dots,) = of_role(found["op"], Texture.UNKNOWN.value)
    assert dots["width"] == [pytest.approx(500)]
    assert {"cost not known"} <= {term["label"] for term in found["equation"]}


def test_twenty_thousand_operations_are_few_hundred_blocks() -> None:
    """Times are log-normal: most are far below a pixel."""
    times = np.random.default_rng(5).lognormal(0, 2, 20_000)
    rows = "".join(f"op{k},{1e6 * us:.6g},{2e5 * us:.6g},{us:.6g}\n" for k, us in enumerate(times))
    analysis = analysed_table(f"{DEVICE}name,flops,dram_bytes,time_us\n{rows}")
    subject = answer_of(analysis).subject
    found = gain_figure(analysis, subject, {}, lambda op: analysis.ops.name[op])
    assert found is not None
    assert (found["by"], found["group"]) == ("op", None), "all are of one category"
    assert 100 < len(found["op"]["blocks"]) <= 500
    assert sum(block["count"] for block in found["op"]["blocks"]) == 20_000
    drawn = GainBlocks(analysis, subject).of_ops
    least_us = LEAST_SHARE * subject.time_us
    total = math.fsum(one.time_us for one in merged(drawn, least_us))
    assert total == pytest.approx(subject.time_us, rel=1e-9)
    page = page_data(analysis, answer_of(analysis), PageIdentity(id="x", created_at=""))
    assert len(gzip.compress(to_json(gain_of(analysis, subject, page)), 6)) < 40_000


@needs_shared
def test_the_step_of_a_language_model() -> None:
    """The numbers of the design, from the trace itself."""
    found = gain(shared(QWEN))
    said = [f"{term['amount']} {term['label']}" for term in found["equation"]]
    assert said == [
        "17.2 at its roofs",
        "14.7 to gain",
        "1.2 waiting for the host",
        "1.8 idle, cause unknown",
    ]
    names = [block["name"] for block in found["op"]["blocks"][:3]]
    assert names == [
        "aten::_flash_attention_forward · Qwen2Attention",
        "idle, cause unknown",
        "aten::mul · Qwen2Attention",
    ]
    lines = found["op"]["blocks"][0]["lines"]
    assert lines == [
        "2.72\u00a0ms, 8\u202f% of the time",
        "19\u202f% of the HBM roof, 2.20\u00a0ms to gain",
        "24 calls",
    ]
    assert (found["by"], found["has_work"]) == ("op", False)


@needs_shared
def test_little_work_has_a_strip_of_its_own() -> None:
    found = gain(shared("profiles/amd-mi300x-conv-jax08/host_0.xplane.pb"))
    assert found["has_work"]
    assert "yaxis2" in found["op"]["figure"]["layouts"]["wide"]
    strips = {trace["xaxis"] for trace in of_role(found["op"], "marks")}
    assert strips == {"x", "x2"}


KERNELS = """\
"Kind","Agent_Id","Queue_Id","Dispatch_Id","Kernel_Id","Kernel_Name","Correlation_Id",\
"Start_Timestamp","End_Timestamp"
"KERNEL_DISPATCH","Agent 4",1,1,1,"scale",1,0,1000
"KERNEL_DISPATCH","Agent 4",1,2,2,"add",2,161000000,161001000
"""


def test_names_of_little_work_follow_those_of_all(tmp_path: Path) -> None:
    """Two kernels 161 ms apart had no page: there are more names than blocks of all of the time."""
    table = tmp_path / "1_kernel_trace.csv"
    table.write_text(KERNELS)
    chart = gain(analyse_files([table]))["op"]
    assert len(chart["blocks"]) == 4
    assert " in 2 blocks. First: idle, cause unknown " in chart["figure"]["alt"]


@needs_shared
def test_a_host_alone_is_times_of_its_operators() -> None:
    found = gain(shared("samples/pytorch/mtia_inference.json.gz"))
    assert found["title"] == "Time of the host"


def test_an_analysis_from_builders_has_waits() -> None:
    """What no operation explains is idle time, whose cause a table does not say."""
    analysis = analysed("op | category | self_us | flop | hbm_bytes\nm | dot | 500 | 4e8 | 1e6\n")
    keys = {block["key"] for block in gain(analysis)["op"]["blocks"]}
    assert keys <= {"work", "unknown", "impossible", "plain", "unknown_wait"}
