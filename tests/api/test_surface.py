"""`import roofline`: the names, what they load, and the other calls against their commands."""

import json
from pathlib import Path
from typing import assert_type

import pytest

import roofline
from roofline.api.agents.answers import MOST_LETTERS
from roofline.api.results import Result
from tests.cli.test_main import run
from tests.compare.captures import PEAKS, capture_path
from tests.test_light_start import NOTEBOOK_ONLY, READERS, SERVER_ONLY, loaded
from tests.tools.surface import SURFACE, surface

SAME, CHANGED = capture_path("layernorm"), capture_path("unfused")
GIVEN = [word for peak in PEAKS for word in ("--peak", peak)]
H100 = ("--device", "h100-sxm")


def test_public_surface_is_that_of_the_file() -> None:
    assert surface() == SURFACE.read_text("utf-8"), "python -m tests.tools.surface writes it"


def test_stub_has_the_same_names() -> None:
    stub = Path(roofline.__file__).with_suffix(".pyi").read_text("utf-8")
    named = {line.rpartition(" as ")[2] for line in stub.splitlines() if " as " in line}
    assert named | {"__version__"} == set(roofline.__all__)
    assert set(roofline.__all__) <= set(dir(roofline))


def test_import_loads_nothing_and_a_name_loads_its_own() -> None:
    heavy = NOTEBOOK_ONLY | SERVER_ONLY | READERS | {"orjson", "roofline.api"}
    assert not loaded("import roofline") & heavy
    assert not loaded("import roofline; roofline.estimate") & (heavy - {"roofline.api"})
    assert not loaded("import roofline; roofline.open_profile, roofline.compare") & (
        NOTEBOOK_ONLY | SERVER_ONLY | {"numba"}
    )


def test_functions_stay_where_packages_have_their_names() -> None:
    code = (
        "import roofline, roofline.compare.run, roofline.estimate.ops\n"
        "assert callable(roofline.compare) and callable(roofline.estimate)"
    )
    assert "roofline.compare.run" in loaded(code)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        roofline.nothing  # type: ignore[attr-defined]  # noqa: B018


def assert_is_markdown(found: Result, *words: object) -> None:
    said = found.to_markdown()
    assert said.encode() == run(*words, "-f", "markdown").stdout
    assert len(said) <= MOST_LETTERS
    assert {line.count("\t") for line in said.splitlines()[1:3]} == {len(found.rows()[0]) - 1}


def test_estimate_is_the_command() -> None:
    found = roofline.estimate("matmul", (4096, 4096, 4096), device="h100-sxm", dtype="fp8")
    words = ("estimate", "matmul", "4096x4096x4096", *H100, "--dtype", "fp8")
    assert found.to_text().encode() == run(*words).stdout
    assert found.to_dict() == json.loads(run(*words, "-f", "json").stdout)
    assert_is_markdown(found, *words)
    assert "(certain: modelled)" in found.to_markdown().splitlines()[0]
    assert found.t_min_us == max(row["time_us"] or 0.0 for row in found.rows())
    assert "Bound by" in found.sentence
    assert found.figure().layout.xaxis.title.text.startswith("FLOP per byte")
    with pytest.raises(roofline.RooflineError, match="no option typo"):
        roofline.estimate("matmul", "8x8x8", device="h100-sxm", typo=1)


@pytest.mark.covers(136)
@pytest.mark.parametrize(
    ("phase", "options"),
    [("decode", {"batch": 8, "context": 4096}), ("request", {"prompt": 2048, "output": 64})],
)
def test_predict_is_the_command(phase: str, options: dict[str, int]) -> None:
    found = roofline.predict("llama-3-8b", phase=phase, device="h100-sxm", **options)
    given = [word for name, value in options.items() for word in (f"--{name}", value)]
    words = ("predict", "llama-3-8b", "--phase", phase, *H100, *given)
    assert found.to_text().encode() == run(*words).stdout
    assert found.to_dict() == json.loads(run(*words, "-f", "json").stdout)
    assert len(repr(found)) <= 600
    assert_is_markdown(found, *words)
    assert len(found.frame()) == len(found.rows()) > 0
    assert "<table" in found._repr_html_()
    assert '"--' not in found.figure().to_json()


def test_compare_is_the_command() -> None:
    b = roofline.open_profile(CHANGED, peaks=PEAKS)
    found = roofline.compare(SAME, b, peaks=PEAKS)
    document = json.loads(run("compare", SAME, CHANGED, *GIVEN, "-f", "json").stdout)
    assert found.to_dict() == document
    said = run("compare", SAME, CHANGED, *GIVEN, "-f", "markdown").stdout
    assert found.to_markdown().encode() == said
    assert found.change_ratio == pytest.approx(found.b_us / found.a_us - 1)
    assert sum(row["change_us"] for row in found.rows()) == pytest.approx(found.change_us)
    assert sum(found.terms.values()) == pytest.approx(found.change_us)
    assert "<svg" in found._repr_html_()
    assert '"--' not in found.figure().to_json()
    assert SAME.name in found.figure().layout.yaxis.ticktext[0]
    assert roofline.compare([b] * 3, [b] * 3).tested is not None


def test_check_is_the_command(tmp_path: Path) -> None:
    kept = tmp_path / "main.json"
    run("baseline", "save", kept, SAME, *GIVEN)
    same = roofline.check(SAME, baseline=kept, peaks=PEAKS)
    assert (same.status, same.broken) == (0, [])
    worse = roofline.check(CHANGED, baseline=kept, peaks=PEAKS)
    words = ("check", CHANGED, "--against", kept, *GIVEN)
    assert worse.to_text().encode() == run(*words, code=1).stdout
    assert worse.to_dict() == json.loads(run(*words, "-f", "json", code=1).stdout)
    assert "exact.roof_time" in {one.rule for one in worse.broken}
    assert worse.sentence.startswith("Check failed")
    with pytest.raises(roofline.RooflineError, match="no baseline"):
        roofline.check(SAME, baseline=tmp_path / "none.json")


@pytest.mark.parametrize("name", ["h100", "attention", "v6e"])
def test_advice_draws_where_operations_would_stand(name: str) -> None:
    profile = roofline.open_profile(roofline.example(name))
    advice = roofline.advise(profile)
    *drawn, after = advice.figure().data
    marks = [one for one in drawn if one.meta["role"] == "marks"]
    places = {place for one in marks for place in zip(one.x, one.y, strict=True)}
    peak = max(one.gflops for one in profile.analysis.device.compute)
    changed = [one for of in advice.findings if of["in_plan"] for one in of["landing"]]
    assert 0 < len(after.x) // 3 <= len(changed)
    ends = list(zip(after.x, after.y, strict=True))
    for (x, y), (x_after, y_after) in zip(ends[::3], ends[1::3], strict=True):
        assert (x, y) in places
        assert y < y_after <= peak * 1.001
        assert x_after >= x
    assert set(ends[2::3]) == {(None, None)}


def test_advice_of_the_first_findings_is_the_command_with_top() -> None:
    path = roofline.example("h100")
    first = roofline.advise(path, top=2, target=0.9)
    words = ("advise", path, "--target", "0.9", "--top", "2", "--format")
    assert len(first.rows()) == len(first.findings) == 2
    assert first.to_text().encode() == run(*words, "text").stdout
    assert first.to_markdown().encode() == run(*words, "markdown").stdout
    every = json.loads(run(*words, "json").stdout)["findings"]
    assert [one["id"] for one in first.to_dict()["findings"]] == [one["id"] for one in every]
    assert [one["id"] for one in first.findings] == [one["id"] for one in every[:2]]
    with pytest.raises(roofline.RooflineError, match="number of findings"):
        roofline.advise(path, top=0)


def ridges(found: Result) -> dict[str, tuple[float, float]]:
    """The ridges in a picture of devices by the names that stand beside them."""
    (marks,) = (one for one in found.figure().data if one.name == "crossing")
    names = (said.partition(":")[0] for said in marks.hovertext)
    return dict(zip(names, zip(marks.x, marks.y, strict=True), strict=True))


def test_devices_are_the_command() -> None:
    found = roofline.devices("tpu", columns=["bf16", "ridge"], sort="-bf16")
    words = ("devices", "--kind", "tpu", "--columns", "bf16,ridge", "--sort=-bf16")
    assert found.to_text().encode() == run(*words).stdout
    assert found.to_dict()["devices"] == json.loads(run(*words, "-f", "json").stdout)
    assert found.sentence == f"{len(found.frame())} devices."
    part = roofline.device("H100 SXM5 80GB")
    assert (part.id, part.name) == ("h100-sxm", "H100 SXM5 80GB")
    assert part.to_text().encode() == run("devices", "h100-sxm").stdout
    assert part.to_dict() == json.loads(run("devices", "h100-sxm", "-f", "json").stdout)
    assert_is_markdown(found, *words)
    assert_is_markdown(part, "devices", "h100-sxm")
    used = {one["source"] for one in part.to_dict()["devices"][0]["memory"]}
    assert used <= part.to_dict()["sources"].keys()
    assert {"matrix_bf16", "memory_bytes"} <= {row["of"] for row in part.rows()}
    rows = found.frame().set_index("name")[["ridge_flop_per_b", "bf16_tflop_per_s"]].head(8)
    drawn = ridges(found)
    assert list(drawn) == list(rows.index)
    for name, (at, gflops) in drawn.items():
        assert (at, gflops / 1000) == pytest.approx(tuple(rows.loc[name]), rel=1e-3)
    assert ridges(part) == {part.name: (295.343, 989_400.0)}
    with pytest.raises(roofline.RooflineError, match="Devices has no picture"):
        roofline.devices(dtype="fp4", kind="cpu").figure()
    for refused in (lambda: roofline.device("h1000"), lambda: roofline.devices(columns=["speed"])):
        with pytest.raises(roofline.RooflineError):
            refused()


def test_types_of_a_users_file() -> None:
    """mypy --strict reads this, too: no call gives `Any`."""
    profile = assert_type(roofline.open_profile(SAME, peaks=PEAKS), roofline.Profile)
    assert_type(profile.subject.gain_us, float | None)
    assert_type(profile.verdict.ceiling, str | None)
    assert_type(profile.capture, roofline.CaptureInfo | None)
    assert profile.capture is None  # a file does not say
    assert_type(roofline.advise(profile).after_us, float | None)
    assert_type(roofline.compare(SAME, CHANGED, peaks=PEAKS).change_ratio, float | None)
    assert_type(roofline.what_if(profile, peaks=["hbm=2TB/s"]), roofline.Profile)
    assert_type(roofline.device("h200").name, str)
    assert_type(roofline.estimate("matmul", "8x8x8", device="h200").t_min_us, float | None)


def test_addresses_are_read_before_anything_is_asked() -> None:
    with pytest.raises(roofline.RooflineError, match="not an address"):
        roofline.capture_remote("worker-3")
