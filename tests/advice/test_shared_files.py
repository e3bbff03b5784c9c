"""Advice on the files of the shared folder: its first finding, and that all of it was measured.

The titles and savings are those of the twenty headlines of the design, as far as the subject of the
advice is that of the headline.
"""

import re
from pathlib import Path
from typing import Any

import pytest

from roofline.advice.op_kinds import profiler_of
from roofline.analysis.nearest_records import OpClass
from roofline.analysis.records import RooflineAnalysis
from roofline.errors import RooflineError
from roofline.exports.answering import answered
from roofline.presentation.shown import listed_ops
from tests.advice.wording import forms_of
from tests.shared_profiles import SHARED, analysed, needs_shared

PYTORCH = "samples/pytorch/"

# The rule, the form of its title, a name in it, and the saving.
FIRST = {
    "h100_qwen_causal.json.gz": ("G1", "module", "Qwen2RMSNorm", "−5.7 ms"),
    "mi300x_qwen_causal.json.gz": ("K1", "", "4 matmuls of MLP and Attention", "−6.7 ms"),
    "mi300x_sglang_capture.json.gz+mi300x_sglang_decode.json.gz": (
        "M1",
        "attention_paged",
        "",
        "−1.1 ms",
    ),
    "mi300x_vllm_graph_capture.json.gz+mi300x_vllm_graph_decode.json.gz": (
        "L2",
        "",
        "the experts’ down projection",
        "−3.0 ms",
    ),
    "b200_vllm_eager.json.gz": ("H1", "torch", "", "−62 ms"),
    "nccl_message_sizes.json.gz": ("H1", "torch", "", "−167 ms"),
    "a100_no_shapes.json.gz": ("H1", "torch", "", "−142 ms"),
    "samples/nsight_compute/a40_2022.1_imma_indexspaces-74de19f.ncu-rep": (
        "P1",
        "tensor",
        "julia_bb_4477",
        "−3.3 ms",
    ),
    "profiles/tpu-v6e-inference/host_0.xplane.pb": ("C5", "", "", "−28 s"),
    "profiles/tpu-v5p-training-golden/reference.json": (
        "M1",
        "update",
        "dynamic-update-slice.31, .32, .33",
        "−13 ms",
    ),
    "profiles/amd-mi300x-conv-jax08/host_0.xplane.pb": ("H1", "seldom", "", "−95 ms"),
}


def paths_of(names: str) -> list[Path]:
    """The files of a case: those without a folder are PyTorch traces."""
    return [SHARED / (one if "/" in one else f"{PYTORCH}{one}") for one in names.split("+")]


def record_of(analysis: RooflineAnalysis) -> dict[str, Any]:
    return answered(analysis).advice


@needs_shared
@pytest.mark.parametrize("names", FIRST)
def test_what_to_do_first(names: str) -> None:
    record = record_of(analysed(*paths_of(names)))
    first = record["findings"][0]
    rule, form, name, saving = FIRST[names]
    assert first["rule"] == rule and form in forms_of(first) and name in first["title"]
    assert first["saves"].replace("\u00a0", " ").endswith(saving)
    assert record["first"]["finding"] == first["id"]
    assert record["first"]["saving_us"] == first["predicted"]["saving_us"]


@needs_shared
@pytest.mark.parametrize("name", ["mtia_inference", "a100_launches_without_kernels"])
def test_of_the_host_alone_nothing_is_said_of_the_device(name: str) -> None:
    (path,) = SHARED.glob(f"{PYTORCH}{name}*")
    record = record_of(analysed(path))
    assert (record["findings"], record["first"], record["floor_us"]) == ([], None, None)
    assert (record["summary"], record["note"]) == ("", "")


_WORDS = {
    "ncu": re.compile(r"record_shapes|ProfilerActivity|rocprof|cost_estimate|donate_argnums"),
    "rocprof": re.compile(r"record_shapes|ProfilerActivity|\bncu\b|cost_estimate|donate_argnums"),
    "torch": re.compile(r"cost_estimate|host:metadata|--block|Pallas|jax_"),
    "tpu": re.compile(r"record_shapes|ProfilerActivity|rocprof|\bncu\b|CUDA|Triton|torch"),
    "xla_gpu": re.compile(r"record_shapes|ProfilerActivity|cost_estimate|torch\."),
    "": re.compile(r"record_shapes|ProfilerActivity|cost_estimate|\bncu\b|rocprof"),
}
"""Words of other profilers, by the one that wrote a file."""

_SUFFIXES = (".ncu-rep", ".pb", ".json", ".json.gz", ".csv", ".parquet", ".pftrace")
_LARGE = 30_000_000  # bytes


def samples() -> list[Path]:
    """Single files of the shared folder that an import reads in seconds."""
    if not SHARED.is_dir():
        return []
    found = [*(SHARED / "samples").rglob("*"), *(SHARED / "profiles").rglob("*")]
    return sorted(
        one
        for one in found
        if one.is_file() and one.name.endswith(_SUFFIXES) and one.stat().st_size < _LARGE
    )


@needs_shared
@pytest.mark.parametrize("path", samples(), ids=lambda path: str(path.relative_to(SHARED)))
def test_no_finding_says_what_was_not_measured(path: Path) -> None:
    try:
        analysis = analysed(path)
    except RooflineError:
        return  # not a profile: its format's tests say why
    record = record_of(analysis)
    for one in record["findings"]:
        _holds(analysis, one)
    planned = [one for one in record["findings"] if one["in_plan"]]
    keeping = [one["predicted"]["saving_us"] for one in planned if not one["changes_results"]]
    assert keeping == sorted(keeping, reverse=True)
    groups = [one["group"] for one in planned if one["group"]]
    assert len(set(groups)) == len(groups)
    first_us = record["first"]["saving_us"] if record["first"] else None
    if first_us is not None:
        assert first_us == max(keeping, default=first_us)
    saved_us = sum(one["predicted"]["saving_us"] for one in planned)
    assert saved_us == pytest.approx(record["now_us"] - record["after_us"], rel=1e-6, abs=1e-3)


def _holds(analysis: RooflineAnalysis, one: dict[str, Any]) -> None:
    """The predicate of a finding was measured, and its text is for this profiler."""
    near, rule = analysis.nearest, one["rule"]
    ops = listed_ops(analysis)[one["ops"]].tolist()
    assert [analysis.ops.name[op] for op in ops] == one["op_names"]
    counted = [bool(near.is_busy_known[op]) for op in ops]
    kinds = {near.kind_of(op) for op in ops}
    text = f"{one['title']} {one['try']}"
    assert not _WORDS[profiler_of(analysis)].search(text), text
    if rule in {"W2", "P1"}:
        assert all(counted)
    if rule == "M1" or (rule == "K1" and "filled" not in one["observed"]):
        assert not any(counted)
    if rule == "L2":
        assert kinds == {OpClass.LATENCY}
        moved = {"copy", "memcpy", "dynamic-update-slice"}
        assert not moved & {analysis.profile.ops.category[op] for op in ops}
    if rule.startswith(("H", "L", "M", "K", "C")):
        assert not analysis.profile.is_host_only
    if rule in {"H1", "H2"}:
        assert len(analysis.profile.ops) > 1
    if rule in {"M2", "K3", "L1"}:
        assert one["hypothetical"] and one["confidence"] == "low"
