"""Figures as files: texts that can be read, shapes that differ in gray, and the caption."""

import io
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from typing import Any

import pypdf
import pytest
from PIL import Image

from roofline.errors import BadViewError
from roofline.figures.figure import of_width, painted
from roofline.figures.ink import Path, Text, ink_of
from roofline.figures.png import _dashes
from roofline.presentation.charts.choices import ChartChoice
from roofline.presentation.charts.op_figure import op_figure
from roofline.presentation.figure_files import FigureFile, FileLook, Form, figure_file
from roofline.presentation.palette import LIGHT
from tests.presentation.charts.test_figures import page_of

OPS = """
op     | category | self_us | flop | hbm_bytes
<b>m   | x & y    | 500     | 4e8  | 1e6
]]>行列 | dot      | 300     | 9e7  | 1e5
small  | dot      | 100     | 1e6  | 1e6
copy   | copy     | 100     | 0    | 1e6
"""
SVG = "{http://www.w3.org/2000/svg}"


def made(form: Form = "svg", look: FileLook | None = None) -> FigureFile:
    page: Mapping[str, Any] = page_of(OPS)
    return figure_file(
        page, form, look or FileLook(), ChartChoice(), title="a < b", certain="measured"
    )


def texts_of(svg: bytes) -> list[str]:
    return [one.text or "" for one in ET.fromstring(svg).iter(f"{SVG}text")]


def shapes_of(svg: bytes) -> set[tuple[int, bool]]:
    """Of each mark how many steps its path has, and whether it is filled."""
    groups = [one for one in ET.fromstring(svg).iter(f"{SVG}g") if one.get("class") == "marks"]
    return {
        (sum(sign.isalpha() for sign in path.get("d", "")), path.get("fill") != "none")
        for group in groups
        for path in group
    }


def test_a_picture_has_the_width_of_a_column_and_texts_of_eight_points() -> None:
    root = ET.fromstring(made().content)
    millimetres = float(root.get("width", "").removesuffix("pt")) / 72 * 25.4
    assert millimetres == pytest.approx(84, abs=0.01)
    pixels = float(root.get("viewBox", "").split()[2])
    sizes = [float(one.get("font-size", 0)) for one in root.iter(f"{SVG}text")]
    points = [size * 84 / 25.4 * 72 / pixels for size in sizes]
    assert 7.5 < min(points) < max(points) < 8.5


def test_names_are_texts_and_the_roofs_are_named() -> None:
    texts = texts_of(made().content)
    assert {"<b>m", "]]>行列"} <= set(texts)
    assert any(text.startswith("HBM") for text in texts)
    assert any(text.startswith("Compute") for text in texts)


def test_no_text_lies_on_another() -> None:
    """By the width that letters of Helvetica have at most on average."""
    figure = op_figure(page_of(OPS), FileLook().choice(ChartChoice()))
    drawn = ink_of(painted(of_width(figure, "wide"), LIGHT.__getitem__), *FileLook().size).drawn
    boxes = []
    for one in drawn:
        if isinstance(one, Text):
            long = len(one.text) * one.size * 0.5
            left = one.x - long * {"start": 0, "middle": 0.5, "end": 1}[one.anchor]
            boxes.append((left, one.y - one.size * 0.7, left + long, one.y))
    for number, box in enumerate(boxes):
        assert all(
            box[2] <= other[0] or other[2] <= box[0] or box[3] <= other[1] or other[3] <= box[1]
            for other in boxes[:number]
        )


def test_gray_tells_compute_memory_and_unknown_apart() -> None:
    gray = made(look=FileLook(is_gray=True)).content
    assert shapes_of(gray) == {(6, True), (5, False)}  # a filled disc, an open square
    colours = {value for one in ET.fromstring(gray).iter() for value in one.attrib.values()}
    values = [one for one in colours if one.startswith("#") and len(one) == 7]
    assert values
    assert all(one[1:3] == one[3:5] == one[5:7] for one in values)


def test_the_longest_alone_are_drawn_and_said() -> None:
    one = made(look=FileLook(most=1, named=1))
    assert "1 of 4 operations with 50" in one.caption
    assert "]]>行列" not in texts_of(one.content)


def test_the_caption_has_device_peaks_and_certainty() -> None:
    said = made().caption
    assert said.startswith("Roofline of a < b on ")
    assert "How sure what binds is: measured." in said
    assert "Peaks per" in said
    assert "Not drawn: 1 operation without arithmetic." in said


def test_the_texts_of_a_pdf_can_be_found() -> None:
    found = made("pdf")
    reader = pypdf.PdfReader(io.BytesIO(found.content), strict=True)
    text = reader.pages[0].extract_text()
    assert "<b>m" in text
    assert "]]>??" in text
    assert found.not_written == "列行"
    assert reader.metadata is not None
    assert reader.metadata.subject == found.caption
    assert float(reader.pages[0].mediabox.width) == pytest.approx(84 / 25.4 * 72, abs=0.01)


def test_the_same_profile_gives_the_same_bytes() -> None:
    for form in ("svg", "pdf"):
        assert made(form).content == made(form).content


def test_what_cannot_be_drawn_is_said() -> None:
    with pytest.raises(BadViewError, match="3 mm wide"):
        made(look=FileLook(width_mm=3))
    bare = page_of("op | category | self_us\nm | dot | 500\n")
    with pytest.raises(BadViewError, match="No operation has a place"):
        figure_file(bare, "svg", FileLook(), ChartChoice(), title="x", certain="unknown")


def test_a_word_that_is_not_drawn_is_an_error() -> None:
    part = painted(of_width(op_figure(page_of(OPS)), "wide"), LIGHT.__getitem__)
    part["data"][0]["fill"] = "tozeroy"
    with pytest.raises(ValueError, match="fill"):
        ink_of(part, 720, 420)


def test_lines_end_at_the_plot() -> None:
    part = painted(of_width(op_figure(page_of(OPS)), "wide"), LIGHT.__getitem__)
    ink = ink_of(part, 720, 420)
    assert all(one.is_clipped for one in ink.drawn if isinstance(one, Path) and one.role == "roof")


def test_a_png_has_each_colour_where_the_figure_has_it() -> None:
    file = made("png", FileLook(style="card"))
    assert file.not_written == "列行"
    picture = Image.open(io.BytesIO(file.content)).convert("RGB")
    figure = of_width(op_figure(page_of(OPS), FileLook(style="card").choice(ChartChoice())), "wide")
    ink = ink_of(painted(figure, LIGHT.__getitem__), 720, 378)
    marks = [one for one in ink.drawn if isinstance(one, Path) and one.role == "marks"]
    assert marks
    for mark in marks:
        corners = [numbers[-2:] for name, numbers in mark.steps if name != "Z"]
        x, y = (sum(one[k] for one in corners[:4]) / 4 for k in (0, 1))
        seen = picture.getpixel((round(x / 0.6), round(y / 0.6)))
        wanted = [int(mark.fill[at : at + 2], 16) for at in (1, 3, 5)]
        assert isinstance(seen, tuple)
        assert max(abs(a - b) for a, b in zip(seen, wanted, strict=True)) < 60, (seen, wanted)
    assert made("png").content == made("png").content


def test_dashes_are_as_long_as_they_are_given() -> None:
    pieces = list(_dashes([(0, 0), (10, 0), (10, 5)], [4, 2]))
    assert [(one[0], one[-1]) for one in pieces] == [
        ((0, 0), (4, 0)),
        ((6, 0), (10, 0)),
        ((10, 2), (10, 5)),
    ]
