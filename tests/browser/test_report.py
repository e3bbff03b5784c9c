"""The page as one file, opened from the disk: the same numbers, and nothing is asked for."""

from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser import view
from tests.browser.conftest import NewPage, uploaded
from tests.browser.watching import Watch, is_ready


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


def test_file_can_be_read_without_scripts_and_in_a_closed_frame(
    profile: Page, new_page: NewPage, tmp_path: Path
) -> None:
    path = saved(profile, tmp_path)
    page = new_page("file://", java_script_enabled=False)
    page.goto(path.as_uri())
    expect(page.locator("[data-headline]")).to_be_visible()
    assert page.locator("#op-table tbody tr").count() > 10
    frame = tmp_path / "frame.html"
    frame.write_text(
        f'<iframe sandbox="allow-scripts" src="{path.name}" width=1200 height=900></iframe>'
    )
    closed = new_page("file://")
    closed.goto(frame.as_uri())
    inner = closed.frame_locator("iframe")
    expect(inner.locator("#op-chart .points path").first).to_be_attached()


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
