"""The page as one file, opened from the disk: the same numbers, and nothing is asked for."""

import io
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from pypdf import PdfReader

import roofline
from roofline.library.samples import Sample, find_samples
from tests.browser import view
from tests.browser.accessibility import assert_accessible_in_both_schemes
from tests.browser.conftest import NewPage, uploaded
from tests.browser.watching import Watch, is_ready
from tests.cli.test_main import run
from tests.conftest import SAMPLES


def said(page: Page) -> list[str]:
    """Headline, lead, the terms of the time, the findings and the operations, as shown."""
    texts = page.locator("[data-headline], [data-lead], [data-equation] .term, .advice-title")
    return [*texts.all_inner_texts(), *view.all_names(page)]


def saved(page: Page, folder: Path) -> Path:
    page.get_by_role("button", name="Share", exact=True).click()
    with page.expect_download() as download:
        page.get_by_role("link", name="Download as one file").click()
    path = folder / "report.html"
    download.value.save_as(path)
    return path


def test_file_of_a_page_shows_the_same_without_a_server(
    profile: Page, new_page: NewPage, watches: list[Watch], tmp_path: Path
) -> None:
    path = saved(profile, tmp_path)
    page = new_page("file://", offline=True)
    page.goto(path.as_uri())
    is_ready(page)
    view.is_drawn(page)
    assert said(page) == said(profile)
    assert view.drawn(page) == view.drawn(profile) > 0
    # Filters, another view and the drawer work; the address may not be changed, and need not.
    page.locator("#filter-name").fill("fusion")
    view.is_drawn(page)
    assert 0 < view.result(page)[0] < view.result(page)[1]
    page.locator("#op-table tbody th button").first.click()
    page.locator("[data-drawer-close]").click()
    page.keyboard.press("y")
    expect(page.locator("#op-chart")).to_contain_text("own roof")
    page.locator("#op-table tbody th button").first.click()
    expect(page.locator("[data-drawer-body]")).not_to_contain_text("could not be read")
    expect(page.locator(".origin-details")).not_to_contain_text("Loading")
    assert {one.partition(":")[0] for one in watches[-1].requests} == {"file", "blob"}
    assert [one for one in watches[-1].requests if one.startswith("file")] == [path.as_uri()]
    assert_accessible_in_both_schemes(page)


def test_file_can_be_read_without_scripts_and_in_a_closed_frame(
    profile: Page, new_page: NewPage, tmp_path: Path
) -> None:
    path = saved(profile, tmp_path)
    page = new_page("file://", java_script_enabled=False)
    page.goto(path.as_uri())
    expect(page.locator("[data-headline]")).to_be_visible()
    assert page.locator("#op-table tbody tr").count() > 10
    # axe is a script itself: it looks at what the file shows where none of its own runs.
    inert = re.sub(r"<script.*?</script>", "", path.read_text("utf-8"), flags=re.DOTALL)
    still = tmp_path / "still.html"
    still.write_text(inert.replace("noscript>", "div>"), "utf-8")
    looked = new_page("file://")
    looked.goto(still.as_uri())
    assert_accessible_in_both_schemes(looked)
    frame = tmp_path / "frame.html"
    frame.write_text(
        f'<iframe sandbox="allow-scripts" src="{path.name}" width=1200 height=900></iframe>'
    )
    closed = new_page("file://")
    closed.goto(frame.as_uri())
    inner = closed.frame_locator("iframe")
    expect(inner.locator("#op-chart .points path").first).to_be_attached()


def test_a_file_is_printed_on_four_sheets(new_page: NewPage, tmp_path: Path) -> None:
    profile = roofline.open_profile(roofline.example("v6e"))
    assert len(profile.ops) > 200
    profile.report(tmp_path / "report.html")
    page = new_page("file://", offline=True)
    page.goto((tmp_path / "report.html").as_uri())
    is_ready(page)
    printed = PdfReader(io.BytesIO(page.pdf(format="A4")))
    assert len(printed.pages) <= 4
    assert profile.ops[0].name in "".join(sheet.extract_text() for sheet in printed.pages)


def test_hostile_names_stay_texts_in_a_file(
    page: Page, new_page: NewPage, hostile_capture: Path, tmp_path: Path
) -> None:
    page.goto(uploaded(page.context, hostile_capture))
    is_ready(page)
    path = saved(page, tmp_path)
    opened = new_page("file://")
    opened.goto(path.as_uri())
    is_ready(opened)
    assert view.all_names(opened) == view.all_names(page)


def opened(new_page: NewPage, path: Path, watches: list[Watch]) -> Page:
    """A page of the file without a network; it asks for nothing, and says nothing."""
    page = new_page("file://", offline=True)
    page.goto(path.as_uri())
    is_ready(page)
    assert {one.partition(":")[0] for one in watches[-1].requests} <= {"file", "blob"}
    return page


def test_a_comparison_and_a_run_are_files(
    new_page: NewPage, watches: list[Watch], captures: Path, tmp_path: Path
) -> None:
    path = tmp_path / "report.html"
    a, b = (SAMPLES / "pytorch" / f"h100-training{end}.json" for end in ("-unfused", ""))
    run("report", "--a", a, "--b", b, "-o", path)
    page = opened(new_page, path, watches)
    compared = roofline.compare(a, b)
    expect(page.locator("h1")).to_contain_text(str(compared.to_dict()["verdict"]["headline"]))
    expect(page.locator("[data-pair] .barlayer path").first).to_be_attached()
    for control in ("Copy link", "Add a run", "Swap A and B"):
        expect(page.get_by_label(control)).to_be_hidden()
    page.get_by_text("Operations").first.click()
    page.get_by_role("tab", name="Only A").click()
    expect(page.locator("[data-table] tbody tr")).to_have_count(4)
    run("report", "--engine", "local", captures, "-o", path)
    page = opened(new_page, path, watches)
    expect(page.locator("body")).to_contain_text("Run of 3 hosts")
    assert len([one for one in watches[-1].requests if one.startswith("file")]) == 1


def test_devices_that_are_in_a_file_can_be_chosen(
    new_page: NewPage, watches: list[Watch], tmp_path: Path
) -> None:
    path, sample = tmp_path / "report.html", roofline.example("h100")
    run("report", sample, "--devices", "h200,b200", "-o", path)
    page = opened(new_page, path, watches)
    other = roofline.what_if(sample, device="h200")
    page.locator("[data-peaks-button]").click()
    listed = page.locator("[data-device-list] .use")
    expect(listed.nth(30)).to_be_attached()
    names = {"The profile’s own peaks", "H200 SXM", "B200"}
    usable = page.locator("[data-device-list] .use:enabled .text").all_inner_texts()
    assert len(usable) == len(names), usable
    expect(page.locator("[data-device-list] .use:disabled").first).to_contain_text("roofline serve")
    expect(page.locator("[data-peak]").first).to_be_disabled()
    said_first = page.locator("[data-headline]")
    own = said_first.inner_text()
    page.locator("[data-device-list] .use:enabled", has_text="H200").click()
    page.keyboard.press("Escape")
    expect(page.locator("[data-peaks-choice]")).to_contain_text("H200")
    expect(said_first).not_to_have_text(own)
    headline = said_first.inner_text()
    assert sentences(headline) <= sentences(other.sentence)
    page.evaluate("document.querySelector('#filter-infeed').click()")
    expect(page.locator("[data-peaks-choice]")).to_contain_text("H200")
    page.locator("[data-peaks-reset]:visible").click()
    expect(said_first).not_to_have_text(headline)
    with pytest.raises(roofline.RooflineError, match="h999"):
        roofline.open_profile(sample).report(devices=["h999"])


def test_a_file_of_a_link_opens_in_its_view(
    profile_url: str, new_page: NewPage, watches: list[Watch], tmp_path: Path
) -> None:
    path, link = tmp_path / "report.html", f"{profile_url}?v=1&q=fusion&sort=name&op=3&x=vmem"
    run("report", "--link", link, "-o", path)
    page = opened(new_page, path, watches)
    view.is_drawn(page)
    assert 0 < view.result(page)[0] < view.result(page)[1]
    expect(page.locator("#filter-name")).to_have_value("fusion")
    live = new_page(f"{profile_url}?q=fusion&sort=name&op=3")
    live.goto(f"{profile_url}?q=fusion&sort=name&op=3")
    is_ready(live)
    assert view.all_names(page) == view.all_names(live)
    expect(page.locator("[data-drawer-body]")).to_be_visible()
    expect(page.get_by_role("link", name=link)).to_be_visible()
    run("report", link, "-o", path, "--redact", "names")
    assert link.partition("?")[0] not in path.read_text("utf-8")
    for wrong in (("--link", link, path), ("--link", f"{profile_url}-not")):
        assert run("report", *wrong, "-o", path, code=2).stderr


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("https://host/calculator?op=matmul&m=4096&k=4096&n=4096&device=h100-sxm", "H100 SXM"),
        ("/model?model=llama-3-8b&phase=decode&device=h100-sxm&vs=b200", "llama-3-8b"),
    ],
)
def test_a_calculator_is_a_file(
    address: str, said: str, new_page: NewPage, watches: list[Watch], tmp_path: Path
) -> None:
    path = tmp_path / "report.html"
    run("report", address, "-o", path)
    page = opened(new_page, path, watches)
    expect(page.locator("#answer")).to_contain_text(said)
    expect(page.locator("#answer .main-svg").first).to_be_attached()
    expect(page.locator("[data-cost-form]")).to_have_attribute("inert", "")
    expect(page.get_by_label("Copy link")).to_have_count(0)
    assert not page.locator("main a[href^='/']:visible").count()
    assert_accessible_in_both_schemes(page)
    assert [one for one in watches[-1].requests if one.startswith("file")] == [page.url]


@pytest.mark.long
@pytest.mark.parametrize("sample", find_samples(SAMPLES), ids=lambda sample: sample.name)
def test_the_file_of_every_sample_shows_its_numbers_and_asks_for_nothing(
    sample: Sample, new_page: NewPage, watches: list[Watch], tmp_path: Path
) -> None:
    profile = roofline.open_profile(*sample.files)
    profile.report(tmp_path / "report.html")
    page = opened(new_page, tmp_path / "report.html", watches)
    view.is_drawn(page)
    headline, lead = page.locator("[data-headline], [data-lead]").all_inner_texts()
    assert headline
    assert sentences(f"{headline} {lead}") <= sentences(profile.sentence)
    assert view.result(page)[1] == len(profile.ops)
    marks = [one for one in profile.figure().data if one.meta["role"] == "marks"]
    assert view.drawn(page) == sum(len(one.customdata) for one in marks)
    assert [one for one in watches[-1].requests if one.startswith("file")] == [page.url]


def sentences(text: str) -> set[str]:
    """Each sentence, whichever spaces are in it, without the backticks around code."""
    return set(" ".join(text.replace("`", "").split()).removesuffix(".").split(". "))
