"""The stamp of a run in lists: its sentence, and hosts as cells in the colours of the map."""

import re

import pytest

from roofline.exports.run_page import HEIGHT, MOST_CELLS, WIDTH, Arriving, run_page, run_preview
from roofline.exports.run_report import run_record
from roofline.pods.reduce import reduce_run
from tests.pods import runs

SLOW = run_record(reduce_run(runs.run(3, hosts=24, fault=runs.slow_chip(7, 1, 1.08))))


def cells(svg: str) -> dict[str, int]:
    """How many cells have which colour."""
    found: dict[str, int] = {}
    for drawn, token in re.findall(r'd="([^"]+)" fill="var\((--[a-z-]+[0-9]?)\)"', svg):
        found[token] = found.get(token, 0) + drawn.count("M")
    return found


def test_a_slow_host_is_named_and_red() -> None:
    found = run_preview(SLOW)
    assert found.headline.startswith("host-0007 is slow")
    assert cells(found.svg)["--bad"] == 1
    assert sum(cells(found.svg).values()) == 24


def test_a_run_that_arrives_has_no_verdict() -> None:
    found = run_preview(SLOW, Arriving(read=24, total=64))
    assert "24 of 64" in found.headline and "slow" not in found.headline


@pytest.mark.parametrize("count", [0, 1, 480, 481, 4096])
def test_a_stamp_of_any_run_is_small_and_shows_the_host_that_is_farthest_out(count: int) -> None:
    host = {**SLOW["hosts"][0], "same_work_ratio": 1.0}
    hosts = [{**host, "same_work_ratio": 1.08 if k == count // 3 else 1.0} for k in range(count)]
    svg = run_preview({**SLOW, "hosts": hosts, "outliers": []}).svg
    assert sum(cells(svg).values()) <= MOST_CELLS
    assert cells(svg).get("--bad", 0) == min(count, 1)
    assert len(svg) < 16_000
    for x, y in re.findall(r"M([0-9.]+) ([0-9.]+)h", svg):
        assert 0 <= float(x) <= WIDTH and 0 <= float(y) <= HEIGHT


def test_three_hosts_have_no_verdict_and_no_colour() -> None:
    few = run_record(reduce_run(runs.run(3, hosts=3, fault=runs.slow_chip(1, 1, 1.08))))
    assert few["no_verdict"] == "few hosts"
    assert max(one["same_work_ratio"] for one in few["hosts"]) > 1.01
    assert cells(run_preview(few).svg) == {"--line-2": 3}
    assert run_page(few)["shades"]["ratio"] == "333"
    assert "8" in run_page(SLOW)["shades"]["ratio"]


def test_hosts_that_were_not_read_are_pale() -> None:
    hosts = [{**one, "state": "unreadable"} for one in SLOW["hosts"]]
    assert cells(run_preview({**SLOW, "hosts": hosts}, Arriving(read=0, total=24)).svg) == {
        "--line": 24
    }
