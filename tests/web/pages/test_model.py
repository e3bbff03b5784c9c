"""The page of a model: the numbers of the API before any script runs, and its faults."""

import csv
import io
import json
import math
import re
from html import unescape
from urllib.parse import urlencode

import pytest

from roofline.devices.choice import known_part
from roofline.estimate.llm.config import preset, presets
from roofline.estimate.llm.document import generic_document
from roofline.estimate.llm.memory import memory_bytes
from roofline.estimate.llm.request import PredictOptions, workload
from roofline.estimate.llm.step import step_of
from roofline.estimate.llm.thresholds import most_that_fits, over_batch, over_context
from tests.estimate.llm.test_hugging_face import LLAMA
from tests.web.conftest import Client, Launch

HTML = {"accept": "text/html,application/xhtml+xml"}
DECODE = PredictOptions(batch=8, context=2048)


def read(client: Client, **given: object) -> str:
    answer = client.get(f"/model?{urlencode(given, doseq=True)}", headers=HTML)
    assert answer.status_code == 200, answer.text
    return unescape(answer.text).replace("\u00a0", " ").replace("\u202f", " ")


def test_a_step_is_predicted_for_several_devices(reader: Client) -> None:
    html = read(reader, phase="decode", vs=["a100-80-sxm", "mi300x"], price=2.5)
    for said in (
        "5.15 ms a token, 1,555 tokens/s on H100 SXM5 80GB:",
        "Needs 18.2 GB of 84.9 GB",
        "up to 314 keys some batch is enough",
        "from batch 346 (the first from 322)",
        "<b>2.24 M</b> tokens per dollar",
        "Instinct MI300X",
        "the memory is full at batch",
        "ctx* 689",
        "7.46 FLOP/B (the ridge is 295)",
        "Levers: 2.7",
        "times as fast with int4 weights",
        'value="a100-80-sxm" checked',
    ):
        assert said in html, said
    assert " style=" not in html


def test_a_request_says_what_binds_each_phase(reader: Client) -> None:
    """The numbers of `r.l8_h100` of the design: 273.16 ms, 5.19 ms, 1,284 and 1,282 tokens/s."""
    html = read(reader, vs=["t4", "mi300x"], measured_ttft_ms=410, measured_tpot_ms=7.4, price=2)
    for said in (
        "Prefill is <b>compute-bound</b>: 273 ms to the first token; decode is <b>HBM-bound</b>: "
        "5.19 ms a token on H100 SXM5 80GB",
        "Prefill is compute-bound (1,380 FLOP/B, the ridge is 295.3)",
        "weights are 86 % of the bytes, keys and values 13 %",
        "Measured: first token 410 ms (1.50 times the bound), 7.4 ms per token (1.43 times).",
        "<td>1,284</td><td>1,282</td>",
        "<b>2.31 M</b> tokens per dollar",
        "decode: attention",
        "A decode step, at half of the output",
        'name="draft"',
    ):
        assert said in html, said
    assert "Instinct MI300X</div>" in html
    one = read(reader, output=1)
    assert "to the only token" in one
    faster = read(reader, new_tokens=4, acceptance=0.7, draft="llama-3-8b", model="llama-3-70b")
    assert "Checking guessed tokens makes decode" in faster


@pytest.mark.covers(104)
@pytest.mark.parametrize("phase", ["decode", "prefill", "train"])
def test_the_network_is_what_the_form_says(reader: Client, phase: str) -> None:
    """Ranks of 16 leave a node of 8: 400 Gbit/s each are assumed, or what the reader gives."""
    given = {"model": "llama-3-70b", "phase": phase, "tp": 16, "seq": 64}
    assumed, given_rate = read(reader, **given), read(reader, **given, network="100GB/s", nodes=2)
    whole = read(reader, **given, gpus_per_node=16, network="50GB/s")
    assert "Network: 8 GPUs per node, 50 GB/s each (assumed)" in assumed
    assert "Network: 8 GPUs per node, 100 GB/s each (given)" in given_rate
    assert "Network: 16 GPUs per node, 50 GB/s each (given)" in whole
    for html, crosses in ((assumed, True), (given_rate, True), (whole, False)):
        assert ("tp 16 crosses nodes of 8" in html) is crosses
        assert ("Assumed: 8 GPUs per node" in html) is (html is assumed)


def test_training_shares_what_the_form_says(reader: Client) -> None:
    given = {"phase": "train", "seq": 8192, "batch": 1, "dp": 8}
    assert "541 ms a step" in read(reader, **given)
    assert "491 ms a step" in read(reader, **given, zero=3)


def test_activations_of_training_are_memory_too(reader: Client) -> None:
    """8 sequences of 8,192 tokens, each 139,392 B per layer of 32: 292 GB."""
    html = read(reader, phase="train", seq=8192, batch=8, dp=8, zero=3)
    assert "Needs 16.9 GB and 292 GB of activations, the part has 84.9 GB." in html
    assert "needs 309 GB, has 84.9 GB" in html
    assert "exponentials at head size 128" in html


@pytest.mark.parametrize("phase", ["request", "decode", "prefill", "mixed", "train"])
def test_every_preset_has_a_page(reader: Client, phase: str) -> None:
    for name in list(presets())[:: 4 if phase != "decode" else 1]:
        html = read(reader, model=name, phase=phase, device="tpu-v5p")
        assert "on TPU v5p" in html, name


def test_a_pasted_config_stands_in_for_a_preset(reader: Client) -> None:
    config = json.dumps(LLAMA)
    html = read(reader, model="config", phase="decode", config=config, batch=8)
    assert "5.15 ms a token" in html


def test_memory_that_is_not_there_is_said(reader: Client) -> None:
    html = read(reader, model="llama-3-70b", phase="decode")
    assert "Needs 146 GB, the part has 84.9 GB." in html
    assert "needs 146 GB, has 84.9 GB" in html


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("model=llama-9", "is not a model"),
        ("phase=training", "is not a phase"),
        ("model=config&config={", "not JSON"),
        ("model=config&config=[1]", "not an object"),
        ("device=h1000", "no device"),
        ("vs=h1000", "no device"),
        ("batch=x", "Batch cannot be read"),
        ("weights=bf17", "not an element type"),
        ("price=-1", "price"),
        ("microbatches=3&batch=8", "microbatch"),
        ("cached=4096", "--cached is below --prompt"),
        ("new_tokens=4", "need --acceptance"),
        ("measured_ttft_ms=0", "--measured-ttft-ms is above 0"),
        ("measured_tpot_ms=inf", "cannot be read"),
        ("network=fast", "is not the rate of a network"),
        ("axes=2x4&tp=8", "is not part of a torus"),
    ],
)
def test_what_cannot_be_predicted_is_said(reader: Client, query: str, said: str) -> None:
    answer = reader.get(f"/model?{query}", headers=HTML)
    assert answer.status_code == 400
    assert said in unescape(answer.text)
    assert "data-cost-form" in answer.text


def test_a_price_is_read_with_a_decimal_comma(reader: Client) -> None:
    assert read(reader, price="2,5") == read(reader, price="2.5").replace('"2.5"', '"2,5"')


def test_a_step_lies_over_a_stored_profile(reader: Client) -> None:
    step = step_of(preset("llama-3-8b"), workload(DECODE), known_part("h100-sxm"))
    document = generic_document(step, "llama-3-8b")
    assert document["device"]["name"] == "H100 SXM5 80GB"
    for kernel in document["kernels"]:
        kernel["time"]["value"] *= 2
    title = "<b>llama</b>"
    profile = reader.upload(json.dumps(document).encode(), names=("m.json",), title=title)
    found = profile.json()["id"]
    answer = reader.get(f"/model?over={found}&batch=8&context=2048", headers=HTML)
    assert answer.status_code == 200
    assert title not in answer.text
    html = unescape(answer.text)
    assert "Products take <b>2.00</b> times their bound; the model explains 100" in html
    assert f'href="/p/{found}"' in html
    assert "Error per operation" in html
    assert html.count("2.00×") > 10
    assert '<option value="h100-sxm" selected>' in html, "the device of the run"
    page = reader.get(f"/c/{found}", headers=HTML).text
    assert f'href="/model?over={found}"' in page
    assert reader.get("/model?over=unknown", headers=HTML).status_code == 404
    address = re.search(r'href="(/model\.csv\?[^"]+)"', html)
    assert address is not None
    rows = list(csv.DictReader(io.StringIO(reader.get(address[1]).text)))
    assert {row["model"] for row in rows} >= {"qkv_proj", "attention", "lm_head"}
    assert {round(float(row["ratio"]), 3) for row in rows if row["by"] == "flops"} == {2}
    factors = [name for name in rows[0] if name.startswith("factor_")]
    for row in rows:
        known = [float(row[name]) for name in factors if row[name]]
        assert not known or math.prod(known) == pytest.approx(float(row["ratio"]))
    assert reader.get("/model.csv").status_code == 404


def test_a_server_with_tokens_asks_for_one(launch: Launch) -> None:
    client = launch(auth="token", token="a-token-of-this-test")
    assert client.get("/model?over=x", headers=HTML).status_code == 303


@pytest.mark.parametrize("name", ["llama-3-8b", "gemma-3-12b", "deepseek-v3"])
def test_curves_go_through_the_step_itself(name: str) -> None:
    model, part, load = preset(name), known_part("mi300x"), workload(DECODE)
    serial = step_of(model, load, part).step_us["serial"]
    (at_batch,) = over_batch(model, load, part, (8,))
    (at_context,) = over_context(model, load, part, (2048,))
    assert at_batch.time_us == at_context.time_us == serial


def test_the_fullest_batch_fits_and_the_next_does_not() -> None:
    model, part, load = preset("llama-3-8b"), known_part("h100-sxm"), workload(DECODE)
    most = most_that_fits(model, load, part, of="batch")
    assert most is not None
    size = part.value("memory_bytes") or 0
    for batch, fits in ((int(most), True), (int(most) + 1, False)):
        held = memory_bytes(model, workload(PredictOptions(batch=batch, context=2048)))
        assert (held <= size) is fits
