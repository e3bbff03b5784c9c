"""The page of devices: the cells of the command, heads that sort, and kernels with addresses."""

import json
import re
from html import unescape

import pytest

from roofline.devices.catalogue import part
from roofline.devices.in_flight import cells_of, in_flight
from roofline.devices.table import COLUMNS, Query, rows_of
from roofline.estimate.kernels import KERNELS, KernelQuery, kernel_rows
from tests.cli.test_main import run
from tests.narrowing import known
from tests.web.conftest import Client

HTML = {"accept": "text/html"}


def read(client: Client, address: str) -> str:
    answer = client.get(address, headers=HTML)
    assert answer.status_code == 200, answer.text
    return unescape(answer.text)


def test_every_cell_is_that_of_the_command(reader: Client) -> None:
    every = tuple(COLUMNS)
    html = read(reader, f"/devices?all=yes&columns={','.join(every)}")
    for row in rows_of(Query(columns=every, is_all=True)):
        cells = "".join(f'<td title="{cell.title}">{cell.text}</td>' for cell in row.cells)
        assert f"{row.part.name}</div></th>{cells}" in html, row.part.id


def test_parts_of_desktops_are_left_out_until_they_are_asked_for(reader: Client) -> None:
    html = read(reader, "/devices")
    assert "H100 SXM5 80GB" in html
    assert "GeForce" not in html
    assert "GeForce RTX 4090" in read(reader, "/devices?q=4090")


def test_heads_sort_and_the_address_says_so(reader: Client) -> None:
    html = read(reader, "/devices?sort=-bandwidth&kind=nvidia")
    assert 'aria-sort="descending"' in html
    places = [html.index(f">{name}</div>") for name in ("GB300 (per GPU)", "H200 SXM 141GB", "T4")]
    assert places == sorted(places)
    assert "/devices?kind=nvidia&sort=bandwidth" in html


NOT_KNOWN = ("sort=-speed", "columns=speed", "dtype=fp5", "part=nothing", "model=gpt-9")


@pytest.mark.parametrize("given", [*NOT_KNOWN, "ksort=speed", "prices=h100-sxm=x"])
def test_what_is_not_known_is_said(reader: Client, given: str) -> None:
    assert reader.get(f"/devices?{given}", headers=HTML).status_code == 400


def test_each_kernel_opens_in_the_calculator(reader: Client) -> None:
    html = read(reader, "/devices?part=h100-sxm")
    for row in kernel_rows(KernelQuery(part_ids=("h100-sxm",))):
        (cell,) = row.cells
        assert f'<a href="{cell.url}">{cell.text}</a>' in html, row.title
        assert reader.get(cell.url, headers=HTML).status_code == 200, cell.url


def test_kernels_of_a_model_are_those_of_its_steps(reader: Client) -> None:
    query = KernelQuery(part_ids=("h100-sxm", "mi300x"), model="mixtral-8x7b", batch=4, seq=512)
    html = read(reader, "/devices?part=h100-sxm&part=mi300x&model=mixtral-8x7b&batch=4&seq=512")
    assert "The kernels of mixtral-8x7b on each roof" in html
    for row in kernel_rows(query):
        for cell in row.cells:
            assert f'<a href="{cell.url}">{cell.text}</a>' in html, row.title
    opened = read(reader, kernel_rows(query)[0].cells[1].url)
    assert "mixtral-8x7b" in opened and "Instinct MI300X" in opened
    assert "phase=prefill" in kernel_rows(query)[0].cells[1].url


def test_heads_of_kernels_sort_and_prices_stay_in_the_address(reader: Client) -> None:
    html = read(reader, "/devices?part=h100-sxm&ksort=-intensity&prices=h100-sxm%3D2.5")
    first, last = html.index(">Flash attention<"), html.index(">Decode QKV, batch 1<")
    assert first < html.index(">Matmul 600<") < last
    assert "/devices?prices=h100-sxm%3D2.5&part=h100-sxm&ksort=intensity#title-kernels" in html
    assert ">395.8</td>" in html and ">1,340</td>" in html


def test_a_roof_is_drawn_or_hidden(reader: Client) -> None:
    """A ring for each kernel on each roof, and the slanted and flat line of each part."""
    html = read(reader, "/devices?part=h100-sxm&sort=-bf16")
    assert "/devices?sort=-bf16&part=h100-sxm&part=b200#title-kernels" in html
    figures = [json.loads(one) for one in re.findall(r"data-figure='([^']+)'", html)]
    (rings,) = [one for one in figures[0]["data"] if one["meta"]["role"] == "predicted"]
    assert len(rings["x"]) == len(KERNELS)
    (roof,) = [one for one in figures[0]["data"] if one["meta"]["role"] == "curve"]
    assert roof["y"][-1] == pytest.approx(989_400, rel=1e-4)


def test_the_table_is_a_file_and_an_answer(reader: Client) -> None:
    text = reader.get("/devices.csv?columns=bf16,network&kind=tpu").text
    assert text.splitlines()[0] == "id,name,devices_per_chip,bf16_tflop_per_s,network_gb_per_s"
    records = reader.get("/api/v1/devices?columns=bf16&kind=tpu").json()
    assert {row["id"]: row["bf16_tflop_per_s"] for row in records}["tpu-v7x"] == 2307


def test_command_page_and_api_have_the_same_bytes_in_flight(reader: Client) -> None:
    shown = run("devices", "h100-sxm").stdout.decode()
    html = reader.get("/devices?part=h100-sxm", headers={"accept": "text/html"}).text
    needs = in_flight(known(part("h100-sxm")))
    assert "Source of the latencies: Benchmarking and Dissecting" in html
    html = html.replace('<td class="left">', "<td>")
    for one in needs:
        assert "  ".join(cells_of(one)).split() in [line.split() for line in shown.splitlines()]
        assert "".join(f"<td>{text}</td>" for text in cells_of(one)) in html
    listed = reader.get("/api/v1/devices").json()["devices"]
    (h100,) = [one for one in listed if one["id"] == "h100-sxm"]
    assert [one["bytes"] for one in h100["in_flight"]] == [round(one.bytes) for one in needs]
    body = {"op": "gather", "shape": "64x4096", "device": "h100-sxm", "threads": 64}
    answer = reader.post("/api/v1/estimate", json=body).json()
    assert "64 threads with a load of 16 bytes" in answer["notes"][0]
    html = reader.get("/calculator?op=gather&threads=64", headers={"accept": "text/html"}).text
    assert "64 threads with a load of 16 bytes" in html
