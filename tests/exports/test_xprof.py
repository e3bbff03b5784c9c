"""XProf's own table: layout, texts and escaping. Its numbers are held against XProf's elsewhere."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from roofline.exports.xprof import to_xprof
from roofline.model.device import DeviceKind
from roofline.model.memory import MemoryLevel
from roofline.model.profile import Diagnostic, Severity
from tests.builders import analysed, make_steps, reported

OPS = """
op     | category | self_us | flop | hbm_bytes | program | source
matmul | fusion   | 500     | 5e8  | 1e6       | 7       | a.py:12
feed   | infeed   | 100     | 0    | 1e6       | 7       |
"""
COLUMNS = [
    "step",
    "rank",
    "category",
    "operation",
    "occurrences",
    "total_time",
    "avg_time",
    "total_self_time",
    "avg_self_time",
    "total_self_time_percent",
    "cumulative_total_self_time_percent",
    "dma_stall_percent",
    "measured_flop_rate",
    "model_flop_rate",
    "measured_memory_bw",
    "hbm_bw",
    "cmem_read_bw",
    "cmem_write_bw",
    "vmem_read_bw",
    "vmem_write_bw",
    "operational_intensity",
    "hbm_operational_intensity",
    "cmem_read_operational_intensity",
    "cmem_write_operational_intensity",
    "vmem_read_operational_intensity",
    "vmem_write_operational_intensity",
    "bottleneck_operational_intensity",
    "bound_by",
    "total_time_per_core",
    "total_time_in_percentage",
    "optimal_flop_rate",
    "roofline_efficiency",
    "compute_efficiency",
    "max_mem_bw_utilization",
    "include_infeed_outfeed",
    "hlo_module_id",
    "source_info",
]


def tables(table: str = OPS, **rest: Any) -> list[dict[str, Any]]:
    result: list[dict[str, Any]] = json.loads(to_xprof(analysed(table, xprof_compat=True, **rest)))
    return result


def rows(table: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Rows as mappings from column id to value."""
    names = [column["id"] for column in table["cols"]]
    return [
        dict(zip(names, (cell["v"] for cell in row["c"]), strict=True)) for row in table["rows"]
    ]


def test_columns_are_xprofs_in_order_with_types() -> None:
    table, _ = tables()
    assert [column["id"] for column in table["cols"]] == COLUMNS
    texts = {"step", "category", "operation", "bound_by", "hlo_module_id", "source_info"}
    types = {column["id"]: column["type"] for column in table["cols"]}
    assert {name for name, kind in types.items() if kind == "string"} == texts
    assert {name for name, kind in types.items() if kind == "boolean"} == {"include_infeed_outfeed"}
    labels = {column["id"]: column["label"] for column in table["cols"]}
    assert labels["hbm_bw"] == "HBM BW (GiB/s)"
    assert labels["cmem_read_operational_intensity"] == (
        "CMEM Read Operational Intensity (FLOP/Byte)"
    )


def test_second_state_follows_the_first() -> None:
    steps = make_steps({"us": 100, "flop": 1, "hbm": 1})
    found = rows(tables(steps=steps)[0])
    assert [(row["step"], row["operation"], row["include_infeed_outfeed"]) for row in found] == [
        ("Total", "Program", True),
        ("Total", "matmul", True),
        ("Total", "feed", True),
        ("Average", "Program", True),
        ("0", "Program", True),
        ("Total", "Program", False),
        ("Total", "matmul", False),
        ("Average", "Program", False),
        ("0", "Program", False),
    ]


def test_numbers_are_doubles_and_program_ids_text() -> None:
    (_, op, *_) = rows(tables()[0])
    assert all(isinstance(op[name], float) for name in ("rank", "occurrences", "total_time"))
    assert op["hlo_module_id"] == "7"
    assert b'"v":1.0' in to_xprof(analysed(OPS, xprof_compat=True))


def test_program_row_is_the_whole() -> None:
    program = rows(tables()[0])[0]
    assert (program["rank"], program["category"], program["occurrences"]) == (0, "Program", 1)
    assert (program["total_self_time"], program["total_time_in_percentage"]) == (0, 1)
    assert (program["hlo_module_id"], program["source_info"]) == ("0", "")


def test_source_is_escaped_but_names_are_not() -> None:
    table = "op|category|self_us|flop|hbm_bytes|source|stack\n<b>|<i>|1|1|1|<'a'&\"b\">:3|x<y;z"
    op = rows(tables(table)[0])[1]
    assert (op["operation"], op["category"]) == ("<b>", "<i>")
    assert op["source_info"] == (
        "<div class='source-info-cell' title='x&lt;y\nz'>"
        "&lt;&#39;a&#39;&amp;&quot;b&quot;&gt;:3</div>"
    )


def test_source_without_line_is_empty() -> None:
    table = "op|self_us|flop|hbm_bytes|source\nx|1|1|1|a.py"
    assert rows(tables(table)[0])[1]["source_info"] == ""


@pytest.mark.parametrize(
    ("gflops", "text"),
    [
        (1153500.0, "1.1535e+06"),
        (275000.0, "275000"),
        (1234567.89, "1.23457e+06"),
        (None, "0"),
        (0.00001, "1e-05"),
    ],
)
def test_properties_have_six_significant_digits(gflops: float | None, text: str) -> None:
    assert tables(device=reported(gflops=gflops))[0]["p"]["peak_flop_rate"] == text


def test_properties_of_a_device() -> None:
    device = reported(name="TPU v6", gflops=1000.0, has_megacore=True)
    properties = tables(device=device)[0]["p"]
    assert properties["device_type"] == "TPU v6"
    assert (properties["megacore"], properties["has_cmem"]) == ("1", "0")
    assert (properties["peak_hbm_bw"], properties["hbm_ridge_point"]) == ("100", "9.31323")
    assert (properties["peak_cmem_read_bw"], properties["cmem_read_ridge_point"]) == ("0", "0")
    assert properties["time_scale_multiplier"] == "1"


@pytest.mark.covers(42)
def test_cmem_hides_vmem_and_flags_decide_what_is_shown() -> None:
    both = {MemoryLevel.CMEM_READ: 5.0, MemoryLevel.VMEM_READ: 6.0}
    described = reported(gibs=both, has_cmem=True, has_merged_vmem=True)
    shown = tables(device=described)[0]["p"]
    assert (shown["peak_cmem_read_bw"], shown["peak_vmem_read_bw"]) == ("5", "0")
    vmem = tables(device=reported(gibs=both, has_merged_vmem=True))[0]["p"]
    assert (vmem["peak_cmem_read_bw"], vmem["peak_vmem_read_bw"]) == ("0", "6")
    hidden = tables(device=reported(gibs=both))[0]["p"]
    assert (hidden["peak_cmem_read_bw"], hidden["peak_vmem_read_bw"]) == ("0", "0")


def noted(*codes: str) -> list[list[str]]:
    notes = [Diagnostic(severity=Severity.WARNING, code=code, message=code) for code in codes]
    found = tables(diagnostics=notes)[1]
    assert [column["id"] for column in found["cols"]] == ["severity", "message"]
    return [[cell["v"] for cell in row["c"]] for row in found["rows"]]


def test_missing_steps_are_xprofs_warning() -> None:
    ((severity, text),) = noted("no-steps")
    assert severity == "WARNING"
    assert text.startswith("No step marker observed and hence the step time is unknown.")
    assert text.endswith("for (2), you may try to profile longer.")


def test_steps_apart_are_xprofs_other_warning() -> None:
    ((_, text),) = noted("steps-do-not-intersect")
    assert text.startswith("Although there are steps observed on some host(s)")
    assert text.endswith("Consequently, the overall step time is unknown.")


def test_our_own_notes_are_not_in_xprofs_table() -> None:
    assert noted("unknown-cost", "sparse-core-first") == []


def test_device_without_roofline_has_no_rows_but_all_columns() -> None:
    device = reported(kind=DeviceKind.CPU, name="", cores=0, gflops=None, gibs={})
    table, diagnostics = tables("", device=device)
    assert table["rows"] == diagnostics["rows"] == []
    assert len(table["cols"]) == 37
    assert set(table["p"].values()) == {"", "0"}


def test_tpu_without_ops_has_its_program_rows() -> None:
    found = rows(tables("")[0])
    assert [row["step"] for row in found] == ["Total", "Average", "Total", "Average"]
    assert all(row["bound_by"] == "Unknown" for row in found)
