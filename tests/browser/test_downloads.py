"""Downloads equal the page: CSV, PNG, SVG, JSON and the uploaded file."""

import csv
import io
import struct
from pathlib import Path
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Locator, Page

from tests.browser import view


def saved(page: Page, button: Locator) -> bytes:
    with page.expect_download() as download:
        button.click()
    return Path(download.value.path()).read_bytes()


def from_menu(page: Page, what: str) -> bytes:
    page.get_by_role("button", name="Share", exact=True).click()
    return saved(page, page.locator(f"[data-download={what}]"))


def table_of(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode("utf-8"), newline="")))


@pytest.mark.covers(39)
def test_csv_of_the_shown_table_has_its_rows_in_its_order(profile: Page) -> None:
    profile.locator("#filter-name").fill("fusion")
    profile.locator("#op-table [data-column=name]").click()
    found = table_of(saved(profile, profile.locator("[data-csv-shown]")))
    assert [row["name"] for row in found] == view.all_names(profile)
    assert {"self_time_us", "bound_by"} & set(found[0])


def test_csv_of_everything_has_both_infeed_states(profile: Page) -> None:
    data = view.page_data(profile)
    found = table_of(from_menu(profile, "csv-all"))
    for infeed, name in (("true", "in"), ("false", "out")):
        rows = [row for row in found if row["include_infeed_outfeed"] == infeed]
        assert len(rows) == len(data["views"][name]["op"])
    op = data["views"]["in"]["op"][0]
    assert float(found[0]["occurrences"]) == data["ops"]["columns"]["occurrences"][op]


@pytest.mark.covers(10, 29)
def test_csv_of_the_program_has_every_step(profile: Page) -> None:
    program = view.page_data(profile)["views"]["in"]["program"]
    found = table_of(saved(profile, profile.locator("[data-csv-program]")))
    assert len(found) == program["count"]


@pytest.mark.covers(140)
def test_png_is_a_picture_of_the_chart(profile: Page) -> None:
    content = from_menu(profile, "png")
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", content[16:24])
    assert width >= 1280 and height >= 800
    assert len(content) > 20_000, "an empty picture"


def test_svg_can_be_read_back(profile: Page) -> None:
    profile.locator("#filter-name").fill("fusion")
    content = from_menu(profile, "svg")
    root = ElementTree.fromstring(content)
    tags = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert root.tag.endswith("svg") and "path" in tags
    assert not tags & {"script", "foreignObject", "image"}
    text = " ".join("".join(element.itertext()) for element in root.iter() if element.text)
    for word in ("TPU v4", "HBM", "TFLOP/s", "ops drawn"):
        assert word in text


def test_analysis_and_uploaded_file_can_be_downloaded(profile: Page, capture: Path) -> None:
    menu = profile.locator("#menu-share")
    profile.get_by_role("button", name="Share", exact=True).click()
    analysis = saved(profile, menu.get_by_role("link", name="Analysis"))
    assert analysis.startswith(b"{") and b'"program_points"' in analysis
    if not menu.is_visible():
        profile.get_by_role("button", name="Share", exact=True).click()
    assert saved(profile, menu.get_by_role("link", name="Uploaded file")) == capture.read_bytes()
