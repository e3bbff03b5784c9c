"""The calculator: the numbers of the API on a page that needs no script, and its faults."""

import json
import re
from html import unescape
from typing import Any
from urllib.parse import urlencode

import pytest

from roofline.estimate.forms import FORMS
from tests.conftest import ROOT
from tests.narrowing import known
from tests.web.conftest import Client, Launch

HTML = {"accept": "text/html,application/xhtml+xml"}
NAME = '<img src=x onerror="alert(1)">'


def read(client: Client, **given: object) -> str:
    answer = client.get(f"/calculator?{urlencode(given)}", headers=HTML)
    assert answer.status_code == 200, answer.text
    return unescape(answer.text).replace("\u00a0", " ").replace("\u202f", " ")


def figures(html: str) -> list[Any]:
    return [json.loads(sent) for sent in re.findall(r"data-figure='([^']+)'", html)]


def test_every_op_has_a_page(reader: Client) -> None:
    for op, form in FORMS.items():
        html = read(reader, op=op, device="tpu-v5p")
        assert "on TPU v5p: at best" in html
        assert " style=" not in html
        assert "<script>" not in html
        for field in form.fields:
            assert f'name="{field.key}"' in html, (op, field.key)


def test_a_size_on_the_axis_is_the_size_that_was_asked(reader: Client) -> None:
    html = read(reader, op="matmul", m=8192, k=4096, n=4096, device="h100-sxm")
    named = (trace for trace in figures(html)[1]["data"] if trace["meta"]["role"] == "names")
    assert [trace["text"] for trace in named] == [["8,192"], ["8,192"]]
    assert "8.19 k" not in html


@pytest.mark.parametrize(("device", "head"), [("tpu-v6e", 128), ("b200", 64), ("mi300x", 128)])
def test_arithmetic_binds_from_the_size_that_is_named(
    reader: Client, device: str, head: int
) -> None:
    """Attention's vector work binds it on v6e, and its exponentials on B200, before its products
    would."""
    given = {"op": "attention", "device": device, "head": head}
    named = re.search(r"by arithmetic from <b>([\d,]+)</b> new tokens", read(reader, **given))
    least = int(known(named)[1].replace(",", ""))
    before, after = (read(reader, **given, tokens=size) for size in (least - 1, least))
    assert '<h1><span class="by-memory">HBM-bound' in before
    assert '<h1><span class="by-memory">HBM-bound' not in after


def test_a_collective_shows_its_levels(reader: Client) -> None:
    given = {"op": "all-reduce", "shape": "8192x8192", "ranks": 64}
    html = read(reader, **given, device="h100-sxm")
    for cell in ("scale-up", "235 MB", "450 GB/s", "522 µs", "29.4 MB", "587 µs"):
        assert f">{cell}<" in html, cell
    assert "Ridge" not in html
    torus = read(reader, **given, device="tpu-v5p", axes="4x4x4")
    assert torus.count("axis 1, a ring") == 1
    assert ">network<" not in torus, "a level that the collective does not use is left out"


def test_an_op_of_a_profile_is_held_against_its_bound(reader: Client) -> None:
    html = read(
        reader,
        op="matmul",
        m=8944,
        k=1024,
        n=2816,
        tile="128x128",
        measured_us=83.65,
        calls=48,
        counted_bytes=2 * 74_457_088,
        name=NAME,
        **{"from": "abc-1"},
    )
    for said in (
        "at best 52.1 µs, measured 83.7 µs",
        "<b>51.6 GFLOP</b> over <b>74.5 MB</b> is 693 FLOP/B; the ridge is 295 FLOP/B",
        "bound by arithmetic from <b>487</b> rows on",
        "reaches <b>62 %</b> of the roof",
        "its 48 calls would save 1.51 ms",
        "70 × 22 = 1,540",
        "<dt>Counted bytes ÷ these</dt><dd>2.00</dd>",
        'href="/p/abc-1"',
    ):
        assert said in html, said
    traces = {trace["meta"]["role"]: trace for trace in figures(html)[0]["data"]}
    assert traces["predicted"]["x"] == traces["measured"]["x"] == pytest.approx([693], rel=1e-3)
    assert traces["predicted"]["y"] == pytest.approx([989_400], rel=1e-3)
    assert traces["measured"]["y"] == pytest.approx([51.6e3 / 83.65e-3], rel=1e-3)
    assert traces["labels"]["text"] == ["52.1 µs at best", "83.7 µs measured"]
    raw = reader.get(f"/calculator?{urlencode({'name': NAME, 'from': 'abc'})}", headers=HTML).text
    assert NAME not in raw
    assert "onerror" in raw


def test_a_measured_time_is_that_of_its_own_shape(reader: Client) -> None:
    given = {"m": 64, "measured_us": 500, "of": "1x8192x4096x4096"}
    assert "measured 500 µs" in read(reader, **{**given, "m": 8192})
    assert "measured" not in read(reader, **given).partition("<h1>")[2].partition("</h1>")[0]


def test_attention_over_a_cache_is_estimated(reader: Client) -> None:
    html = read(reader, op="attention", tokens=1, context=2048, kv_heads=8)
    assert "HBM-bound</span> on H100 SXM5 80GB" in html


@pytest.mark.covers(88, 109)
@pytest.mark.covers(188, 251)
def test_the_drawer_of_an_op_says_what_it_should_cost(reader: Client) -> None:
    """Its tensors are those of the trace: 8192 x 16384, 16384 x 4096 and 8192 x 4096 in bf16."""
    trace = ROOT / "sample_profiles" / "pytorch" / "mi300x-two-ranks" / "rank1.json"
    found = reader.upload(trace.read_bytes(), names=(trace.name,)).json()["id"]
    path = f"/p/{found}/ops/0/cost"
    query = {"category": "matmul", "measured_us": 1240, "calls": 4, "counted_flops": 1.0995e12}
    query["counted_bytes"] = 4.7e8
    answer = reader.get(f"{path}?{urlencode(query)}", headers=HTML)
    assert answer.status_code == 200
    html = unescape(answer.text).replace("\u00a0", " ").replace("\u202f", " ")
    for said in (
        "at best 841 µs, measured 1.24 ms",
        '<th scope="row">a</th><td>268 MB</td>',
        '<th scope="row">b</th><td>134 MB</td>',
        '<th scope="row">out</th><td>67.1 MB</td>',
        "<dt>Counted FLOPs ÷ these</dt><dd>1.00</dd>",
        'name="m" value="8192"',
        "op=matmul&batch=1&m=8192&k=16384&n=4096",
        f"from={found}",
        '"time_ratio":0.678',
    ):
        assert said in html, said
    other = reader.get(f"{path}?op=matmul&m=64&k=64&n=64&measured_us=1240", headers=HTML).text
    assert "measured" not in other.partition("</p>")[0], "another shape than was measured"
    assert reader.get(f"/p/{found}/ops/1/cost?category=idle", headers=HTML).status_code in (
        200,
        204,
    )
    assert reader.get(f"/p/{found}/ops/999/cost", headers=HTML).status_code == 400
    assert reader.get("/p/unknown/ops/0/cost", headers=HTML).status_code == 404


def test_sizes_are_read_as_people_paste_them(reader: Client) -> None:
    plain = read(reader, op="matmul", m=8944, k=1024, n=2816)
    pasted = read(reader, op="matmul", m="8 944", k="1,024", n="2,816")
    assert pasted == plain


def test_a_time_below_the_bound_is_doubted(reader: Client) -> None:
    assert "below this bound" in read(reader, measured_us=1)
    assert "below this bound" not in read(reader, measured_us="nan")


def test_what_cannot_be_read_is_said_beside_the_form(reader: Client) -> None:
    for query, said in (
        ("m=0&n=x", "M, rows (&#34;0&#34;) and N (&#34;x&#34;) cannot be read."),
        ("op=elementwise&shape=x", "such as"),
        ("device=h1000", "no device"),
        ("dtype=bf17", "not an element type"),
        ("tile=7", "tile"),
    ):
        answer = reader.get(f"/calculator?{query}", headers=HTML)
        assert answer.status_code == 400, query
        assert said in answer.text
        assert "data-cost-form" in answer.text
    html = reader.get("/calculator?m=0&n=x", headers=HTML).text
    assert html.count('aria-invalid="true"') == 2
    assert reader.get("/calculator?op=fft", headers=HTML).status_code == 400
    assert reader.get("/calculator?from=../x&name=y", headers=HTML).text.count("/p/") == 0


def test_a_peak_that_is_not_known_is_said(reader: Client) -> None:
    html = read(reader, dtype="fp8", device="a100-80-sxm")
    assert "The time on A100 SXM4 80GB is not known" in html
    assert "no public figure" in html


@pytest.mark.parametrize("path", ["/calculator"])
def test_a_server_with_tokens_asks_for_one(launch: Launch, path: str) -> None:
    client = launch(auth="token", token="a-token-of-this-test")
    assert client.get(path, headers=HTML).status_code == 303
