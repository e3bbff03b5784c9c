"""Figures of a profile over the API: those of the page, and those of other choices."""

import io
from typing import Any

import pytest
from PIL import Image

import roofline
from roofline.presentation.charts.choices import ChartChoice
from roofline.presentation.figure_files import FileLook, figure_file
from tests.conftest import SAMPLES
from tests.web.conftest import Client

SAMPLE = SAMPLES / "xspace" / "v6e-training.xplane.pb"


def traces(figures: dict[str, Any], role: str) -> list[dict[str, Any]]:
    return [trace for trace in figures["op"]["data"] if trace["meta"]["role"] == role]


def test_without_a_choice_they_are_those_of_the_page(reader: Client, base: str) -> None:
    answer = reader.get(f"{base}/figures")
    assert answer.json() == reader.get(f"{base}/page").json()["figures"]
    held = {"if-none-match": answer.headers["etag"]}
    assert reader.get(f"{base}/figures", headers=held).status_code == 304


def test_choices_of_the_address_are_drawn(reader: Client, base: str) -> None:
    query = {"zoom": "0,2,1,4", "x": "hbm", "roofs": "none", "vs": "h100-sxm,gone"}
    figures = reader.get(f"{base}/figures", params=query).json()
    assert figures["op"]["layouts"]["wide"]["xaxis"]["range"] == [0, 2]
    assert not traces(figures, "roof")
    assert [entry["text"] for entry in figures["op"]["legend"]] == [
        "H100 SXM5 80GB, ridge 295 FLOP/B"
    ]


def test_figures_under_other_peaks_are_those_of_that_view(reader: Client, base: str) -> None:
    query = {"device": "h100-sxm", "peak": "hbm=3TB/s"}
    figures = reader.get(f"{base}/figures", params=query).json()
    assert figures == reader.get(f"{base}/view", params=query).json()["figures"]
    assert any(
        "3\u00a0TB/s" in trace["name"] or "3,000" in trace["name"]
        for trace in traces(figures, "roof")
    )


@pytest.mark.parametrize(
    ("name", "value"), [("zoom", "0,2,1"), ("zoom", "2,0,1,4"), ("ops", "a"), ("zoom", "nan,1,2,3")]
)
def test_a_choice_that_means_nothing_is_said(
    reader: Client, base: str, name: str, value: str
) -> None:
    answer = reader.get(f"{base}/figures", params={name: value})
    assert answer.status_code == 400
    assert answer.json()["remedy"]


def test_a_figure_for_a_paper_is_a_file(reader: Client, base: str) -> None:
    query = {"top": "40", "label": "6", "gray": "true"}
    answer = reader.get(f"{base}/figure.svg", params=query)
    assert answer.headers["content-type"] == "image/svg+xml"
    assert answer.headers["content-disposition"].startswith("attachment")
    profile = roofline.open_profile(SAMPLE)
    made = figure_file(
        profile.page,
        "svg",
        FileLook(most=40, named=6, is_gray=True),
        ChartChoice(),
        title=reader.get(base).json()["title"],
        certain=profile.answered.advice["certain"],
    )
    assert answer.content == made.content
    assert reader.get(f"{base}/figure.pdf?device=h100-sxm").content[:5] == b"%PDF-"
    picture = reader.get(f"{base}/figure.png?style=card")
    assert picture.headers["content-type"] == "image/png"
    assert Image.open(io.BytesIO(picture.content)).size == (1200, 630)
    assert reader.get(f"{base}/figure.gif").status_code == 400
    assert reader.get(f"{base}/figure.svg?width=20").status_code == 400
