"""The page that explores a profile, and its API: number formats and other devices."""

import gzip
import json
import re
from collections.abc import Mapping, Sequence
from html import unescape
from typing import Any

import pytest

from roofline.compare.run import run_to_json
from roofline.devices.choice import known_part
from roofline.estimate.llm.config import preset
from roofline.estimate.llm.document import generic_document
from roofline.estimate.llm.request import workload
from roofline.estimate.llm.step import step_of
from roofline.library.comparing import StoredRun
from roofline.web.pages.explore_cards import explore_view
from tests.compare.runs import Row, make_run
from tests.web.conftest import Client
from tests.web.pages.test_model import DECODE, HTML


def nowhere(_names: Sequence[str]) -> Mapping[str, Any]:
    line = {"name": "here", "texts": ["", "", "", ""], "time_us": 1.0, "best": ["1 TFLOP/s"]}
    return {"here": line, "devices": [], "usual": [], "ops": ["mul"]}


@pytest.mark.covers(86)
def test_chains_are_drawn_where_they_ran_and_as_one_kernel() -> None:
    run = make_run([Row(name="mul", flop=1e5, bytes=1e4, time_us=20.0)])
    stored = StoredRun(title="t", etag="e", packed=gzip.compress(run_to_json(run)))
    ends = {"bytes": (4e4, 1e4), "flop_per_byte": (1.0, 4.0), "gflops": (1.0, 4.0)}
    chain = {
        **{name: {"now": now, "after": then} for name, (now, then) in ends.items()},
        "what": "<norm>",
        "ops": [0, 1],
        "op_names": ["a", "b"],
        "limited_by": "hbm",
        "now_us": 40.0,
        "after_us": 10.0,
        "saving_us": 30.0,
    }
    view = explore_view(stored, json.dumps({"fusions": [chain]}).encode(), {"of": "x"}, (), nowhere)
    assert (view.best_heads, view.best) == (("here",), (("mul", "1 TFLOP/s"),))
    (said,) = view.chains
    assert (said.ops, said.saves.replace("\u00a0", " "), said.limited_by) == ("2", "30.0 µs", "hbm")
    assert view.fusion is not None
    traces = {trace["meta"]["role"]: trace for trace in view.fusion["data"]}
    places = {role: list(zip(one["x"], one["y"], strict=True)) for role, one in traces.items()}
    assert (places["measured"], places["predicted"]) == ([(1, 1)], [(4, 4)])
    assert places["curve"] == [(1, 1), (4, 4)]
    assert traces["labels"]["text"] == ["&lt;norm&gt;"]


def test_fewer_bytes_over_links_are_chosen_on_the_page_and_by_the_api(client: Client) -> None:
    table = b"name,category,time_us,flops,bytes\nring,all-reduce,4e3,,\ngemm,matmul,1e3,1e6,1e3\n"
    found = client.upload(table, names=("k.csv",)).json()["id"]
    page, api = f"/explore?of={found}&storage=", f"/api/v1/profiles/{found}/whatif"
    record = client.get(f"{api}?link_bytes=0.5").json()
    assert record["saving_us"] == pytest.approx(2e3)
    html = unescape(client.get(f"{page}&link_bytes=0.5", headers=HTML).text).replace("\u00a0", " ")
    assert "Communication that nothing hides: 4.00 ms → 2.00 ms" in html
    assert client.get(f"{api}?link_bytes=0").status_code == 400
    assert client.get(f"{page}&link_bytes=few", headers=HTML).status_code == 400


@pytest.mark.covers(98, 108)
def test_how_to_read_the_chart_tells_far_from_close(client: Client) -> None:
    """The five rows of docs/what-is-a-roofline.md, and what lies between two memories' roofs."""
    found = client.upload(b"name,time_us,flops,bytes\ngemm,1,1e6,1e3\n", names=("k.csv",)).json()[
        "id"
    ]
    html = unescape(client.get(f"/p/{found}", headers=HTML).text)
    dialog = html.partition('aria-label="How to read the chart"')[2].partition("</ol>")[0]
    for row in (
        "At the slanted roof: fewer bytes (fuse, a smaller type, a larger batch).",
        "Far below it: layout, tiling, larger calls.",
        "At the flat roof: fewer FLOPs, a shorter number format, another part.",
        "Far below it: larger tiles, more parallel work, the matrix unit.",
        "Waiting for a link or the host: overlap it, shard otherwise, launch less often.",
        "bonus of the faster memory",
    ):
        assert row in dialog, row


def test_a_profile_is_explored(client: Client) -> None:
    step = step_of(preset("llama-3-8b"), workload(DECODE), known_part("h100-sxm"))
    document = json.dumps(generic_document(step, "llama-3-8b")).encode()
    found = client.upload(document, names=("m.json",), title="<b>llama</b>").json()["id"]
    page, api = f"/explore?of={found}", f"/api/v1/profiles/{found}"
    first = client.get(page, headers=HTML)
    assert first.status_code == 200
    assert "<b>llama</b>" not in first.text
    html = unescape(first.text).replace("\u202f", " ")
    assert "as it ran" in html
    assert "No chain is known" in html
    assert 'value="h200" checked' in html
    assert "H200 SXM 141GB: at best" in html
    here = client.get(f"{api}/parts?device=h200&device=gb200&usual=true").json()
    rows = re.search(r"The profile on each device.*?</table>", html, re.S)
    assert rows is not None
    for line in (here["here"], *here["devices"], *here["usual"]):
        assert line["name"] in rows[0]
        assert all(text.replace("\u202f", " ") in rows[0] for text in line["texts"])
    assert "Operations on these devices" in html
    for line in (here["here"], *here["devices"]):
        assert all(f">{text}</td>".replace("\u202f", " ") in html for text in line["best"])
    assert f'href="{page}"' in client.get(f"/c/{found}", headers=HTML).text
    chosen = client.get(f"{page}&storage=&compute=fp8&prices=h100-sxm=2.5&vs=tpu-v5e", headers=HTML)
    said = unescape(chosen.text)
    assert "a step becomes" in said or "in the capture becomes" in said
    assert "per million" in said
    assert 'value="h200" checked' not in said
    refused = client.get(f"{page}&storage=&compute=int4", headers=HTML)
    assert refused.status_code == 400
    assert "no known rate" in refused.text
    assert client.get("/explore", headers=HTML).status_code == 404
    assert client.get("/explore?of=unknown", headers=HTML).status_code == 404

    record = client.get(f"{api}/whatif?compute=fp8").json()
    assert record["now_us"] >= record["after_us"]
    assert client.get(f"{api}/whatif").status_code == 400
