"""Comparing two profiles: the answer, why, how and where, the tables, and the address."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.browser.accessibility import assert_accessible_in_both_schemes
from tests.browser.conftest import NewPage, uploaded
from tests.browser.files import drag, release
from tests.browser.freezing import frozen_imports
from tests.browser.serving import Server
from tests.browser.view import has_query
from tests.browser.watching import is_ready, layout_shift
from tests.tools.generate_xspace import Config, write_profile


@pytest.fixture(scope="session")
def other_capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program of `capture`, with more events: the same operations take other times."""
    folder = tmp_path_factory.mktemp("other")
    config = Config(device="v4", n_events=4000, n_steps=4, n_distinct_ops=60, mix="training")
    (path,) = write_profile(config, folder)
    return path


@pytest.fixture(scope="session")
def comparison_url(visitor: BrowserContext, profile_url: str, other_capture: Path) -> str:
    """The address of a comparison of two ready profiles."""
    return f"/c/{id_of(profile_url)}..{id_of(uploaded(visitor, other_capture))}"


@pytest.fixture
def comparison(page: Page, comparison_url: str) -> Page:
    page.goto(comparison_url)
    is_ready(page)
    return page


def id_of(url: str) -> str:
    return url.partition("/p/")[2].partition("?")[0]


def shown_rows(page: Page) -> Locator:
    return page.locator("[data-table] tbody tr:visible")


def open_ops(page: Page) -> None:
    """Opens the fold of the operations, whose rows are read then."""
    page.locator("[data-fold=ops] > summary").click()
    expect(page.locator("[data-count=changed]")).not_to_be_empty()


def test_rows_and_tabs_add_up(comparison: Page) -> None:
    found = comparison.request.get(
        str(comparison.locator("#main").get_attribute("data-page-url"))
    ).json()
    expect(comparison.locator("h1")).to_contain_text(" instead of ")
    assert sum(found["terms"].values()) == pytest.approx(found["change_us"])
    assert sum(one["change_us"] for one in found["places"]) == pytest.approx(found["change_us"])
    first = comparison.locator(".cmp-places tbody tr").first
    expect(first.locator("th")).to_have_text(found["places"][0]["name"])
    open_ops(comparison)
    counts = {
        "only-a": len(found["only_a"]),
        "only-b": len(found["only_b"]),
        "groups": len(found["groups"]),
    }
    for tab, count in counts.items():
        expect(comparison.locator(f"[data-count='{tab}']")).to_have_text(str(count))
    changed, same = (
        int(comparison.locator(f"[data-count='{tab}']").inner_text()) for tab in ("changed", "same")
    )
    assert changed + same == len(found["ops"])


def test_open_folds_are_in_the_address(comparison: Page) -> None:
    comparison.locator("[data-fold=split] > summary").click()
    has_query(comparison, "open", "split")
    comparison.reload()
    is_ready(comparison)
    expect(comparison.locator(".cmp-terms tr").first).to_be_visible()
    comparison.locator("[data-fold=split] > summary").click()
    expect(comparison.locator(".cmp-terms")).to_be_hidden()


def test_the_page_is_a_few_requests_and_does_not_move(page: Page, comparison_url: str) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(comparison_url)
    is_ready(page)
    assert len(asked) <= 15
    assert layout_shift(page) < 0.02


@pytest.mark.parametrize("width", [390, 1280])
def test_without_scripts_the_page_has_its_words_and_rows(
    new_page: NewPage, comparison_url: str, width: int
) -> None:
    page = new_page(java_script_enabled=False, viewport={"width": width, "height": 900})
    page.goto(comparison_url)
    expect(page.locator("h1")).to_contain_text(" instead of ")
    assert page.locator(".cmp-places tbody tr").count() > 1
    assert page.locator(".gain-picture :is(span, svg):visible").count() == 4
    split = page.locator("[data-fold=split]")
    split.locator("summary").click()
    assert split.locator(".cmp-terms tr:visible").count() > 1
    expect(page.get_by_role("button")).to_have_count(0)
    expect(page.get_by_role("link", name="B", exact=True)).to_be_visible()
    table = page.locator(".cmp-places .cmp-scroll")
    assert table.evaluate("(one) => one.scrollWidth - one.clientWidth") == 0, "all columns fit"


def test_tabs_sorting_search_and_pages_are_in_the_address(comparison: Page) -> None:
    open_ops(comparison)
    comparison.locator("#tab-changed").focus()
    comparison.keyboard.press("ArrowRight")
    has_query(comparison, "tab", "same")
    comparison.keyboard.press("1")
    comparison.locator("[data-column='a']").click()
    has_query(comparison, "sort", "-a")
    first = shown_rows(comparison).first.locator("th button").inner_text()
    comparison.locator("#filter-name").fill(first.partition(" ")[0])
    has_query(comparison, "q", first.partition(" ")[0])
    comparison.reload()
    is_ready(comparison)
    expect(shown_rows(comparison).first.locator("th button")).to_have_text(first)


def test_keys_choose_a_row(comparison: Page) -> None:
    comparison.keyboard.press("j")
    expect(comparison.locator("[data-table] tr[aria-selected=true]")).to_have_count(1)
    comparison.keyboard.press("Escape")
    expect(comparison.locator("[data-table] tr[aria-selected=true]")).to_have_count(0)


def test_swapping_turns_the_sign(comparison: Page) -> None:
    before = comparison.locator("h1").inner_text()
    comparison.keyboard.press("s")
    comparison.wait_for_function(
        "(before) => document.querySelector('h1').innerText !== before", arg=before
    )
    is_ready(comparison)
    after = comparison.locator("h1").inner_text()
    assert (" more " in before) != (" more " in after)
    comparison.keyboard.press("?")
    keys = comparison.get_by_role("dialog", name="Keys")
    expect(keys).to_contain_text("Swap A and B")
    comparison.keyboard.press("s")  # belongs to the dialog while it is open
    comparison.keyboard.press("Escape")
    expect(keys).to_be_hidden()
    comparison.keyboard.press("Control+k")
    comparison.get_by_role("combobox", name="Find an action").fill("operations, CSV")
    comparison.keyboard.press("Escape")
    assert comparison.locator("h1").inner_text() == after


def test_another_unit_is_another_page(comparison: Page) -> None:
    comparison.get_by_role("link", name="Capture", exact=True).click()
    has_query(comparison, "unit", "capture")
    is_ready(comparison)
    expect(comparison.locator("h1")).to_contain_text("in the capture")


def test_a_profile_against_itself_has_not_changed(page: Page, profile_url: str) -> None:
    one = id_of(profile_url)
    page.goto(f"/c/{one}..{one}")
    is_ready(page)
    expect(page.locator("h1")).to_contain_text("No change")
    open_ops(page)
    expect(page.locator("[data-count=changed]")).to_have_text("0")
    expect(page.locator("[data-empty]")).to_contain_text("No operation changed")


def test_names_of_strangers_stay_text(
    page: Page, visitor: BrowserContext, hostile_capture: Path
) -> None:
    hostile = id_of(uploaded(visitor, hostile_capture))
    page.goto(f"/c/{hostile}..{hostile}?tab=same")
    is_ready(page)
    expect(shown_rows(page).first).to_be_visible()
    assert page.locator("main :is(img, iframe)").count() == 0


def test_more_runs_are_compared_with_a(comparison: Page, profile_url: str) -> None:
    comparison.goto(f"{comparison.url}?vs={id_of(profile_url)}")
    is_ready(comparison)
    row = comparison.locator("[data-versus-rows] tr")
    expect(row).to_contain_text("no change")
    row.get_by_role("link", name="Remove").click()
    comparison.wait_for_url(re.compile(r"/c/[^?]+$"))
    is_ready(comparison)
    expect(comparison.locator("[data-versus]")).to_be_hidden()


@pytest.mark.parametrize(
    ("width", "wider"), [(390, 430), pytest.param(1280, 1920, marks=pytest.mark.long)]
)
def test_the_page_is_accessible_and_never_scrolls_sideways(
    page: Page, comparison_url: str, width: int, wider: int
) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    for address in (comparison_url, "/s/train_step"):
        page.goto(address)
        is_ready(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert_accessible_in_both_schemes(page)
        page.set_viewport_size({"width": wider, "height": 900})
        page.wait_for_function("() => document.documentElement.scrollWidth <= innerWidth")
        page.set_viewport_size({"width": width, "height": 900})


def test_compare_opens_the_likeliest_run_and_another_can_be_chosen(
    profile: Page, visitor: BrowserContext, other_capture: Path
) -> None:
    uploaded(visitor, other_capture)
    profile.get_by_role("link", name="Compare", exact=True).click()
    profile.wait_for_url(re.compile(r"/c/.+\.\..+"))
    is_ready(profile)
    profile.get_by_role("link", name="Another…").click()
    runs = profile.locator(".cmp-partners a")
    expect(runs.first).to_contain_text("the same operations")
    profile.get_by_label("Search runs").fill("no such run")
    profile.keyboard.press("Enter")
    expect(profile.get_by_text("No run matches.")).to_be_visible()


def test_a_second_file_dropped_on_a_profile_is_compared_with_it(
    profile: Page, other_capture: Path
) -> None:
    own = id_of(profile.url)
    held = drag(profile, [other_capture], "#main")
    expect(profile.locator("[data-drop-compare]")).to_be_visible()
    release(profile, held, "#main")
    profile.wait_for_url(re.compile(f"/c/{own}\\.\\..+"))
    is_ready(profile)
    expect(profile.locator(".cmp-chips .sidechip")).to_have_count(2)


def test_two_profiles_of_the_list_are_compared(
    page: Page, profile_url: str, comparison_url: str
) -> None:
    page.goto("/")
    boxes = page.locator("[data-pick]")
    boxes.nth(0).check()
    expect(page.locator("[data-picked-text]")).to_have_text("1 selected: choose another")
    expect(page.locator("[data-picked-compare]")).to_be_hidden()
    boxes.nth(1).check()
    page.locator("[data-picked-clear]").click()
    expect(page.locator("[data-picked]")).to_be_hidden()
    boxes.nth(0).check()
    page.get_by_label("Search profiles").fill("host")
    page.wait_for_url("**/?q=host")
    expect(page.locator("[data-list][aria-busy]")).to_have_count(0)
    expect(boxes.nth(0)).to_be_checked()
    page.get_by_label("Search profiles").blur()
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("x")
    expect(boxes.nth(1)).to_be_checked()
    page.keyboard.press("c")
    page.wait_for_url("**/c/*")
    is_ready(page)


def test_a_run_that_failed_is_named_with_its_reason(
    page: Page, profile_url: str, capture: Path
) -> None:
    failed = page.request.post(
        "/api/v1/profiles?wait=60",
        multipart={"file": {"name": "x.txt", "mimeType": "text/plain", "buffer": b"no profile"}},
    ).json()["id"]
    page.goto(f"/c/{id_of(profile_url)}..{failed}")
    expect(page.locator("h1")).to_have_text("These runs cannot be compared")
    expect(page.locator("[data-said]").nth(1)).not_to_be_empty()


def test_points_of_a_series_are_links_to_their_profiles(
    page: Page, comparison_url: str, profile_url: str
) -> None:
    page.goto("/s/train_step")
    is_ready(page)
    rows = page.locator("table.runs tbody tr")
    assert rows.count() >= 2
    points = page.locator("[data-series] .tracemarks-1 .point")
    expect(points).to_have_count(rows.count())
    oldest = str(rows.last.locator("th a").get_attribute("href"))
    place = points.first.bounding_box()
    assert place is not None
    mark = page.locator(".gate-mark").first.bounding_box()
    assert mark is not None
    assert mark["x"] + mark["width"] / 2 == pytest.approx(place["x"] + place["width"] / 2, abs=1)
    page.mouse.move(place["x"] + place["width"] / 2, place["y"] + place["height"] / 2)
    expect(page.locator("[data-series] .hoverlayer text")).to_contain_text("Time: ")
    page.mouse.click(place["x"] + place["width"] / 2, place["y"] + place["height"] / 2)
    page.wait_for_url(f"**{oldest}")
    page.go_back()
    is_ready(page)
    rows.first.get_by_role("link", name="with the run before").click()
    is_ready(page)
    assert "/c/" in page.url


def test_a_comparison_opens_by_itself_when_its_run_is_read(
    page: Page, server: Server, profile_url: str, capture: Path
) -> None:
    with frozen_imports(server):
        content = capture.read_bytes()
        other = page.request.post(
            "/api/v1/profiles?wait=0",
            multipart={"file": {"name": "b.pb", "mimeType": "text/plain", "buffer": content}},
        ).json()["id"]
        page.goto(f"/c/{id_of(profile_url)}..{other}")
        expect(page.locator("h1")).to_have_text("The comparison opens when both runs are imported")
        expect(page.locator("[data-said]").nth(1)).to_contain_text("being imported")
    is_ready(page)
    expect(page.locator(".cmp-places tbody tr").first).to_be_visible()


def test_arrow_keys_choose_a_run_of_a_series(page: Page, comparison_url: str) -> None:
    page.goto("/s/train_step")
    is_ready(page)
    marks = page.locator(".gate-mark")
    expect(marks.locator("visible=true")).to_have_count(page.locator("table.runs tbody tr").count())
    marks.nth(0).click()
    expect(page.locator("[data-gate-run]")).to_have_text("Run 1")
    page.keyboard.press("ArrowRight")
    expect(page.locator("[data-gate-run]")).to_have_text("Run 2")
    expect(page.locator("[data-gate-rules] tr")).to_have_count(5)
    has_query(page, "run", str(marks.nth(1).get_attribute("data-run")))
