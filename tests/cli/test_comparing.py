"""`roofline compare`: sums in every form, captures of a side, and what it refuses."""

import json
from pathlib import Path

import pytest

from roofline.compare.attribution import TERMS
from tests.cli.test_main import refused, run
from tests.compare.captures import PEAKS, capture_path
from tests.conftest import SAMPLES
from tests.tools.generate_xspace import Config, write_profile


@pytest.fixture(scope="module")
def captures(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("compared")
    paths = []
    for seed in (1, 2):
        config = Config(n_events=900, n_steps=3, n_distinct_ops=40, seed=seed)
        paths += write_profile(config, folder / str(seed))
    return paths


def test_json_has_the_documented_keys_and_terms_that_add_up(captures: list[Path]) -> None:
    found = json.loads(run("compare", *captures, "--format", "json").stdout)
    assert {
        "unit", "a_us", "b_us", "change_us", "terms", "matched", "ops", "only_a", "only_b",
        "groups", "verdict", "comparable",
    } <= set(found)  # fmt: skip
    assert tuple(found["terms"]) == TERMS
    assert sum(found["terms"].values()) == pytest.approx(found["change_us"], rel=1e-9)
    by_category = sum(one["change_us"] for one in found["categories"])
    apart = sum(found["terms"][name] for name in ("idle", "communication", "transfers"))
    assert by_category + apart == pytest.approx(found["change_us"], rel=1e-6, abs=1e-6)
    for op in found["ops"]:
        assert {"a", "b", "tier", "change_us", "terms"} <= set(op)


def test_of_is_what_both_sides_are_of(captures: list[Path]) -> None:
    found = json.loads(run("compare", *captures, "--of", "capture", "-f", "json").stdout)
    for side, path in zip("ab", captures, strict=True):
        page = json.loads(run("analyze", path, "--of", "capture", "-f", "json").stdout)["subject"]
        told = found["subjects"][side]
        assert {name: page[name] for name in told if name in page} == {
            name: told[name] for name in told if name in page
        }
        assert found[f"{side}_us"] == page["time_us"]
    text = run("compare", *captures, "--of", "capture").stdout.decode()
    assert "Of Capture, from the first operation" in " ".join(text.split())
    rows = json.loads(run("series", *captures, "--of", "capture", "-f", "json").stdout)["runs"]
    assert [one["time_us"] for one in rows] == [found["a_us"], found["b_us"]]


def test_one_capture_is_compared_with_the_likeliest_beside_it(
    captures: list[Path], tmp_path: Path
) -> None:
    sides = [tmp_path / "a.pb", tmp_path / "b.pb"]
    for side, capture in zip(sides, captures, strict=True):
        side.write_bytes(capture.read_bytes())
    (tmp_path / "notes.txt").write_text("not a capture")
    (tmp_path / "other.csv").write_text("name,time_us,flops,bytes\nother,5,1000,100\n")
    found = run("compare", sides[0], "-f", "json")
    assert "compared with b.pb: " in found.stderr.decode()
    assert found.stdout == run("compare", *sides, "-f", "json").stdout
    assert "roofline compare A B" in refused("compare", tmp_path / "other.csv")


def test_text_and_markdown_say_the_change_first(captures: list[Path]) -> None:
    text = run("compare", *captures).stdout.decode()
    assert " a step: " in text.splitlines()[0]
    assert " instead of " in text.splitlines()[0]
    assert "Category" in text
    assert "How the change was split" not in text
    assert "Tier" not in text
    more = run("compare", *captures, "--ops", "--explain").stdout.decode()
    assert more.index("Tier") < more.index("How the change was split") < more.index("How sure: ")
    assert all(len(line) <= 120 for line in text.splitlines())
    markdown = run("compare", *captures, "-f", "markdown").stdout.decode()
    assert markdown.startswith("### ")
    assert "| --- |" in markdown


def test_names_of_strangers_stay_plain_in_markdown(tmp_path: Path) -> None:
    table = "name,time_us,flops,bytes\n"
    for side, time in (("a", 5), ("b", 9)):
        text = f"{table}<img src=x> | `x`,{time},1000,100\n"
        (tmp_path / f"{side}.csv").write_text(text)
    files = tmp_path / "a.csv", tmp_path / "b.csv"
    shown = run("compare", *files, "-f", "markdown").stdout.decode()
    assert "<img" not in shown
    assert "&lt;img src=x&gt; \\| \\`x\\`" in shown


def test_several_captures_of_a_side_are_tested_against_noise(captures: list[Path]) -> None:
    a, b = captures
    sides = ["--a", a, "--a", a, "--a", a, "--b", b, "--b", b, "--b", b]
    found = json.loads(run("compare", *sides, "-f", "json").stdout)
    assert found["tested"]["p"] == pytest.approx(0.05)
    assert found["verdict"]["state"] in ("faster", "slower")
    one = json.loads(run("compare", a, b, "-f", "json").stdout)
    assert one["tested"] is None
    assert one["verdict"]["state"] in ("more", "less")


def test_a_capture_against_itself_is_unchanged(captures: list[Path]) -> None:
    text = run("compare", captures[0], captures[0], "--unit", "capture").stdout.decode()
    assert text.startswith("No change: ")
    assert "in the capture on both sides" in text


def test_a_side_too_few_or_a_unit_it_does_not_have_is_refused(captures: list[Path]) -> None:
    assert "there is no B" in refused("compare", captures[0])
    assert "two sides" in refused("compare", "--a", captures[0])
    sample = SAMPLES / "generic" / "attention-h100.json"
    assert "per step" in refused("compare", sample, sample, "--unit", "step")


def test_other_peaks_are_used_for_both_sides(captures: list[Path]) -> None:
    found = json.loads(run("compare", *captures, "--device", "h100-sxm", "-f", "json").stdout)
    assert "other-device" not in {note["code"] for note in found["notes"]}
    assert found["terms"]["peaks"] == pytest.approx(0.0, abs=1e-9)


def slower_from_the_ninth(folder: Path) -> list[Path]:
    """Captures of one program: one module of two takes 10 % more from the ninth of 14 on."""
    head = "name,time_us,flops,bytes,framework_path\n"
    files = []
    for number in range(14):
        attention = (400 + number % 3) * (1.1 if number >= 8 else 1)
        rows = f"a,{attention},1e6,100,jit(step)/Net/Attention/dot\n"
        rows += "b,300,1e6,99,jit(step)/Net/MLP/dot\n"
        files.append(folder / f"run{number:02}.csv")
        files[-1].write_text(head + rows)
    return files


def test_a_series_names_the_run_and_the_module_with_which_a_lasting_change_began(
    tmp_path: Path,
) -> None:
    files = slower_from_the_ninth(tmp_path)
    (change,) = json.loads(run("series", *files, "--format", "json").stdout)["changes"]
    assert (change["start"], change["first"], change["end"]) == (0, 8, 14)
    said = run("series", *files).stdout.decode()
    assert "Since run 9, a capture takes 5.7" in said
    assert "(6 runs against 8 before)" in said
    assert "Attention takes 40\xa0µs more." in said
    assert json.loads(run("series", *files[:10], "--format", "json").stdout)["changes"] == []


def test_a_series_names_the_run_that_broke_a_rule(tmp_path: Path) -> None:
    same, changed = capture_path("layernorm"), capture_path("unfused")
    peaks = [word for peak in PEAKS for word in ("--peak", peak)]
    files = (same, same, changed, same)
    found = json.loads(run("series", *files, "--format", "json", *peaks).stdout)
    assert [one["gate"] for one in found["runs"]] == ["base", "passed", "broken", "passed"]
    assert [one["base"] for one in found["runs"]] == [None, 0, 1, 1]
    assert "exact.roof_time" in found["runs"][2]["rules"]
    assert found["runs"][2]["roof_us"] > found["runs"][1]["roof_us"]
    budget = tmp_path / "roofline.toml"
    rules = '[exact]\nroof_time = "+1%"\n[[accept]]\nrule = "exact.roof_time"\n'
    budget.write_text(f'{rules}reason = "#812"\nuntil = 2099-03-01\n')
    said = run("series", *files, "--budget", budget, *peaks).stdout.decode()
    assert "accepted until 2099-03-01: exact.roof_time (against run 2)" in said
    assert "cannot be read" in refused("series", same, "--budget", tmp_path / "missing.toml")
