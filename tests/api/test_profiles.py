"""`open_profile` and `advise`: the page's numbers, as types, frames, figures and cells."""

import json
import math
import pickle
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser
from pathlib import Path
from typing import assert_type

import pytest
from plotly.graph_objs import Figure, Scatter

import roofline
from roofline.figures.figure import of_width
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
    assert profile.to_markdown().encode() == run("analyze", "-f", "markdown", path).stdout
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
    sure = f"How sure what binds is: {found.answered.advice['certain']}."
    assert any(one.startswith(sure) for one in said.texts)
    assert any("Peaks per" in one or "No roof is drawn." in one for one in said.texts)
    assert cell.count("<tr>") == 1 + min(10, len(found.ops))


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


def test_profiles_are_equal_where_numbers_and_peaks_are(profile: roofline.Profile) -> None:
    again = pickle.loads(pickle.dumps(profile))
    assert again.sentence == profile.sentence
    path = roofline.example("v6e")
    named = roofline.open_profile(path.read_bytes(), name="other.xplane.pb")
    assert {profile, again, named} == {profile}
    assert (named.title, named.files) == ("other.xplane.pb", ())
    other = roofline.open_profile(path, peaks=["hbm=2TB/s"])
    assert other != profile and profile != "v6e"
    with pytest.raises(roofline.RooflineError, match="of one file"):
        roofline.open_profile(path, path.read_bytes())


def test_threads_share_a_profile() -> None:
    shared = roofline.open_profile(roofline.example("h100"))

    def read(_: int) -> tuple[str, str, float | None]:
        return shared.sentence, shared.digest, shared.ops.sum("self_time_us")

    with ThreadPoolExecutor(8) as threads:
        assert len(set(threads.map(read, range(32)))) == 1


def test_operations_are_found_by_id(profile: roofline.Profile) -> None:
    assert_type(profile.ops[0], roofline.Op)
    assert_type(profile.ops[:2], roofline.Ops)
    ids = [one.op_id for one in profile.ops]
    assert len(set(ids)) == len(ids) == len(profile.ops)
    assert profile.ops[ids[3]] is profile.ops[3]
    assert list(profile.frame().index) == ids
    listed = run("analyze", "-f", "markdown", "--sort=-self_time_us", roofline.example("v6e"))
    assert f"{ids[0]}\t" in listed.stdout.decode()
    with pytest.raises(KeyError):
        profile.ops["0000000000"]
    bound = profile.ops.where(bound="HBM", min_share=0.01)
    assert 0 < len(bound) < len(profile.ops)
    assert {one.bound_by for one in bound} == {"HBM"}
    assert bound.sum("self_time_us") == pytest.approx(sum(one.self_time_us or 0 for one in bound))
    assert profile.ops.sum("source_line") is None, "not known of every one"
    assert repr(bound) == f"<roofline Ops: {len(bound)}>"


def test_frames_know_what_they_are_of(profile: roofline.Profile) -> None:
    roofs, budget = profile.frame("roofs"), profile.frame("budget")
    for frame in (profile.frame().query("rank < 9").copy(), roofs, budget):
        said = frame.attrs["roofline"]
        assert said == {
            "device": "TPU v6 lite",
            "of": "step",
            "certain": "modelled",
            "digest": profile.digest,
        }
    assert roofs.set_index("roof").loc["hbm", "source"]
    assert budget["time_us"].sum() == pytest.approx(profile.subject.time_us, rel=1e-3)


@pytest.mark.parametrize("sample", find_samples(SAMPLES), ids=lambda sample: sample.name)
def test_what_if_is_the_profile_opened_by_other_peaks(sample: Sample) -> None:
    own = roofline.open_profile(*sample.files)
    for device, peaks in (("h200", []), ("tpu-v5p", ["hbm=2TB/s"])):
        opened = roofline.open_profile(*sample.files, device=device, peaks=peaks)
        assert roofline.what_if(own, device=device, peaks=peaks) == opened


def test_what_if_refuses_what_changes_nothing(profile: roofline.Profile) -> None:
    with pytest.raises(roofline.RooflineError, match="Nothing is changed"):
        roofline.what_if(profile)
    with pytest.raises(roofline.RooflineError, match="no device"):
        roofline.what_if(profile, device="h1000")


def test_in_formats_is_the_command() -> None:
    path = roofline.example("h100")
    found = roofline.in_formats(path, storage="fp8", tensors="weights")
    words = ("whatif", path, "--storage", "fp8", "--tensors", "weights")
    assert found.to_text().encode() == run(*words).stdout
    assert found.to_markdown().encode() == run(*words, "-f", "markdown").stdout
    assert found.to_dict() == json.loads(run(*words, "-f", "json").stdout)
    assert found.saving_us == found.to_dict()["now_us"] - found.after_us
    assert found.sentence in (found.to_text().replace("\n", ".\n"))
    with pytest.raises(roofline.RooflineError, match="No number format"):
        roofline.in_formats(path)


def test_a_replay_is_the_script_of_the_command(tmp_path: Path) -> None:
    path = roofline.example("h100")
    opened = roofline.open_profile(path)
    script = roofline.replay(opened, opened.ops[0])
    run("replay", path, "--op", script.replay.op_id, "-o", tmp_path / "command")
    (written,) = (tmp_path / "command").iterdir()
    assert script.text == written.read_text("utf-8")
    assert script.save(tmp_path).read_text("utf-8") == script.text
    assert script.sentence is None, "it was not run"
    assert roofline.replay(path, 1).text == script.text
    with pytest.raises(roofline.RooflineError, match="is not replayed"):
        roofline.replay(path, 3)
    with pytest.raises(roofline.RooflineError, match="not here"):
        roofline.replay(roofline.open_profile(path.read_bytes(), name="a.json"), 1)


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


def test_other_figures_are_those_of_the_page(profile: roofline.Profile) -> None:
    drawn = profile.page["figures"]
    assert [one.name for one in profile.figure("steps").data] == [
        one["name"] for one in of_width(drawn["program"], "wide")["data"]
    ]
    assert '"--' not in profile.figure("gain").to_json()
    with pytest.raises(roofline.RooflineError, match="“links” of this profile has no picture"):
        of_table().figure("links")


def test_colours_of_a_figure_are_values() -> None:
    assert '"--' not in str(of_table().figure().to_json())


@pytest.mark.parametrize("device", [reported(), reported(gflops=None, gibs={})])
def test_figure_of_no_ops_is_drawn(device: ReportedDevice) -> None:
    assert "program" in traces(of_table(device, "").figure())
