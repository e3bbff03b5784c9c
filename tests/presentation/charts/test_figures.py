"""The figures of the page: places of roofs and marks, names beside them, and inert texts."""

import hashlib
import json
import math
import re
from collections.abc import Callable, Iterator
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import orjson
import pytest

from roofline.exports.answering import answer_of
from roofline.figures.figure import PLOTS, Figure, Json, of_width, painted
from roofline.figures.ink import unknown_words
from roofline.figures.labels import Spot, box_of
from roofline.library.samples import find_samples
from roofline.pipeline import analyse_files
from roofline.presentation.charts import figures_of
from roofline.presentation.charts.choices import ChartChoice
from roofline.presentation.charts.op_figure import op_figure
from roofline.presentation.charts.program_figure import MOST_MARKS, program_figure, program_note
from roofline.presentation.figure_files import FileLook
from roofline.presentation.json_text import to_json
from roofline.presentation.page import PageIdentity, page_data
from roofline.presentation.page_rows import JOINED
from roofline.presentation.palette import LIGHT
from tests.builders import analysed

ROOT = Path(__file__).parents[3]
SAMPLES = {sample.name: sample.files for sample in find_samples(ROOT / "sample_profiles")}
# Digests of places, of all samples, axes and choices of roofs. Python and the browser's former
# drawing agreed on them at a relative 1e-9, before lines at parts of the roof and roofs that bind
# little were left out.
PLACES = ROOT / "tests" / "golden" / "figures" / "places.json"
OPS = """
op     | category | self_us | flop | hbm_bytes
<b>m   | x & y    | 500     | 4e8  | 1e6
--c1   | dot      | 300     | 2e8  | 1e5
small  | dot      | 1       | 1e4  | 1e3
copy   | copy     | 100     | 0    | 1e6
"""


def page_of(text: str) -> dict[str, Any]:
    analysis = analysed(text)
    found = page_data(analysis, answer_of(analysis), PageIdentity(id="x", created_at=""))
    page: dict[str, Any] = orjson.loads(to_json(found))
    return page


def sample_page(name: str) -> dict[str, Any]:
    return page_of_files([Path(file) for file in SAMPLES[name]])


def page_of_files(files: list[Path]) -> dict[str, Any]:
    analysis = analyse_files(files)
    found = page_data(analysis, answer_of(analysis), PageIdentity(id="x", created_at=""))
    page: dict[str, Any] = orjson.loads(to_json(found))
    return page


def choices_of(page: dict[str, Any]) -> Iterator[tuple[str, ChartChoice]]:
    """Every axis with rates and shares, all roofs and none, all of the time, and a zoom."""
    axes = ["auto", *(axis["id"] for axis in page["x_axes"])]
    for x, y in product(axes, ("rate", "share")):
        yield f"{x} {y}", ChartChoice(x=x, y="share" if y == "share" else "rate")
    yield "all roofs", ChartChoice(roofs="all")
    yield "no roofs", ChartChoice(roofs="none", infeed="out")
    yield "all ops", ChartChoice(fit="all")
    yield "zoomed", ChartChoice(zoom=(0.0, 2.0, 1.0, 4.0))


def of_role(figure: Figure, *roles: str) -> list[Json]:
    return [trace for trace in figure["data"] if trace["meta"]["role"] in roles]


def digest(figure: Figure) -> str:
    """Of all that lies at a place: ranges, lines, marks; six digits."""
    drawn = of_role(figure, "roof", "sustained", "ridges", "marks", "joined", "program", "gap")
    layout = figure["layouts"]["wide"]
    places = [
        layout["xaxis"]["range"],
        layout["yaxis"]["range"],
        *([shape[key] for key in ("x0", "x1", "y0", "y1")] for shape in layout["shapes"]),
        *(trace[axis] for trace in drawn for axis in "xy"),
    ]
    texts = [[None if value is None else f"{value:.6g}" for value in row] for row in places]
    rows = [trace.get("customdata") for trace in drawn]
    return hashlib.sha256(json.dumps([texts, rows]).encode()).hexdigest()[:16]


@pytest.mark.covers(61, 64, 203)
def test_regions_meet_at_the_ridge_and_links_have_one_of_their_own() -> None:
    """A TPU v6e: 918 TFLOP/s over 1,640 GB/s of HBM, and over 100 GB/s of a link of ICI."""
    figure = op_figure(sample_page("xspace-v6e-training"), ChartChoice())
    (ridges,) = of_role(figure, "ridges")
    assert ridges["x"][::2] == pytest.approx([918_000 / 1640, 918_000 / 100])
    memory, compute = [one for one in figure["layouts"]["wide"]["shapes"] if one["type"] == "rect"]
    assert (memory["fillcolor"], compute["fillcolor"]) == ("--region-mem", "--region-cmp")
    assert memory["x1"] == compute["x0"] == ridges["x"][0]


@pytest.mark.parametrize("name", SAMPLES)
def test_roofs_and_marks_lie_where_they_always_did(name: str) -> None:
    page = sample_page(name)
    figures = {key: op_figure(page, choice) for key, choice in choices_of(page)}
    figures["program"] = program_figure(page)
    found = {key: digest(figure) for key, figure in figures.items()}
    assert found == json.loads(PLACES.read_text("utf-8"))[name]
    # What a figure has beyond the words that files can be written of shows here, not to a user.
    paper = FileLook(is_gray=True).choice(ChartChoice())
    for figure in (*figures.values(), op_figure(page, paper)):
        assert not set(unknown_words(of_width(figure, "wide")))


def test_page_data_have_the_figures_as_the_page_opens() -> None:
    page = page_of(OPS)
    own = page.pop("figures")
    assert own.pop("gain")["op"]["blocks"]
    assert own == orjson.loads(orjson.dumps(figures_of(page)))


def test_each_op_with_a_place_has_one_mark_that_names_its_row() -> None:
    figure = op_figure(page_of(OPS))
    marks = of_role(figure, "marks")
    assert sorted(op for trace in marks for op in trace["customdata"]) == [0, 1, 3]
    assert all(trace["hoverinfo"] == "none" for trace in marks)


def test_names_from_files_are_inert_and_never_colours() -> None:
    figure = op_figure(page_of(OPS))
    texts = [text for trace in of_role(figure, "labels") for text in trace["text"]]
    assert "&lt;b&gt;m" in texts
    assert "--c1" in texts
    assert not re.search("<(?!br>)", json.dumps([trace.get("text") for trace in figure["data"]]))
    shown = painted(figure, lambda _: "red")
    assert "--c1" in [text for trace in of_role(shown, "labels") for text in trace["text"]]
    assert all(trace["marker"]["color"] == "red" for trace in of_role(shown, "marks"))


@pytest.mark.parametrize("name", SAMPLES)
def test_names_beside_marks_are_few_and_do_not_overlap(name: str) -> None:
    for figure in figures_of(sample_page(name)).values():
        for width, most in (("wide", 12), ("narrow", 5)):
            labels = [
                trace for trace in of_role(figure, "labels") if trace["meta"]["width"] == width
            ]
            assert all(len(trace["text"]) <= most for trace in labels)
            assert all(len(trace["x"]) == len(trace["text"]) for trace in labels)


@pytest.mark.parametrize("name", SAMPLES)
def test_names_of_roofs_stay_in_the_plot_of_a_phone(name: str) -> None:
    """Plotly cuts what leaves the plot: "EM Read 24.5 TB/s"."""
    across = 263
    figure = op_figure(sample_page(name), ChartChoice())
    left, right = figure["layouts"]["narrow"]["xaxis"]["range"]
    for trace in of_role(figure, "names"):
        columns = (trace["x"], trace["text"], trace["textposition"], trace["textfont"]["size"])
        for x, text, position, size in zip(*columns, strict=True):
            at = Spot(x=(math.log10(x) - left) / (right - left) * across, y=0, position=position)
            box = box_of(at, text, size)
            if trace["meta"]["width"] == "narrow":
                assert box[0] >= 0 and box[2] <= across, text


@pytest.mark.parametrize("name", SAMPLES)
def test_every_colour_of_a_figure_is_a_token_with_a_light_value(name: str) -> None:
    for figure in figures_of(sample_page(name)).values():
        painted(figure, LIGHT.__getitem__)


def test_light_theme_has_the_values_of_the_style_sheet() -> None:
    css = (ROOT / "static" / "css" / "tokens.css").read_text("utf-8")
    values = dict(re.findall(r"(--[\w-]+): light-dark\(\s*(#\w+),", css))
    assert LIGHT.items() <= values.items()


def test_areas_of_marks_are_shares_of_the_time_within_limits() -> None:
    figure = op_figure(page_of(OPS))
    sizes = {
        op: size
        for trace in of_role(figure, "marks")
        for op, size in zip(trace["customdata"], trace["marker"]["size"], strict=True)
    }
    assert 30 < sizes[0] <= 36
    assert sizes[3] == 5
    equal = op_figure(page_of(OPS), ChartChoice(size="equal"))
    assert all(
        7.5 < size <= 8 for trace in of_role(equal, "marks") for size in trace["marker"]["size"]
    )


def test_selected_op_is_drawn_with_its_own_ceilings_alone() -> None:
    page = page_of(OPS)
    figure = op_figure(page, ChartChoice(op=0))
    assert {trace["name"].split(" ")[0] for trace in of_role(figure, "roof")} == {"HBM", "Compute"}
    assert [trace["mode"] for trace in of_role(figure, "own")] == ["lines", "markers"]
    for trace in of_role(figure, "labels"):
        assert (
            {"&lt;b&gt;m", "1.9\u202f% of HBM"}
            <= set(trace["text"])
            <= {
                "&lt;b&gt;m",
                "1.9\u202f% of HBM",
                "program",
            }
        )


def test_ids_of_traces_are_their_own() -> None:
    for choice in (ChartChoice(), ChartChoice(op=0), ChartChoice(y="share"), ChartChoice(x=JOINED)):
        ids = [trace["uid"] for trace in op_figure(page_of(OPS), choice)["data"]]
        assert len(set(ids)) == len(ids)


def test_zoom_leaves_no_marks_at_the_edges_and_counts_what_it_leaves_out() -> None:
    page = page_of(OPS)
    figure = op_figure(page, ChartChoice(zoom=(2.0, 3.0, 2.0, 4.0)))
    assert not [trace for trace in figure["data"] if "beyond" in trace["name"]]
    assert figure["beyond"]["below"] == [3]


def test_joined_ops_are_those_asked_for() -> None:
    page = sample_page(next(name for name in SAMPLES if "v6e" in name))
    every = of_role(op_figure(page, ChartChoice(x=JOINED)), "marks")[0]["customdata"]
    one = every[-1]
    only = of_role(op_figure(page, ChartChoice(x=JOINED, ops=(one,))), "marks")[0]["customdata"]
    assert set(only) == {one}
    assert len(set(every)) <= 50


def test_figures_of_no_ops_have_axes() -> None:
    for figure in figures_of(page_of("")).values():
        assert figure["layouts"].keys() == PLOTS.keys()
        for layout in figure["layouts"].values():
            assert all(low < high for low, high in pairwise(layout["xaxis"]["range"]))


def test_steps_that_share_a_spot_have_one_mark() -> None:
    page = page_of(OPS)
    program = page["views"]["in"]["program"]
    program["columns"] = {
        name: [column[0]] * 2000 if name != "scope" else ["total", *["step"] * 1999]
        for name, column in program["columns"].items()
    }
    program["count"] = 2000
    (marks,) = of_role(program_figure(page), "marks")
    assert len(marks["x"]) <= 2 * MOST_MARKS
    assert marks["customdata"][-1] == 0


KERNELS = """\
# device: A100 SXM4 80GB
name,time_us,flops,precision,dram_bytes,l2_bytes
mm,100,1e10,bf16,1e7,1e8
add,1,1e6,fp32,1e6,2e6
"""


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    (table := tmp_path_factory.mktemp("levels") / "kernels.csv").write_text(KERNELS)
    return page_of_files([table])


def test_each_memory_level_that_a_report_counts_is_a_set_of_points(kernels: dict[str, Any]) -> None:
    figure = op_figure(kernels)
    (marks,) = of_role(figure, "marks")
    places = zip(marks["customdata"], [round(x, 1) for x in marks["x"]], strict=True)
    assert sorted(places) == [(0, 100), (0, 1000), (1, 0.5), (1, 1)]
    assert len({*marks["marker"]["color"]}) == 2
    assert "each memory level" in json.dumps(figure["layouts"]["wide"]["xaxis"]["title"])
    assert not of_role(op_figure(kernels, ChartChoice(x="dram")), "joined")
    assert op_figure(kernels, ChartChoice(x="bottleneck")) == figure, "an old link opens the levels"


@pytest.mark.covers(45, 46, 47)
@pytest.mark.parametrize("figure_of", [op_figure, program_figure])
def test_a_roof_that_binds_little_of_the_time_is_drawn_when_asked_for(
    kernels: dict[str, Any], figure_of: Callable[..., Figure]
) -> None:
    usual, every = (
        {trace["name"] for trace in of_role(figure_of(kernels, choice), "roof")}
        for choice in (ChartChoice(), ChartChoice(roofs="all"))
    )
    assert usual < every
    assert not any("fp32" in name for name in usual)
    assert any("fp32" in name for name in every)


@pytest.mark.parametrize(
    ("label", "said"),
    [
        ("Average of 2 of 3", "Average of 2 of 3 steps."),
        ("Average", "Average of 3 complete steps."),
    ],
)
def test_the_note_says_which_steps_the_average_is_of(label: str, said: str) -> None:
    labels = {"Total": "total", label: "average", "0": "step", "1": "step", "2": "step"}
    points = [
        {"scope": scope, "label": name, "total_time_per_core_us": 1.0}
        for name, scope in labels.items()
    ]
    assert program_note(points, []) == said
