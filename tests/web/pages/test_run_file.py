"""The page of a run as one file: complete, self-contained, and safe against names of strangers."""

import json
import re
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest

from roofline.exports.run_report import run_record
from roofline.pods.partial import Names
from roofline.pods.reduce import reduce_run
from roofline.pods.report import Unreadable
from roofline.web.offline.report import run_file
from roofline.web.offline.run_view import run_view
from tests.cli.test_main import refused, run
from tests.conftest import SAMPLES
from tests.pods import runs

EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(1)>&amp;"
HOSTS = runs.run(5, hosts=16, fault=runs.slow_chip(7, 1, 1.08))


def with_evil_names() -> bytes:
    names = Names(tuple(replace(key, name=key.name + EVIL) for key in HOSTS[0].names.keys))
    hosts = [
        replace(
            one,
            names=names,
            header=replace(one.header, names=names.digest, host=one.header.host + EVIL),
        )
        for one in HOSTS
    ]
    broken = Unreadable(name=EVIL, digest="1", reason=EVIL)
    return run_file(run_record(reduce_run(hosts, [broken])), EVIL)


def test_names_of_strangers_are_text() -> None:
    text = with_evil_names().decode()
    assert "<script>alert" not in text
    assert "<img" not in text
    assert "</script><" not in text.replace("</script>\n", "")
    data = re.search(r'<script type="application/json" data-run>(.*?)</script>', text)
    assert data is not None
    assert json.loads(data[1])["hosts"]["names"][0].endswith("&amp;")


def test_the_file_needs_nothing_else() -> None:
    text = run_file(run_record(reduce_run(HOSTS)), "Run").decode()
    assert not re.findall(r'<(?:script|link|img)[^>]*(?:src|href)="(?!data:)', text)
    assert 'type="module"' not in text
    assert "default-src 'none'" in unescape(text)


def test_gains_fill_the_whole_lane() -> None:
    view = run_view(run_record(reduce_run(HOSTS)), "Run")
    assert [one.host for one in view.gains] == ["host-0007", "all others"]
    assert view.gains[-1].left + view.gains[-1].width == pytest.approx(100, abs=0.02)
    (outlier,) = view.outliers
    assert outlier.excess.startswith("+8")
    assert outlier.url == "?host=host-0007"
    facts = {one.term: one.value for one in view.facts}
    assert facts["Hosts read"] == "16 of 16"
    assert facts["Chips of a host"] == "4"


def test_the_command_writes_the_page(tmp_path: Path) -> None:
    target = tmp_path / "run.html"
    run(
        "analyze", "--engine", "local", "--format", "html",
        SAMPLES / "xspace" / "v5e-three-hosts", "-o", target,
    )  # fmt: skip
    text = target.read_text()
    assert "<title>Run of 3 hosts · Roofline</title>" in text
    assert "No verdict: it needs at least 4 hosts" in text


def test_a_profile_alone_is_not_written_as_html() -> None:
    sample = SAMPLES / "xspace" / "v5e-three-hosts" / "host_0.xplane.pb"
    assert "--engine local" in refused("analyze", "--format", "html", sample)
