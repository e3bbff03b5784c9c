"""JSON and CSV for people's own tools: keys, units, and hostile names."""

import csv
import io
import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roofline import __version__
from roofline.analysis.records import RooflineAnalysis
from roofline.exports.csv_files import csv_with_about
from roofline.exports.records import (
    analysis_to_json,
    both_to_csv,
    both_to_json,
    op_records,
    ops_to_csv,
)
from roofline.model.memory import MemoryLevel
from roofline.model.profile import Diagnostic, Host, Severity
from roofline.model.units import GB_PER_GIB, gib_to_gb
from tests.builders import (
    ABSENT,
    LEVELS,
    analysed,
    analysis_on,
    counters,
    make_steps,
    profile_from_table,
    renamed,
    reported,
)

OPS = f"""
op     | category    | self_us | flop     | hbm_bytes | source
matmul | fusion      | 500     | 5e8      | 1e6       | train.py:12
pallas | custom-call | 200     | {ABSENT} | {ABSENT}  | train.py
feed   | infeed      | 100     | 0        | 1e6       |
"""
_LEVELS = [level.value for level in LEVELS]
MEASURED_NAMES = """
total_time_us avg_time_us self_time_us avg_self_time_us total_time_per_core_us dma_stall_ratio
flop_rate_gflops model_flop_rate_gflops integer_rate_gops memory_bandwidth_gibs {bandwidths}
operational_intensity {intensities} bottleneck_intensity bound_by attainable_gflops
roofline_efficiency_ratio compute_efficiency_ratio memory_utilisation_ratio
""".format(
    bandwidths=" ".join(f"{level}_bandwidth_gibs" for level in _LEVELS),
    intensities=" ".join(f"{level}_intensity" for level in _LEVELS),
)
# The columns of the CSV in their places, which never change; new ones stand behind them.
OP_KEYS = f"""
rank name width_us needed_us gain_us part category program_id program cost timing above_roof
occurrences {MEASURED_NAMES} compute_unit self_time_per_core_us saving_per_core_us t_min_us t_max_us
above_t_max_us at_ridge self_share_ratio cumulative_share_ratio total_share_ratio
saving_share_ratio source_file source_line path
""".split()
MEASURED = {name for name in MEASURED_NAMES.split() if "self_time" not in name} - {
    "dma_stall_ratio"
}
CLOCKS = ("compute", *_LEVELS)
CSV_CLOCKS = [f"{key}_clock_us" for key in CLOCKS]
# Columns of the CSV that are lists or objects in JSON.
CSV_PEAKS = ["bound_peak_gflops", "bound_peak_gbs", "bound_peak_origin"]
NEAREST = ("class", "ceiling", "ratio", "useful_ratio", "why")
CSV_NEAREST = [f"nearest_{key}" for key in NEAREST]
HEADER = [*OP_KEYS, "operands", "results", "dtypes", *CSV_CLOCKS, *CSV_PEAKS, *CSV_NEAREST]
OBJECTS = {"shapes", "dtypes", "clocks", "nearest", "busy"}


def exported(analysis: RooflineAnalysis, *, infeed: bool = True) -> dict[str, Any]:
    """The document, read with a reader that takes no NaN."""
    data = analysis_to_json(analysis, include_infeed_outfeed=infeed)
    result: dict[str, Any] = json.loads(
        data, parse_constant=lambda name: pytest.fail(f"{name} in JSON")
    )
    return result


def read_csv(analysis: RooflineAnalysis, *, infeed: bool = True) -> list[list[str]]:
    text = ops_to_csv(analysis, include_infeed_outfeed=infeed).decode("utf-8")
    return list(csv.reader(io.StringIO(text, newline=""), strict=True))


def with_names(*names: str) -> RooflineAnalysis:
    """One op per name, one microsecond each; analysed."""
    rows = "\n".join(f"op{k}|1|1|1" for k in range(len(names)))
    profile = renamed(profile_from_table(f"op|self_us|flop|hbm_bytes\n{rows}"), *names)
    return analysis_on(profile)


# -------------------------------------------------------------------------------------------- JSON


def test_document_has_its_sections() -> None:
    document = exported(analysed(OPS, idle_us=200))
    assert list(document) == [
        "schema",
        "roofline_version",
        "subject",
        "verdict",
        "profile",
        "device",
        "roofs",
        "include_infeed_outfeed",
        "known_time_ratio",
        "program_points",
        "utilisation",
        "steps",
        "steps_p95_us",
        "ops",
        "beyond",
        "diagnostics",
        "graphs",
        "serving",
        "budget",
        "transfers",
    ]
    assert document["transfers"] == []
    budget, subject = document["budget"], document["subject"]
    assert sum(budget["parts"].values()) == budget["total_us"] == subject["time_us"]


# Without infeed both have the same ops; with it they have not; no name of an op may be lost.
NO_FEED = OPS.replace("infeed", "copy")
NOT_UNICODE = "op|self_us|flop|hbm_bytes\n\udc80|1|1|1"


@pytest.mark.parametrize("table", [OPS, NO_FEED, NOT_UNICODE, "op|self_us|flop|hbm_bytes"])
@pytest.mark.parametrize("idle_us", [0, 200])
def test_what_is_stored_of_both_views_is_what_each_alone_gives(table: str, idle_us: int) -> None:
    analysis = analysed(table, idle_us=idle_us)
    for k, infeed in enumerate((True, False)):
        alone = analysis_to_json(analysis, include_infeed_outfeed=infeed)
        assert both_to_json(analysis)[k] == alone
        assert both_to_csv(analysis)[k] == ops_to_csv(analysis, include_infeed_outfeed=infeed)
    texts = both_to_csv(analysis)
    assert (texts[0] is texts[1]) == (table != OPS)


def test_every_op_has_every_key() -> None:
    document = exported(analysed(OPS, idle_us=200))
    assert [op["name"] for op in document["ops"]] == ["matmul", "IDLE", "pallas", "feed"]
    assert all({*OP_KEYS} | OBJECTS <= set(op) for op in document["ops"])


def test_every_op_says_how_long_its_work_takes_where_that_is_known() -> None:
    ops = {op["name"]: op for op in exported(analysed(OPS, idle_us=200))["ops"]}
    assert all(tuple(op["clocks"]) == CLOCKS for op in ops.values())
    assert ops["matmul"]["clocks"]["compute"] == ops["matmul"]["t_min_us"] == pytest.approx(500)
    for name in ("pallas", "IDLE"):
        assert not any((*ops[name]["clocks"].values(), ops[name]["at_ridge"]))
        assert ops[name]["t_min_us"] is ops[name]["t_max_us"] is ops[name]["above_t_max_us"] is None


DESCRIBED = """
op   | self_us | flop | hbm_bytes | path   | operands                               | results
dot  | 2       | 1    | 1         | f/dot  | bf16[8,4]{1,0:S(1)}; (f32[], token[])  | bf16[8]
copy | 1       | 1    | 1         |        |                                        | u32[]{:S(2)}
"""


def test_an_op_has_its_path_shapes_and_types() -> None:
    dot, copy = exported(analysed(DESCRIBED))["ops"]
    assert (dot["path"], dot["dtypes"]) == ("f/dot", ["bf16", "f32"])
    operands = ["bf16[8,4]{1,0:S(1)}", "(f32[], token[])"]
    assert dot["shapes"] == {"operands": operands, "results": ["bf16[8]"]}
    # Flags are a result, and no data.
    assert (copy["path"], copy["dtypes"]) == (None, [])
    assert copy["shapes"] == {"operands": [], "results": ["u32[]{:S(2)}"]}


def test_csv_has_shapes_and_types_as_texts() -> None:
    header, dot, _ = read_csv(analysed(DESCRIBED))
    cells = dict(zip(header, dot, strict=True))
    assert cells["operands"] == "bf16[8,4]{1,0:S(1)}; (f32[], token[])"
    assert (cells["path"], cells["results"], cells["dtypes"]) == ("f/dot", "bf16[8]", "bf16; f32")


def test_known_op_has_its_numbers_at_full_precision() -> None:
    op = exported(analysed(OPS))["ops"][0]
    assert op["hbm_bandwidth_gibs"] == 1e6 / 500e3 / GB_PER_GIB
    assert op["flop_rate_gflops"] == 1000.0
    assert (op["bound_by"], op["cost"], op["rank"]) == ("Compute", "known", 1)
    assert (op["source_file"], op["source_line"]) == ("train.py", 12)


def test_uncounted_work_is_null_and_zero_work_is_zero() -> None:
    matmul, pallas, feed = exported(analysed(OPS))["ops"]
    assert pallas["flop_rate_gflops"] is pallas["hbm_bandwidth_gibs"] is None
    assert (pallas["cost"], pallas["bound_by"]) == ("unknown", "Unknown")
    assert (feed["cost"], feed["flop_rate_gflops"]) == ("no_flops", 0)
    assert matmul["vmem_read_bandwidth_gibs"] == 0


def test_idle_has_no_program_source_or_occurrences() -> None:
    idle = exported(analysed("", time_us=5, program_names={0: "main"}))["ops"][0]
    none = ("program_id", "program", "occurrences", "source_file", "source_line")
    assert all(idle[name] is None for name in none)
    assert (idle["name"], idle["self_share_ratio"], idle["cost"]) == ("IDLE", 1, "idle")


def test_program_points_have_no_self_time() -> None:
    steps = make_steps({"us": 10, "flop": 1, "hbm": 1})
    device = reported(counters=counters(0.5, None))
    document = exported(analysed(OPS, steps=steps, device=device))
    points = document["program_points"]
    assert [point["label"] for point in points] == [
        "Total",
        "Total (HW, matrix unit only)",
        "Average",
        "0",
    ]
    lower_bounds = {"flop_rate_is_lower_bound", "bandwidth_is_lower_bound"}
    expected = MEASURED | {"scope", "label", "is_outlier"} | lower_bounds
    assert all(set(point) == expected for point in points)
    assert [point["is_outlier"] for point in points] == [None, None, None, False]
    assert document["steps"] == points[3:]


def test_document_says_how_much_of_the_work_is_known() -> None:
    document = exported(analysed(OPS))
    share = pytest.approx(600 / 800)
    assert document["known_time_ratio"] == {"flop": share, "bytes": share, "both": share}
    assert document["program_points"][0]["flop_rate_is_lower_bound"] is True


def test_an_op_above_its_roof_says_why() -> None:
    table = "op|category|self_us|flop|hbm_bytes\ncopy-start.1|copy-start|1|0|1e9\nx|fusion|9|1|1"
    first, second = exported(analysed(table))["ops"]
    assert (first["name"], first["above_roof"]) == ("x", None)
    assert (second["name"], second["above_roof"]) == ("copy-start.1", "asynchronous")


def test_roofs_and_device_name_their_units_and_origin() -> None:
    document = exported(analysed(OPS, device=reported(cores=2)))
    assert document["device"]["peak_bandwidth_gibs"] == {"hbm": pytest.approx(100)}
    assert document["device"]["peak_gflops"] == 1000
    assert document["device"]["core_word"] == "TensorCore"
    assert set(document["roofs"]["compute"][0]) == {
        "id",
        "unit",
        "label",
        "peak_gflops",
        "origin",
        "source",
        "sustained",
    }
    assert document["roofs"]["memory"][0]["ridge_flop_per_byte"] == pytest.approx(10 / GB_PER_GIB)
    assert document["roofs"]["memory"][0]["origin"] == "profile"


def test_ridge_of_unknown_compute_peak_is_null() -> None:
    document = exported(analysed(OPS, device=reported(gflops=None)))
    assert document["roofs"]["memory"][0]["ridge_flop_per_byte"] is None
    assert document["roofs"]["compute"] == []


def test_state_without_infeed_is_another_document() -> None:
    document = exported(analysed(OPS), infeed=False)
    assert document["include_infeed_outfeed"] is False
    assert [op["name"] for op in document["ops"]] == ["matmul", "pallas"]


def test_diagnostics_carry_message_remedy_and_count() -> None:
    note = Diagnostic(severity=Severity.WARNING, code="x", message="Look.", remedy="Run.", count=3)
    found = exported(analysed("", diagnostics=[note]))["diagnostics"]
    assert found == [
        {"severity": "warning", "code": "x", "message": "Look.", "remedy": "Run.", "count": 3}
    ]


@pytest.mark.parametrize("infeed", [True, False])
def test_empty_profile_is_a_whole_document(infeed: bool) -> None:
    document = exported(analysed("", device=reported(gflops=None, gibs={}, cores=0)), infeed=infeed)
    assert document["ops"] == []
    assert document["roofs"] == {"compute": [], "memory": [], "links": [], "network": None}
    assert document["program_points"][0]["flop_rate_gflops"] is None


def test_device_that_reports_no_numbers_exports_null() -> None:
    device = reported(gflops=math.inf, gibs={MemoryLevel.HBM: math.nan})
    assert exported(analysed(OPS, device=device))["roofs"] == {
        "compute": [],
        "memory": [],
        "links": [],
        "network": None,
    }


def test_half_characters_are_replaced() -> None:
    host = Host(file_name="\udcff.pb", hostname="h", core_count=1)
    document = exported(analysed(OPS, host=host))
    assert document["profile"]["hosts"][0]["file_name"] == "?.pb"
    assert exported(with_names("a\ud800b"))["ops"][0]["name"] == "a?b"


def test_records_are_those_of_the_document_with_flat_clocks() -> None:
    analysis = analysed(OPS, idle_us=1)
    ops = exported(analysis)["ops"]
    for op in ops:
        assert (op.pop("shapes"), op.pop("dtypes")) == (None, [])
        op.update(zip(CSV_CLOCKS, op.pop("clocks").values(), strict=True))
        nearest = op.pop("nearest")
        assert (nearest.pop("also"), op.pop("busy")) == ([], {})
        op.update({f"nearest_{key}": value for key, value in nearest.items()})
        op.update(operands=None, results=None, dtypes=None if op["name"] == "IDLE" else "")
    records = op_records(analysis, include_infeed_outfeed=True)
    for record in records:
        assert [key for key in CSV_PEAKS if key in record] == CSV_PEAKS
        for key in CSV_PEAKS:
            del record[key]
    assert records == ops


# --------------------------------------------------------------------------------------------- CSV

HOSTILE = [
    'a,b "c"',
    "two\nlines",
    "two\r\nlines",
    "=1+1",
    "+1",
    "-1",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "\n=1",
    '=HYPERLINK("http://x","y")',
    "plain",
    "",
    "ünïcode – 名前",
    "'quoted",
]


def test_csv_and_notebook_have_every_op_where_the_page_lists_a_thousand() -> None:
    ops = "\n".join(f"op{k}|fusion|{2000 - k}|1|1" for k in range(1300))
    analysis = analysed(f"op|category|self_us|flop|hbm_bytes\n{ops}", idle_us=1)
    rows = list(
        csv.DictReader(io.StringIO(ops_to_csv(analysis, include_infeed_outfeed=True).decode()))
    )
    assert len(rows) == 1301
    assert [row["name"] for row in rows] == [*(f"op{k}" for k in range(1300)), "IDLE"]
    assert [int(row["rank"]) for row in rows] == list(range(1, 1302))
    assert sum(float(row["self_share_ratio"]) for row in rows) == pytest.approx(1)
    assert len(op_records(analysis, include_infeed_outfeed=True)) == 1301


def test_csv_has_one_row_per_listed_op_and_the_keys_of_the_json() -> None:
    analysis = analysed(OPS, idle_us=200)
    header, *rows = read_csv(analysis)
    assert header[: len(HEADER)] == HEADER
    keys = [key for key in exported(analysis)["ops"][0] if key not in OBJECTS]
    assert set(header) >= set(keys)
    assert [row[1] for row in rows] == ["matmul", "IDLE", "pallas", "feed"]


@pytest.mark.parametrize("infeed", [True, False])
def test_csv_of_an_empty_profile_has_the_full_header(infeed: bool) -> None:
    rows = read_csv(analysed(""), infeed=infeed)
    assert len(rows) == 1
    assert rows[0][: len(HEADER)] == HEADER


def test_csv_has_the_peak_of_what_bounds_an_op() -> None:
    table = "op|self_us|flop|hbm_bytes\nfast|10|1e6|1\nwide|10|1|1e6\nlost|10|–|–\n"
    header, *rows = read_csv(analysed(table))
    told = {row[1]: [row[header.index(name)] for name in CSV_PEAKS] for row in rows}
    assert told["fast"] == ["1000.0", "", "profile"]
    assert told["wide"] == ["", str(gib_to_gb(100.0)), "profile"]
    assert told["lost"] == ["", "", ""]


def test_csv_says_in_each_row_what_it_is_of() -> None:
    text = ops_to_csv(with_names('a"b\r\nc#d'), include_infeed_outfeed=True)
    about = csv_with_about(text, device="=TPU, v4", profile="https://host/p/x")
    plain, told = (list(csv.reader(io.StringIO(one.decode(), newline=""))) for one in (text, about))
    assert [row[:-3] for row in told] == plain, "nothing else changes"
    assert told[0][-3:] == ["device", "profile", "roofline_version"]
    assert all(row[-3:] == ["'=TPU, v4", "https://host/p/x", __version__] for row in told[1:])


def test_csv_leaves_unknown_cells_empty() -> None:
    header, _, pallas, _ = read_csv(analysed(OPS))
    cells = dict(zip(header, pallas, strict=True))
    assert cells["flop_rate_gflops"] == cells["source_line"] == ""
    assert cells["self_time_us"] == "200.0"


@pytest.mark.parametrize("name", HOSTILE, ids=repr)
def test_csv_name_comes_back_and_is_no_formula(name: str) -> None:
    header, row = read_csv(with_names(name))
    is_formula = name[:1] in set("=+-@\t\r\n")
    assert row[1] == (f"'{name}" if is_formula else name)
    assert len(row) == len(header)


def test_csv_rows_end_as_rfc_4180_wants() -> None:
    data = ops_to_csv(with_names("a\nb"), include_infeed_outfeed=True)
    assert data.endswith(b"\r\n")
    assert b'"a\nb"' in data
    assert data.count(b"\r\n") == 2


def test_csv_replaces_half_characters() -> None:
    assert read_csv(with_names("a\udfffb"))[1][1] == "a?b"


@given(name=st.text(st.characters(codec="utf-8"), max_size=20))
def test_csv_keeps_any_name_in_its_cell(name: str) -> None:
    (_, row) = read_csv(with_names(name))
    assert row[1].removeprefix("'") == name.removeprefix("'") or row[1] == name
    assert row[1][:1] not in tuple("=+-@\t\r\n") or not row[1]


def test_csv_numbers_below_zero_stay_numbers() -> None:
    header, row = read_csv(analysed("op|self_us|flop|hbm_bytes|source\nx|1|1|1|a.py:-5"))
    assert dict(zip(header, row, strict=True))["source_line"] == ""
