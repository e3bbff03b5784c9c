"""`open_profile` and `advise`: the page's numbers, as types, frames, figures and cells."""

import json
import math
import pickle
from html.parser import HTMLParser

import pytest
from plotly.graph_objs import Figure, Scatter

import roofline
from roofline.library.samples import Sample, find_samples
from roofline.model.device import ReportedDevice
from roofline.model.memory import MemoryLevel
from tests.builders import analysed, reported
from tests.cli.test_main import run
from tests.conftest import SAMPLES

OPS = """
op     | category | self_us | flop | hbm_bytes
<b>m   | x & y    | 500     | 4e8  | 1e6
copy   | copy     | 100     | 0    | 1e6
"""


@pytest.fixture(scope="module")
def profile() -> roofline.Profile:
    return roofline.open_profile(roofline.example("v6e"))


def of_table(device: ReportedDevice | None = None, ops: str = OPS) -> roofline.Profile:
    return roofline.Profile("table", analysed(ops, device=device) if device else analysed(ops))


def traces(figure: Figure) -> dict[str, Scatter]:
    return {trace.name: trace for trace in figure.data}


def test_documents_are_those_of_the_commands() -> None:
    path = roofline.example("h100")
    profile = roofline.open_profile(path)
    assert profile.to_dict() == json.loads(run("analyze", "-f", "json", path).stdout)
    assert profile.to_text().encode() == run("analyze", path).stdout
    advice = roofline.advise(profile)
    assert advice.to_markdown().encode() == run("advise", "-f", "markdown", path).stdout
    assert advice.to_text().encode() == run("advise", "--top", 99, path).stdout
    document = json.loads(run("advise", "-f", "json", path).stdout)
    assert advice.to_dict().keys() == document.keys()
    assert advice.after_us == pytest.approx(document["after_us"], rel=1e-12)


def test_types_have_the_numbers_of_the_document(profile: roofline.Profile) -> None:
    document = profile.to_dict()
    assert profile.subject.time_us == document["subject"]["time_us"]
    assert profile.verdict.kind == document["verdict"]["class"]
    assert profile.verdict.known.both == document["verdict"]["known"]["both"]
    assert [one.name for one in profile.ops] == [one["name"] for one in document["ops"]]
    assert profile.ops[3].gain_us == document["ops"][3]["gain_us"]
    assert type(profile.ops[3].cost) is str
    assert profile.findings == roofline.advise(profile).findings


@pytest.mark.covers(136)
def test_frames_have_units_in_their_columns(profile: roofline.Profile) -> None:
    frame = profile.frame()
    assert len(frame) == len(profile.analysis.with_infeed.op)
    assert frame["self_time_us"].is_monotonic_decreasing
    assert frame.loc[frame["cost"] == "idle", "flop_rate_gflops"].isna().all()
    assert abs(frame["self_share_ratio"].sum() - 1) < 1e-9
    assert not profile.frame(infeed=False)["category"].str.contains("infeed|outfeed").any()
    assert list(profile.frame("steps")["label"]) == [str(step) for step in range(8)]
    saved = roofline.advise(profile).frame().set_index("id")["saving_us"]
    assert saved.iloc[0] == profile.findings[0]["predicted"]["saving_us"]


@pytest.mark.parametrize("sample", find_samples(SAMPLES), ids=lambda sample: sample.name)
def test_every_sample_has_a_short_repr_and_a_cell_without_scripts(sample: Sample) -> None:
    found = roofline.open_profile(*sample.files)
    assert len(repr(found)) <= 600
    assert "\n" not in repr(found)
    cell = found._repr_html_()
    assert len(cell) < 30_000
    assert "<script" not in cell
    assert "var(" not in cell, "a colour without a value"
    said = _Text()
    said.feed(cell)
    assert found.sentence in said.texts


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_names_of_files_are_texts_in_a_cell() -> None:
    found = of_table(ops=OPS.replace("<b>m", "<img src=x onerror=alert(1)>"))
    assert "<img" not in found._repr_html_()
    assert "&lt;img src=x" in found._repr_html_()


def test_unknown_is_none() -> None:
    found = of_table(reported(gflops=None, gibs={}))
    assert found.subject.roof_ratio is None
    assert all(one.roofline_efficiency_ratio is None for one in found.ops)


def test_result_can_be_pickled(profile: roofline.Profile) -> None:
    again = pickle.loads(pickle.dumps(profile))
    assert again.sentence == profile.sentence


def test_mistakes_have_a_remedy() -> None:
    with pytest.raises(roofline.RooflineError) as found:
        roofline.open_profile("no-such-file.xplane.pb")
    assert found.value.remedy
    with pytest.raises(roofline.RooflineError, match="No file"):
        roofline.open_profile()
    with pytest.raises(roofline.RooflineError, match="share of the roof"):
        roofline.advise(roofline.example("attention"), target=1.5)
    with pytest.raises(roofline.RooflineError, match="no example"):
        roofline.example("h200")


def test_options_are_those_of_the_command() -> None:
    path = roofline.example("h100")
    found = roofline.open_profile(path, device="h200", peaks=["hbm=2TB/s"], of="capture")
    words = ("--device", "h200", "--peak", "hbm=2TB/s", "--of", "capture")
    assert found.to_dict() == json.loads(run("analyze", "-f", "json", path, *words).stdout)
    part = roofline.open_profile(path, range_us=(0, found.subject.time_us / 2))
    assert part.subject.kind == "range"
    assert math.isclose(part.subject.time_us, found.subject.time_us / 2, rel_tol=0.05)


def test_figure_has_a_line_per_roof_and_a_mark_per_op_with_flops() -> None:
    device = reported(gibs={MemoryLevel.HBM: 100.0, MemoryLevel.VMEM_READ: 900.0})
    found = traces(of_table(device).figure())
    assert {"HBM 107.37\u00a0GB/s", "x &amp; y", "program"} <= found.keys()
    assert found["x &amp; y"].hovertext == ("&lt;b&gt;m",)
    assert found["x &amp; y"].y[0] == pytest.approx(800)
    assert found["program"].y == ()  # kernels measured one by one are not a program


def test_figure_has_the_styles_of_files(profile: roofline.Profile) -> None:
    page, paper, talk = (profile.figure(style=style) for style in ("page", "paper", "talk"))
    assert page.layout.title.text
    assert paper.layout.title.text is None
    assert paper.layout.width < talk.layout.width
    assert "leaders" in traces(paper).keys() - traces(page).keys()
    assert '"--' not in str(paper.to_json())


def test_figure_of_a_profile_ends_with_the_program(profile: roofline.Profile) -> None:
    figure = profile.figure()
    assert figure.data[-1].name == "program"
    assert figure.layout.xaxis.type == figure.layout.yaxis.type == "log"


def test_names_of_roofs_are_texts_with_their_peaks() -> None:
    found = traces(of_table().figure())
    assert any("HBM" in text and "GB/s" in text for text in found["names"].text)
    assert max(found["HBM 107.37\u00a0GB/s"].y) == pytest.approx(1000), "not above the peak"


def test_colours_of_a_figure_are_values() -> None:
    assert '"--' not in str(of_table().figure().to_json())


@pytest.mark.parametrize("device", [reported(), reported(gflops=None, gibs={})])
def test_figure_of_no_ops_is_drawn(device: ReportedDevice) -> None:
    assert "program" in traces(of_table(device, "").figure())
