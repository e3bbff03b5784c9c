"""`report` and `show`: the page of a result as one file, and its frame in a notebook."""

import re
import sys
from html import unescape
from pathlib import Path

import pytest

import roofline
from tests.cli.test_main import refused, run
from tests.conftest import SAMPLES
from tests.web.pages.test_report import documents

A, B = (SAMPLES / "pytorch" / f"h100-training{end}.json" for end in ("-unfused", ""))
LARGE = SAMPLES / "xspace" / "v6e-training.xplane.pb"


@pytest.fixture(autouse=True)
def _same_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")


@pytest.fixture(scope="module")
def profile() -> roofline.Profile:
    return roofline.open_profile(LARGE)


def test_reports_are_those_of_the_command(profile: roofline.Profile, tmp_path: Path) -> None:
    written, path = tmp_path / "command.html", tmp_path / "library.html"
    run("report", LARGE, "-o", written, "--redact", "sources")
    profile.report(path, redact="sources")
    assert path.read_bytes() == written.read_bytes()
    run("report", "--a", A, "--b", B, "-o", written)
    assert roofline.compare(A, B).report().content == written.read_bytes()


def test_a_frame_has_the_page_and_reaches_nothing(profile: roofline.Profile) -> None:
    cell = profile.show(height=500)._repr_html_()
    found = re.fullmatch(r'<iframe sandbox="([^"]*)" ([^>]*) srcdoc="([^"]*)"></iframe>', cell)
    assert found
    assert found[1] == "allow-scripts allow-downloads"  # no allow-same-origin
    assert 'height="500"' in found[2]
    assert unescape(found[3]).encode() == profile.report().content
    assert len(cell) < 1_700_000
    assert repr(profile.report()) == f"<roofline Report: {len(profile.report().content):,} bytes>"


def test_what_is_left_out_for_the_size_is_said(profile: roofline.Profile) -> None:
    whole = profile.report().content
    assert "Left out" not in whole.decode()
    made = profile.report(max_bytes=len(whole) - 1_000)
    assert len(made.content) <= len(whole) - 1_000
    html = made.content.decode()
    assert "Left out for its size: stacks of source lines" in html
    assert documents(html)["ops/0"]["source_stack"] == ""
    assert documents(html)["view"] == documents(whole.decode())["view"]
    with pytest.raises(roofline.RooflineError, match=r"cannot be smaller than \d") as error:
        profile.report(max_bytes=100_000)
    least = re.search(r"Allow (\d+\.\d+)MB", error.value.remedy)
    assert least
    assert profile.report(max_bytes=round(float(least[1]) * 1e6))


def test_without_the_template_s_library_a_remedy_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    monkeypatch.delitem(sys.modules, "roofline.web.offline.templates", raising=False)
    monkeypatch.delitem(sys.modules, "roofline.web.offline.report", raising=False)
    with pytest.raises(roofline.RooflineError, match="notebook is not installed") as error:
        roofline.report(roofline.open_profile(A))
    assert "roofline[notebook]" in error.value.remedy


def test_sizes_are_read_and_results_without_a_page_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "r.html"
    run("report", A, "-o", path, "--max-size", "2MB")
    assert "cannot be smaller" in refused("report", A, "-o", path, "--max-size", "9kB")
    assert b"is not a size" in run("report", A, "-o", path, "--max-size", "9", code=2).stderr
    with pytest.raises(roofline.RooflineError, match="Advice has no page"):
        roofline.report(roofline.advise(A))
    for address in ("https://host/p/abc", "/model?over=abc", "/calculator?op=matmul&m=x"):
        with pytest.raises(roofline.RooflineError):
            roofline.report(address)
    with pytest.raises(roofline.RooflineError, match="of a profile alone"):
        roofline.compare(A, B).report(redact="names")
