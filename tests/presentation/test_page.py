"""The contract with the browser: what docs/page-data.md says is there, and nothing else."""

import gzip
import json
import math
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema_rs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roofline.analysis.records import RooflineAnalysis
from roofline.devices.resolve import resolve
from roofline.exports.answering import answer_of
from roofline.library.samples import Sample, find_samples
from roofline.model.compute import ComputeUnit
from roofline.model.device import DeviceKind
from roofline.model.memory import MemoryLevel
from roofline.model.profile import Diagnostic, Host, Severity
from roofline.pipeline import analyse_files
from roofline.presentation.contract_schemas import PLACE, schemas
from roofline.presentation.json_text import to_json
from roofline.presentation.op_columns import OP_COLUMNS
from roofline.presentation.op_details import op_details
from roofline.presentation.page import PageIdentity, build_page, facts_data, view_data
from roofline.presentation.page_frame import FILTERS
from roofline.presentation.rounding import numbers as rounded_numbers
from roofline.presentation.rounding import rounded
from roofline.presentation.shown import listed_ops, shown_levels
from tests.builders import (
    ABSENT,
    analysed,
    analysis_on,
    counters,
    make_steps,
    profile_from_table,
    reported,
)
from tests.cli.test_main import run
from tests.narrowing import known
from tests.page_rows import program_points

SAMPLES = Path(__file__).resolve().parents[2] / "sample_profiles"
DOCUMENT = (Path(__file__).resolve().parents[2] / "docs" / "page-data.md").read_text("utf-8")
UNITS = set(known(re.search(r"\*\*Units\*\*.*?:(.*?)\n\n", DOCUMENT, re.S))[1].split("`")[1::2])
GZIPPED_LIMIT = 120 * 1024
FIGURES_LIMIT = 32 * 1024  # two rooflines, and the time to gain by operation and by group

OPS = f"""
op     | category    | self_us | flop     | hbm_bytes | vmem_read_bytes | source | program
matmul | fusion      | 500.123 | 5e8      | 1000001   | 7               | m.py:1 | {2**64 - 1}
pallas | custom-call | 200     | {ABSENT} | {ABSENT}  | {ABSENT}        | a.py   | 1
feed   | infeed      | 100     | 0        | 1e6       | 0               |        | 1
copy   | copy        | 10      | 0        | 1e6       | {ABSENT}        |        | 1
"""
STEPS = make_steps(*({"us": us, "flop": 1e6, "hbm": 1e5} for us in (30, 33, 90, 31)))
V6 = reported(
    cores=2,
    gflops=918_000.0,
    gibs={MemoryLevel.HBM: 1525.49, MemoryLevel.VMEM_READ: 20_000.0},
    counters=counters(0.25, None),
)
NOTE = Diagnostic(severity=Severity.WARNING, code="x", message="Look.", remedy="Run.", count=3)
EMPTY_DEVICE: Mapping[str, Any] = {"gflops": None, "gibs": {}, "cores": 0, "name": ""}


def identity(**rest: Any) -> PageIdentity:
    return PageIdentity(id="abc", created_at="2026-11-21T11:00:00Z", **rest)


def page(analysis: RooflineAnalysis, **rest: Mapping[str, int]) -> dict[str, Any]:
    """Page data as the browser gets it, read with a reader that takes no NaN."""
    data = build_page(analysis, answer_of(analysis), identity(**rest))
    result: dict[str, Any] = json.loads(
        data, parse_constant=lambda name: pytest.fail(f"{name} in JSON")
    )
    return result


@pytest.fixture(scope="module")
def full() -> dict[str, Any]:
    analysis = analysed(
        OPS,
        idle_us=300,
        device=V6,
        steps=STEPS,
        diagnostics=[NOTE],
        captured_at_ns=1_741_724_099_999_999_999,
        program_names={1: "jit_step"},
    )
    return page(analysis, file_sizes={"host-0.pb": 862_707})


def numbers(
    value: Mapping[str, Any] | float | Sequence[Mapping[str, Any]] | str | None,
) -> list[float]:
    """All numbers in a JSON value."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return [number for item in value for number in numbers(item)]
    return [value] if isinstance(value, float) else []


# ---------------------------------------------------------------------------------------- contract

SCHEMAS = schemas()


def check(document: object, name: str) -> None:
    """Fails where a document is not as it is declared: keys are missing, unknown, or of others."""
    schema = {"$ref": f"{PLACE}{name}", "components": {"schemas": SCHEMAS}}
    errors = jsonschema_rs.validator_for(schema).iter_errors(document)
    assert [f"{error.instance_path}: {error.message[:200]}" for error in errors] == []


def test_page_data_are_as_declared(full: Mapping[str, Any]) -> None:
    check(full, "SentPage")
    with pytest.raises(AssertionError, match="unknown_key"):
        check({**full, "unknown_key": 1}, "SentPage")


@pytest.mark.parametrize("sample", find_samples(SAMPLES), ids=lambda sample: sample.name)
def test_documents_of_every_sample_are_as_declared(sample: Sample) -> None:
    analysis = analyse_files(list(sample.files))
    answer = answer_of(analysis)
    check(page(analysis), "SentPage")
    check(json.loads(to_json(facts_data(analysis, answer, identity()))), "Facts")
    check(json.loads(to_json(view_data(analysis, answer, identity(), "out"))), "View")
    for details in op_details(analysis):
        check(json.loads(details), "OpDetails")


def test_every_column_of_the_menu_has_its_values(full: Mapping[str, Any]) -> None:
    ids = [column["id"] for column in full["columns"]]
    sent = set(full["ops"]["columns"]) | set(full["views"]["in"]["columns"])
    assert len(ids) == len(set(ids))
    assert {"name", "bound_by", "hbm_bandwidth_gibs", "compute_clock_us"} <= set(ids) <= sent
    assert {"program_id", "at_ridge", "part"} <= sent - set(ids)


def test_every_program_column_has_its_values(full: Mapping[str, Any]) -> None:
    ids = [column["id"] for column in full["program_columns"]]
    assert len(ids) == len(set(ids))
    extra = {"scope", "order", "is_outlier", "flop_is_least", "bytes_is_least"}
    assert {"label", "flop_rate_gflops", *ids, *extra} <= set(
        program_points(full["views"]["in"])[0]
    )


def test_units_are_documented(full: Mapping[str, Any]) -> None:
    shown = [*full["columns"], *full["program_columns"], *full["device"]["fields"]]
    assert {item["unit"] for item in shown} <= UNITS


def test_all_arrays_have_one_entry_per_op(full: Mapping[str, Any]) -> None:
    ops = full["ops"]
    assert {len(column) for column in ops["columns"].values()} == {ops["count"]}
    for view in full["views"].values():
        assert {len(column) for column in view["columns"].values()} == {len(view["op"])}


def test_all_indices_are_in_range(full: Mapping[str, Any]) -> None:
    columns, bounds = full["ops"]["columns"], full["bounds"]
    assert {*columns["category"]} <= {*range(len(full["categories"]))}
    assert {*columns["bound_by"]} <= {*range(len(bounds))}
    for view in full["views"].values():
        assert {*view["op"]} <= {*range(full["ops"]["count"])}
        assert {one["category"] for one in view["categories"]} <= {*range(len(full["categories"]))}
        assert {point["bound_by"] for point in program_points(view)} <= {*range(len(bounds))}


def test_every_op_is_sent_once_and_listed_by_self_time(full: Mapping[str, Any]) -> None:
    assert full["ops"]["columns"]["name"] == ["matmul", "IDLE", "pallas", "feed", "copy"]
    assert full["views"]["in"]["op"] == [0, 1, 2, 3, 4]
    assert full["views"]["out"]["op"] == [0, 1, 2, 4]


def test_second_state_may_list_ops_that_the_first_cut() -> None:
    ops = "\n".join(f"op{k}|fusion|{2000 - k}|1|1" for k in range(1000))
    analysis = analysed(f"op|category|self_us|flop|hbm_bytes\nfeed|infeed|9999|0|1\n{ops}")
    data = page(analysis)
    assert data["ops"]["count"] == 1001
    assert data["views"]["in"]["beyond"]["ops"] == 1
    assert data["views"]["out"]["beyond"] == {"ops": 0, "share_ratio": 0}


def test_cost_tells_what_is_known(full: Mapping[str, Any]) -> None:
    costs = dict(zip(full["ops"]["columns"]["name"], full["ops"]["columns"]["cost"], strict=True))
    assert costs == {
        "matmul": "known",
        "pallas": "unknown",
        "feed": "no_flops",
        "copy": "no_flops",
        "IDLE": "idle",
    }
    assert set(costs.values()) <= set(re.findall(r"`(\w+)`", DOCUMENT.split("**Cost**")[1]))


def test_unknown_is_null_and_zero_is_zero(full: Mapping[str, Any]) -> None:
    columns = full["ops"]["columns"]
    assert columns["flop_rate_gflops"][2] is None
    assert columns["flop_rate_gflops"][3] == 0
    assert columns["program_id"][:2] == ["18446744073709551615", None]
    assert columns["occurrences"][:2] == [1, None]
    assert columns["source"] == ["m.py:1", "", "a.py", "", ""]
    assert columns["program"] == ["", "", "jit_step", "jit_step", "jit_step"]


def test_numbers_have_six_significant_digits(full: Mapping[str, Any]) -> None:
    lines = full["views"]["in"]["verdict"]
    raw = [one["raw"] for line in lines.values() for one in line if "raw" in one]
    whole = {"subject", "verdict"}  # equal to the API's
    six = {key: value for key, value in full.items() if key not in whole}
    assert all(number == float(f"{number:.5e}") for number in numbers(six) if number not in raw)
    assert full["ops"]["columns"]["self_time_per_core_us"][0] == 250.062


def test_roof_slopes_use_powers_of_ten_and_labels_powers_of_two(full: Mapping[str, Any]) -> None:
    hbm = full["roofs"]["memory"][0]
    assert (hbm["gibs"], hbm["gbs"]) == (1525.49, 1637.98)
    assert hbm["ridge_flop_per_byte"] == pytest.approx(918_000 / 1637.98, rel=1e-5)


def test_bounds_are_by_code_and_memory_bounds_name_their_level(full: Mapping[str, Any]) -> None:
    kinds = [bound["kind"] for bound in full["bounds"]]
    assert kinds == ["none", "flat", *["slanted"] * 5, "link"]
    assert [bound["level"] for bound in full["bounds"][2:4]] == ["hbm", "cmem_read"]


def test_levels_name_their_columns_and_the_main_memory(full: Mapping[str, Any]) -> None:
    columns = set(full["ops"]["columns"])
    shown = {level["id"]: level for level in full["levels"] if level["is_shown"]}
    assert list(shown) == ["hbm", "vmem_read"]
    for level in full["levels"]:
        sent = {level["columns"]["bandwidth"], level["columns"]["intensity"]} <= columns
        assert sent == level["is_shown"]
    assert [level["id"] for level in full["levels"] if level["is_main"]] == ["hbm"]
    assert shown["vmem_read"]["spoken"] == "VMEM read"
    assert shown["hbm"]["peak_gibs"] == 1525.49


def test_units_name_their_columns() -> None:
    profile = profile_from_table(OPS, device=V6)
    flop = {ComputeUnit.MATRIX_BF16: profile.ops.flop}
    split = replace(profile, ops=replace(profile.ops, unit_flop=flop))
    data = page(analysis_on(split, resolve(V6)))
    (unit,) = data["units"]
    assert set(unit) == {"id", "label", "peak_gflops", "columns"}
    assert all(f'"{key}"' in DOCUMENT for key in unit)
    assert (unit["id"], unit["label"]) == ("matrix_bf16", "Matrix bf16")
    assert unit["columns"]["rate"] in data["ops"]["columns"]
    assert unit["columns"]["rate"] in {column["id"] for column in data["columns"]}


def test_axes_read_columns_that_are_sent(full: Mapping[str, Any]) -> None:
    columns = set(full["ops"]["columns"])
    assert [axis["id"] for axis in full["x_axes"]] == ["hbm", "vmem_read", "total"]
    assert all(axis["column"] in columns for axis in full["x_axes"])


def test_steps_are_ordered_from_zero_to_one_and_outliers_marked(full: Mapping[str, Any]) -> None:
    points = program_points(full["views"]["in"])
    assert [(point["scope"], point["order"]) for point in points] == [
        ("total", None),
        ("total_hw", None),
        ("average", None),
        ("step", 0),
        ("step", 0.333333),
        ("step", 0.666667),
        ("step", 1),
    ]
    assert [point["is_outlier"] for point in points] == [*[False] * 5, True, False]


def test_only_step_is_the_last_one() -> None:
    data = page(analysed(OPS, steps=make_steps({"us": 5, "flop": 1, "hbm": 1})))
    assert program_points(data["views"]["in"])[-1]["order"] == 1


def test_counters_have_their_own_point_with_what_they_know(full: Mapping[str, Any]) -> None:
    hardware = program_points(full["views"]["in"])[1]
    assert hardware["label"] == "Total (HW, matrix unit only)"
    assert hardware["flop_rate_gflops"] == 229_500
    assert hardware["hbm_bandwidth_gibs"] is hardware["bottleneck_intensity"] is None


def test_files_have_sizes_where_known(full: Mapping[str, Any]) -> None:
    assert full["profile"]["files"] == [
        {"name": "host-0.pb", "size_bytes": 862_707, "host": "host-0", "cores": 2}
    ]
    unknown = page(analysed(OPS))["profile"]["files"][0]["size_bytes"]
    assert unknown is None


def test_capture_date_is_in_utc_or_null(full: Mapping[str, Any]) -> None:
    assert full["profile"]["captured_at"] == "2025-03-11T20:14:59Z"
    assert page(analysed(OPS))["profile"]["captured_at"] is None


def test_diagnostics_show_their_count_once() -> None:
    many = f"op|self_us|flop|hbm_bytes\na|1|{ABSENT}|{ABSENT}\nb|1|{ABSENT}|{ABSENT}"
    note, unknown = page(analysed(many, diagnostics=[NOTE]))["diagnostics"]
    assert note == {
        "severity": "warning",
        "code": "x",
        "message": "Look.",
        "remedy": "Run.",
        "count": 3,
        "filter": None,
    }
    assert (unknown["message"][:10], unknown["count"]) == ("2 ops have", 1)


def test_levels_are_shown_with_a_peak_or_with_bytes() -> None:
    analysis = analysed("op|self_us|flop|cmem_write_bytes\nx|1|1|5\ny|1|1|0")
    assert shown_levels(analysis, listed_ops(analysis)) == [
        MemoryLevel.HBM,
        MemoryLevel.CMEM_WRITE,
    ]


def test_category_shares_add_up_to_the_whole(full: Mapping[str, Any]) -> None:
    shares = full["views"]["in"]["categories"]
    assert sum(share["share_ratio"] for share in shares) == pytest.approx(1, abs=1e-5)
    names = [full["categories"][share["category"]]["name"] for share in shares]
    assert names == ["fusion", "IDLE", "custom-call", "infeed", "copy"]


def test_category_of_a_program_without_time_has_no_share() -> None:
    table = "op|category|self_us|flop|hbm_bytes\nfeed|infeed|9|0|1\nx|fusion|5|1|1"
    (share,) = page(analysed(table, time_us=9))["views"]["out"]["categories"]
    assert share["share_ratio"] is None


# ---------------------------------------------------------------------- odd profiles, odd numbers


@pytest.mark.parametrize("kind", DeviceKind)
@pytest.mark.parametrize("device", [{}, EMPTY_DEVICE], ids=["described", "bare"])
def test_page_without_ops_is_whole(kind: DeviceKind, device: Mapping[str, Any]) -> None:
    data = page(analysed("", device=reported(kind=kind, **device)))
    assert data["ops"]["count"] == 0
    assert {len(column) for column in data["ops"]["columns"].values()} == {0}
    assert program_points(data["views"]["in"])[0]["flop_rate_gflops"] is None
    assert data["device"]["kind"] == kind.value
    assert data["device"]["name"] == (device.get("name", "TPU v0") or "Unknown device")


def test_program_that_only_idled_lists_idle() -> None:
    data = page(analysed("", time_us=7, program_names={0: "main"}))
    assert data["ops"]["columns"]["name"] == ["IDLE"]
    assert data["ops"]["columns"]["program"] == [""]


def test_names_that_are_no_unicode_are_sent() -> None:
    analysis = analysed(OPS, host=Host(file_name="\udcff", hostname="h", core_count=1))
    assert page(analysis)["profile"]["files"][0]["name"] == "?"


@given(st.lists(st.floats(), max_size=5))
def test_rounding_keeps_six_digits_of_any_number(values: Sequence[float]) -> None:
    for value, shown in zip(values, rounded_numbers(np.array(values)), strict=True):
        if not math.isfinite(value):
            assert shown is None
        else:
            assert shown == pytest.approx(value, rel=5.1e-6, abs=1e-320)
            assert len(f"{shown!r}".partition("e")[0].replace(".", "").strip("-0")) <= 6


@given(st.floats())
def test_one_number_is_rounded_as_in_a_column(value: float) -> None:
    assert rounded(value) == rounded_numbers(np.array([value]))[0]


@pytest.mark.parametrize("value", [1e-300, 5e-324, 1.7976931348623157e308, 1e22, 1234565.0, 1e-17])
def test_rounding_of_extremes_is_silent(value: float) -> None:
    assert rounded_numbers(np.array([value, -value])) == [
        float(f"{value:.5e}"),
        -float(f"{value:.5e}"),
    ]


def test_page_of_a_thousand_ops_is_small() -> None:
    rows = [
        f"fusion.{k * 7919}|category {k % 12}|{1 + k * 37 % 991}.{k}|{k * 1237}|{k * 911}|m.py:{k}"
        for k in range(1000)
    ]
    analysis = analysed(
        "\n".join(["op|category|self_us|flop|hbm_bytes|source", *rows]), steps=STEPS, device=V6
    )
    data = build_page(analysis, answer_of(analysis), identity())
    page = json.loads(data)
    assert page["ops"]["count"] == 1000
    figures = to_json(page.pop("figures"))  # a budget of their own: columns do not eat the chart's
    assert len(gzip.compress(to_json(page), 6)) < GZIPPED_LIMIT
    assert len(gzip.compress(figures, 6)) < FIGURES_LIMIT


# ----------------------------------------------------------------------------------------- details


def test_details_are_those_of_the_listed_ops_in_order() -> None:
    table = "op|self_us|flop|hbm_bytes|source|stack|long_name\nx|5|1|1|a.py:3|f;;g|%x = dot()"
    analysis = analysed(table, idle_us=1, program_names={1: "jit_step"})
    op, idle = [json.loads(data) for data in op_details(analysis)]
    assert op == {
        "name": "x",
        "long_name": "%x = dot()",
        "source_file": "a.py",
        "source_line": 3,
        "source_stack": ["f", "g"],
        "program_id": "1",
        "program": "jit_step",
        "path": "",
        "shapes": None,
        "dtypes": [],
        "producers": [],
        "replica_groups": "",
        "group_size": None,
    }
    assert idle == {"name": "IDLE", "long_name": "", "source_stack": []}


def test_details_tell_what_an_op_is_made_of() -> None:
    table = (
        "op|self_us|path|operands|results|producers|groups|group_size\n"
        "x|5|jit(f)/psum|f32[8]; f32[]|f32[8]|dot.1; c|{{0,1}}|2"
    )
    (op,) = [json.loads(data) for data in op_details(analysed(table))]
    assert op["path"] == "jit(f)/psum"
    assert op["shapes"] == {"operands": ["f32[8]", "f32[]"], "results": ["f32[8]"]}
    assert (op["dtypes"], op["producers"]) == (["f32"], ["dot.1", "c"])
    assert (op["replica_groups"], op["group_size"]) == ("{{0,1}}", 2)


@pytest.mark.parametrize("file", ["pytorch/h100-training.json", "generic/attention-h100.json"])
def test_details_have_the_command_that_runs_an_op_alone(file: str, tmp_path: Path) -> None:
    analysis = analyse_files([SAMPLES / file])
    commands = {one["name"]: one.get("replay") for one in map(json.loads, op_details(analysis))}
    if not file.startswith("pytorch"):
        assert set(commands.values()) == {None}
        return
    name = "aten::add [4x2048x4096, 4x2048x4096] bf16"
    words = shlex.split(commands[name] or "")
    assert words == [f"--op={name}"]
    written = run("replay", SAMPLES / file, *words, "-o", tmp_path)
    assert name in written.stdout.decode()
    assert len(list(tmp_path.glob("*.py"))) == 1


def test_details_without_a_line_say_so() -> None:
    (op,) = [json.loads(data) for data in op_details(analysed("op|self_us|flop\nx|1|1"))]
    assert op["source_line"] is None


@pytest.mark.parametrize("code", sorted(FILTERS))
def test_diagnostic_filters_name_known_columns(code: str) -> None:
    known = {column.id for column in OP_COLUMNS}
    shown = FILTERS[code]
    assert shown.keys() <= {"bound", "sort"}
    assert shown.get("sort", "-name").removeprefix("-") in known
