"""The first view holds what the page data say, for ordinary profiles and for empty ones."""

import re
from pathlib import Path
from typing import Any

import orjson
import pytest

from roofline.exports.answering import answer_of
from roofline.pipeline import analyse_files
from roofline.presentation.first_view.summary import STEP_ROWS, moment_text
from roofline.presentation.first_view.table import ROWS, bar_class, token_class
from roofline.presentation.first_view.view import FULL, MOST_BARS, TOP, first_view
from roofline.presentation.page import PageIdentity, build_page
from roofline.presentation.palette import COMPUTE_STYLE, LEVEL_STYLES, UNKNOWN_STYLE
from roofline.presentation.quantities import peak_bandwidth, peak_rate, stated

ROOT = Path(__file__).resolve().parents[3]
CSS = (ROOT / "static" / "css" / "shown-values.css").read_text("utf-8")
IDENTITY = PageIdentity(id="abc", created_at="2026-01-01T00:00:00Z")

TABLE = """kernel,time (us),flop,dram bytes
matmul <b>&,500,5e9,1000001
copy,200,0,1000000
add,100,1e6,1e6
unknown,10,,
"""
WITHOUT_BYTES = "kernel,time (us),flop\nfirst,3,5e9\n"


def page_of(text: str, folder: Path) -> dict[str, Any]:
    path = folder / "kernels.csv"
    path.write_text(text)
    analysis = analyse_files([path])
    page: dict[str, Any] = orjson.loads(build_page(analysis, answer_of(analysis), IDENTITY))
    return page


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return page_of(TABLE, tmp_path_factory.mktemp("files"))


def test_words_say_which_ops_the_chart_lacks(page: dict[str, Any]) -> None:
    view = first_view(page)
    assert "2 of 4 have a place" in view.ops_alt
    left = "1 operation without arithmetic, 1 of unknown cost: above only"
    assert view.chart_note == f"{left}; no peak known: no roofs"
    assert first_view(page) == view


def with_steps(page: dict[str, Any], times: list[float]) -> dict[str, Any]:
    """The page with steps of these times in us, the first one unlike the others."""
    total = page["views"]["in"]["program"]["columns"]
    columns = {name: [values[0]] * (1 + len(times)) for name, values in total.items()}
    columns["scope"] = ["total", *["step"] * len(times)]
    columns["label"] = ["Total", *map(str, range(len(times)))]
    columns["is_outlier"] = [False, True, *[False] * (len(times) - 1)]
    columns["total_time_per_core_us"] = [sum(times), *times]
    program = {"count": 1 + len(times), "columns": columns}
    views = {**page["views"], "in": {**page["views"]["in"], "program": program}}
    return {**page, "views": views}


def test_times_of_steps_are_bars_of_which_the_longest_is_full(page: dict[str, Any]) -> None:
    assert first_view(page).pieces.step_times is None  # one point has its row in the list
    found = first_view(with_steps(page, [4000.0, 1000.0, 2000.0])).pieces.step_times
    assert found is not None
    assert [bar.height / FULL for bar in found.bars] == [1, 0.25, 0.5]
    assert [(bar.name, bar.time) for bar in found.bars] == [("0", "4.00"), ("1", ""), ("2", "")]
    assert (found.median, found.median_y) == ("median 2.00 ms", TOP + FULL / 2)


def test_long_names_of_steps_lose_what_is_in_brackets(page: dict[str, Any]) -> None:
    steps = with_steps(page, [1.0, 2.0, 3.0])
    program = steps["views"]["in"]["program"]["columns"]
    program["label"] = ["Total", "0 (prefill, 1)", "1 (decode, 4)", "2 (decode, 4)"]
    found = first_view(steps).pieces.step_times
    assert found is not None
    assert [bar.name for bar in found.bars] == ["0", "1", "2"]


def test_many_steps_share_bars_of_the_longest_of_each(page: dict[str, Any]) -> None:
    times = [1000.0] * (2 * MOST_BARS)
    found = first_view(with_steps(page, [*times[:-1], 3000.0])).pieces.step_times
    assert found is not None
    assert len(found.bars) == MOST_BARS
    assert found.bars[-1].height == FULL
    assert found.bars[-1].title == "Step 119: 3.00 ms, the longest of steps 118 to 119"
    assert [bar.name for bar in found.bars if bar.name] == ["0", "118"]


def test_a_list_of_many_steps_ends_where_the_table_goes_on(page: dict[str, Any]) -> None:
    steps = first_view(with_steps(page, [1.0] * 10_000)).pieces.steps
    assert (len(steps.rows), steps.all) == (STEP_ROWS, 10_001)


def test_a_peak_can_be_set_and_says_what_the_catalogue_has_instead(tmp_path: Path) -> None:
    page = page_of(FEW, tmp_path)
    page["roofs"]["memory"][0] |= {"origin": "profile", "source": "In the file."}
    page["device"]["comparisons"] = [
        {
            "id": "hbm",
            "label": "HBM",
            "unit": "gbs",
            "profile": 1640.0,
            "catalogue": 1638.0,
            "ratio": 1.001,
            "explanation": "Rounded.",
        }
    ]
    strip = first_view(page).pieces.strip
    rate, memory = (item for item in strip if item.key in ("compute", "hbm"))
    assert (rate.of, rate.differs) == ("MXU bf16 peak per TensorCore", None)
    assert memory.origin is not None and memory.differs is not None
    assert memory.origin.title == "The profile states it. Per TensorCore. In the file."
    assert (memory.differs.text, memory.differs.title) == ("catalogue 1,638\u00a0GB/s", "Rounded.")


def test_fields_of_the_device_have_units_and_times_their_zone(page: dict[str, Any]) -> None:
    pieces = first_view(page).pieces
    assert [one.value for one in pieces.fields if one.term == "Hosts"] == ["1"]
    assert moment_text(pieces.profile["created_at"]) == "1 Jan 2026, 00:00 UTC"
    assert moment_text(pieces.profile["captured_at"]) == "–"


def test_rows_are_the_longest_ops_as_the_table_sorts_them(page: dict[str, Any]) -> None:
    table = first_view(page).table
    assert [row[0].text for row in table.rows] == ["matmul <b>&", "copy", "add", "unknown"]
    heads = [header.label for header in table.headers]
    assert heads == ["Operation", "Time", "Of the time", "Bound by", "Calls"]  # no peaks, no roof
    assert [header.label for header in table.headers if header.is_sorted] == ["Time"]
    assert table.rows[0][heads.index("Of the time")].css.split()[:2] == ["bar", "v100"]
    assert table.headers[0].label == "Operation"


def test_a_start_has_no_bandwidth_for_its_bytes_move_long_after_its_time(
    page: dict[str, Any],
) -> None:
    columns = page["ops"]["columns"] | {"is_start": [0, 1, 0, 0]}
    shown = [{**one, "default": one["id"] == "dram_bandwidth_gibs"} for one in page["columns"]]
    ops = page["ops"] | {"columns": columns}
    table = first_view(page | {"ops": ops, "columns": shown}).table
    assert [row[1].text for row in table.rows] == ["2.00", "–", "10.0", "–"]


def test_of_many_ops_the_first_page_of_the_table_is_there(tmp_path: Path) -> None:
    rows = "".join(f"op{i},{1000 - i},1e6,1e6\n" for i in range(ROWS + 7))
    table = first_view(page_of(f"kernel,time (us),flop,dram bytes\n{rows}", tmp_path)).table
    assert (len(table.rows), table.all) == (ROWS, ROWS + 7)
    assert table.rows[0][0].text == "op0"


def test_a_profile_without_bytes_and_peaks_has_no_chart_and_says_so(tmp_path: Path) -> None:
    page = page_of(WITHOUT_BYTES, tmp_path)
    view = first_view(page)
    assert "place is not known" in view.program_alt
    assert (view.links["data"], view.links["note"]) == ([], "")
    assert "no peak known" in view.chart_note
    assert any("none known" in item.value for item in view.pieces.strip)


def test_sentences_are_those_of_the_page_data(page: dict[str, Any]) -> None:
    view = first_view(page)
    sent = page["views"]["in"]["verdict"]["headline"]
    assert "".join(piece.text for piece in view.pieces.headline).startswith(sent[0].get("text", ""))
    assert [one["message"] for one in view.pieces.findings] == [
        one["message"]
        for severity in ("error", "warning", "info")
        for one in page["diagnostics"]
        if one["severity"] == severity
    ]


def test_every_colour_of_a_cell_has_its_class() -> None:
    styles = [COMPUTE_STYLE, UNKNOWN_STYLE, *LEVEL_STYLES.values()]
    tokens = {style.token for style in styles} | {f"--c{hue}" for hue in range(1, 13)}
    assert {token for token in tokens if f".{token_class(token)} {{" not in CSS} == set()
    lengths = {bar_class(ratio / 100, "--c1").split()[1] for ratio in range(130)}
    assert lengths == set(re.findall(r"^\.(v\d+) ", CSS, re.M))


@pytest.mark.parametrize(
    ("value", "text"),
    [(918, "918"), (1525.5, "1,525.5"), (7.168, "7.168"), (19_500, "19,500"), (1e-3, "0.001")],
)
def test_stated_numbers_keep_their_digits(value: float, text: str) -> None:
    assert stated(value) == text


def test_peaks_are_written_with_their_unit() -> None:
    assert peak_rate(918_000) == "918\u00a0TFLOP/s"
    assert peak_bandwidth(24_500) == "24.5\u00a0TB/s"


FEW = """# device: TPU v6e
name,time_us,flops,hbm_bytes
dot.1,400,2e10,4e6
add.2,10,1e6,4e6
"""


def test_few_operations_have_their_clocks_in_place_of_groups(tmp_path: Path) -> None:
    view = first_view(page_of(FEW, tmp_path))
    dot, add = view.pieces.op_clocks
    assert [(one.label, one.time, one.is_longest) for one in dot.bars] == [
        ("MXU bf16", "21.8\u00a0µs", True),
        ("HBM", "2.44\u00a0µs", False),
    ]
    assert (dot.name, dot.measured, dot.bars[0].width) == ("dot.1", "400\u00a0µs", "5.4")
    assert [one.label for one in add.bars if one.is_longest] == ["HBM"]
    more = FEW + "a,1,1e6,4e6\nb,1,1e6,4e6\n"
    assert first_view(page_of(more, tmp_path)).pieces.op_clocks == ()
