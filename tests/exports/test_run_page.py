"""The page data of a run: packed columns, roofs, answers, and less than 1 MB for 4,096 hosts."""

import base64
import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from roofline.exports.run_page import MOST_OPS, Arriving, answer_of, roofs_of, run_page, so_far
from roofline.exports.run_report import run_record
from roofline.pods.partial import Partial
from roofline.pods.reduce import reduce_run
from roofline.pods.report import Unreadable
from roofline.presentation.quantities import duration
from roofline.presentation.sentences import plain_text
from roofline.web.offline.run_view import heat_map, run_view
from tests.pods import runs

BROKEN = Unreadable(name="e.pb", digest="1", reason="cut off at byte 7")
SLOW = run_record(reduce_run(runs.run(5, hosts=16, fault=runs.slow_chip(7, 1, 1.08)), [BROKEN]))


def unpacked(column: str) -> list[float]:
    """The values of a packed column."""
    return list(np.frombuffer(base64.b64decode(column), "<f4"))


def test_columns_hold_the_values_of_the_document() -> None:
    page = run_page(SLOW)
    hosts = page["hosts"]
    wanted = [np.nan if one["work_us"] is None else one["work_us"] for one in SLOW["hosts"]]
    assert unpacked(hosts["work_us"]) == pytest.approx(wanted, rel=1e-6, nan_ok=True)
    assert np.isnan(unpacked(hosts["ratio"])[-1])
    assert hosts["states"] == [0] * 16 + [2]
    assert hosts["reasons"] == {"16": BROKEN.reason}
    assert hosts["chips"]["slow"] == [7 * runs.CHIPS + 1]
    assert [one["at"] for one in page["outliers"]] == [7]
    assert list(page["deviations"]) == ["7"]
    assert [unpacked(page["ops"]["lost_us"])[0]] == pytest.approx(
        [SLOW["ops"][0]["time_lost_us"]], rel=1e-6
    )
    assert page["hosts"]["names"][page["representative"]] == SLOW["representative"]
    assert roofs_of(SLOW) == {
        "gflops": 197_000.0, "unit": "MXU bf16", "gbs": 819.0, "memory": "HBM"
    }  # fmt: skip


def test_a_run_has_one_length_of_a_step() -> None:
    longest = sorted(one["max_us"] for one in SLOW["steps"])
    assert SLOW["step_us"] == longest[(len(longest) - 1) // 2]
    page = run_page(SLOW)
    assert page["step_us"] == SLOW["step_us"]
    (line,) = (one for one in page["figures"]["steps"]["data"] if one["meta"]["role"] == "length")
    assert sorted(line["y"]) == pytest.approx(longest, rel=1e-5)
    known = [one["step_us"] for one in SLOW["hosts"] if one["state"] == "read"]
    assert max(known) == pytest.approx(SLOW["step_us"], rel=0.01)  # on the slow host
    facts = {one.term: one.value for one in run_view(SLOW, "Run").facts}
    assert facts[f"Step, median of {len(longest)}"] == duration(SLOW["step_us"])


@pytest.mark.parametrize(
    ("hosts", "columns", "few"),
    [(4096, 64, False), (1025, 32, False), (100, 8, False), (6, 3, True), (1, 2, True)],
)
def test_columns_of_the_map_come_in_eights_in_large_runs(
    hosts: int, columns: int, few: bool
) -> None:
    found = heat_map(hosts)
    assert (found.columns, found.is_few) == (columns, few)


def test_hosts_of_two_devices_have_no_roofs() -> None:
    hosts = runs.run(5, hosts=8)
    other = replace(hosts[3], header=replace(hosts[3].header, device="TPU v4"))
    document = run_record(reduce_run([*hosts[:3], other, *hosts[4:]]))
    assert set(roofs_of(document).values()) == {None}


def test_nobody_is_accused_while_hosts_arrive() -> None:
    page = run_page(SLOW, arriving=Arriving(read=17, total=64))
    assert page["outliers"] == []
    assert page["arriving"] == {"read": 17, "total": 64}
    answer = answer_of(SLOW, Arriving(read=17, total=64))
    assert plain_text(answer.headline) == "So far 17 of 64 hosts have been read"
    assert not answer.is_bad


def test_nor_by_the_document_that_the_api_gives() -> None:
    found = so_far(SLOW, Arriving(read=17, total=64))
    assert found.keys() == SLOW.keys()
    assert found["verdict"].startswith("So far 17 of 64 hosts have been read. ")
    assert (found["no_verdict"], found["outliers"], found["gains"]) == ("hosts arriving", [], [])
    assert (found["stragglers_cost_ratio"], found["late_host"]) == (None, None)
    assert {one["verdict"] for one in found["hosts"]} == {None}
    assert not any(chip["is_slow"] for one in found["hosts"] for chip in one["chips"])
    assert [one["work_us"] for one in found["hosts"]] == [one["work_us"] for one in SLOW["hosts"]]
    assert SLOW["outliers"], "the document itself is as it was"


def test_the_answer_names_the_host_the_cost_and_what_could_not_be_read() -> None:
    answer = answer_of(SLOW)
    assert plain_text(answer.headline).startswith("host-0007 is slow: 8.")
    lead = plain_text(answer.lead)
    assert "putting host-0007 right brings" in lead
    assert lead.endswith("1 host could not be read.")
    assert answer.is_bad


@pytest.mark.parametrize(
    ("hosts", "broken", "wanted"),
    [
        (runs.run(1, hosts=3), [], "No verdict: it needs at least 4 hosts"),
        (runs.run(1, hosts=5), [BROKEN], "No verdict: it needs 90"),
        (
            [*runs.run(1, hosts=8), *map(runs.of_another_run, runs.run(1, hosts=16)[8:])],
            [],
            "No verdict: hosts run several programs",
        ),
        (runs.run(1, hosts=16), [], "No host works longer than the others"),
        (
            [
                runs.with_collective(one, [[9**9 * (k != 5)] * 12] * 4, group_size=64)
                for k, one in enumerate(runs.run(1, hosts=16))
            ],
            [],
            "Hosts wait for host-0005, which does not work longer: its input or its own program",
        ),
        (
            runs.run(1, hosts=24, fault=runs.slow_now_and_then(3, [2, 5], 1.085)),
            [],
            "host-0003 is slow now and then: in 2 of 12 steps",
        ),
        (
            [runs.given_more(one, 1.04 if k == 5 else 1) for k, one in enumerate(runs.run(1))],
            [],
            "host-0005 was given more work",
        ),
    ],
)
def test_every_answer_has_a_sentence(
    hosts: list[Partial], broken: list[Unreadable], wanted: str
) -> None:
    document = run_record(reduce_run(hosts, broken))
    assert plain_text(answer_of(document).headline).startswith(wanted)


def test_a_page_of_4096_hosts_is_smaller_than_1_mb() -> None:
    few = run_record(reduce_run(runs.run(2, hosts=16, ops=4, fault=runs.slow_chip(7, 1, 1.08))))
    document = grown(few, hosts=4_096, ops=1_500)
    page = run_page(document)
    assert len(page["ops"]["names"]) == MOST_OPS
    assert page["ops"]["total"] == 1_500
    assert len(json.dumps(page)) < 900_000


def grown(document: dict[str, Any], *, hosts: int, ops: int) -> dict[str, Any]:
    """The document with as many hosts, ops and steps, under names of usual length."""
    kinds, each = document["hosts"], document["ops"]
    name = "gke-tpu-7f3a{:04}-pod-slice-worker-{:04}.internal".format
    called = "transformer.layers.{:03}.attention/fusion.{:04} = bf16[8,128]".format
    return {
        **document,
        "hosts": [{**kinds[k % 16], "host": name(k, k)} for k in range(hosts)],
        "ops": [{**each[k % 4], "name": called(k, k), "max_host": name(7, 7)} for k in range(ops)],
        "steps": [{**document["steps"][0], "critical_host": name(7, 7)}] * 200,
        "outliers": [{**document["outliers"][0], "host": name(7, 7)}],
        "representative": name(1, 1),
    }


def test_long_names_keep_both_ends() -> None:
    document = {**SLOW, "ops": [{**SLOW["ops"][0], "name": "a" * 500 + "end"}]}
    (name,) = run_page(document)["ops"]["names"]
    assert len(name) <= 160
    assert name.startswith("aaa")
    assert name.endswith("end")
