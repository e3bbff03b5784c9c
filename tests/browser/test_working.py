"""Working with a page: commands by name, keys, and going back to an earlier view."""

import re
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser import view


def test_palette_finds_actions_operations_and_groups(profile: Page) -> None:
    profile.keyboard.press("Control+k")
    palette = profile.get_by_role("dialog", name="Commands")
    field = palette.get_by_role("combobox")
    options = palette.get_by_role("option")
    expect(field).to_be_focused()
    expect(options.first).to_have_attribute("aria-selected", "true")

    field.fill("group by category")
    profile.keyboard.press("Enter")
    expect(palette).to_be_hidden()
    view.has_query(profile, "by", "category")

    name = str(view.page_data(profile)["ops"]["columns"]["name"][0])
    profile.set_viewport_size({"width": 390, "height": 844})  # a phone, which has no keys
    profile.get_by_role("button", name="Find", exact=True).click()
    profile.keyboard.press("ArrowDown")
    expect(options.first).to_have_attribute("aria-selected", "false")
    field.fill(name)
    options.filter(has_text="Operation").first.click()
    expect(profile.locator("#drawer")).to_contain_text(name)

    profile.keyboard.press("Control+k")
    field.fill("zzzzqqq")
    expect(options).to_have_count(0)
    expect(palette).to_contain_text("Nothing has such a name")
    profile.keyboard.press("Escape")
    expect(palette).to_be_hidden()
    expect(profile.locator("#drawer")).to_be_visible()  # Escape was the palette's


def test_keys_are_listed_and_go_through_steps_and_groupings(profile: Page) -> None:
    profile.keyboard.press("?")
    keys = profile.get_by_role("dialog", name="Keys")
    expect(keys).to_contain_text("Ctrl K")
    profile.keyboard.press("g")  # belongs to the dialog while it is open
    profile.keyboard.press("Escape")
    expect(keys).to_be_hidden()
    profile.keyboard.press("]")
    view.has_query(profile, "step", "Total")
    profile.keyboard.press("]")
    view.has_query(profile, "step", "Average")
    profile.keyboard.press("[")
    view.has_query(profile, "step", "Total")
    assert "by" not in view.query(profile)
    profile.keyboard.press("g")
    view.has_key(profile, "by")


def test_view_is_undone_and_redone_by_keys_and_by_the_browser(profile: Page) -> None:
    start = profile.url
    profile.keyboard.press("y")
    view.has_query(profile, "y", "share")
    profile.locator("#filter-name").press_sequentially("fusion")  # one change, not six
    view.has_query(profile, "q", "fusion")
    profile.locator("#filter-name").blur()
    shown, total = view.result(profile)
    assert shown < total

    profile.keyboard.press("Control+z")
    view.has_query(profile, "q")
    expect(profile.locator("#filter-name")).to_have_value("")
    expect(profile.locator("[data-result]")).to_have_text(re.compile(f"^{total} ops"))
    profile.go_back()
    profile.wait_for_url(start)
    height = profile.locator("[data-set=y][value=rate]")
    expect(height).to_have_attribute("aria-pressed", "true")
    profile.keyboard.press("Control+z")  # there is nothing before the page was opened
    profile.keyboard.press("Control+Shift+z")
    view.has_query(profile, "y", "share")
    profile.keyboard.press("Control+Shift+z")
    view.has_query(profile, "q", "fusion")
    expect(profile).to_have_title(re.compile("Roofline"))


def test_several_operations_are_summed_and_copied(profile: Page) -> None:
    rows = view.rows(profile)
    rows.nth(0).click(modifiers=["Shift"])
    bar = profile.get_by_role("region", name="Sum of the chosen operations")
    expect(bar).to_contain_text("1 op")
    rows.nth(1).locator("th button").focus()
    profile.keyboard.press("Shift+Enter")
    expect(bar).to_contain_text("2 ops")
    expect(rows.nth(1)).to_have_attribute("aria-selected", "true")
    profile.keyboard.press("Escape")
    expect(bar).to_be_hidden()

    profile.keyboard.press("j")
    profile.keyboard.press("x")
    profile.keyboard.press("j")
    profile.keyboard.press("x")
    data = view.page_data(profile)
    columns, ops = data["views"]["in"]["columns"], data["views"]["in"]["op"]
    expect(bar.locator("dl")).to_contain_text(
        f"{sum(columns['self_share_ratio'][:2]) * 100:.1f}\u202f%"
    )
    view.has_query(profile, "sel", f"{ops[0]},{ops[1]}")

    profile.context.grant_permissions(["clipboard-read", "clipboard-write"])
    bar.get_by_role("button", name="Copy TSV").click()
    expect(bar.get_by_role("button", name="Copied")).to_be_visible()
    header, *lines, end = profile.evaluate("navigator.clipboard.readText()").split("\n")
    names = [data["ops"]["columns"]["name"][op] for op in ops[:2]]
    assert header.startswith("name\t")
    assert end == ""
    assert [line.split("\t")[0] for line in lines] == names
    bar.get_by_role("button", name="Copy Markdown").click()
    markdown = profile.evaluate("navigator.clipboard.readText()").split("\n")
    assert markdown[1].startswith("| --- | ---:")
    assert markdown[2].startswith(f"| `{names[0]}` |")


def test_wheel_with_ctrl_zooms_the_chart_and_without_it_scrolls(profile: Page) -> None:
    profile.locator("#op-chart").hover()
    profile.keyboard.down("Control")
    profile.mouse.wheel(0, -100)
    profile.keyboard.up("Control")
    view.has_key(profile, "zoom")
    zoom = view.query(profile)["zoom"]
    profile.mouse.wheel(0, 100)
    profile.wait_for_function("() => scrollY > 0")
    assert view.query(profile)["zoom"] == zoom


def test_columns_of_the_program_are_chosen_and_in_the_link(profile: Page) -> None:
    button = profile.locator("[data-program-columns]")
    heads = profile.locator("#program-table thead th")
    every = heads.count()
    button.click()
    profile.locator("#menu-columns input").first.uncheck()
    expect(heads).to_have_count(every - 1)
    view.has_key(profile, "pcols")
    profile.locator("#menu-columns input").first.check()
    expect(heads).to_have_count(every)
    view.has_query(profile, "pcols")


def test_pins_carry_notes_in_the_link_and_with_the_profile(profile: Page) -> None:
    data = view.page_data(profile)
    name = str(data["ops"]["columns"]["name"][data["views"]["in"]["op"][0]])
    pins = profile.get_by_role("region", name="Pins")
    expect(pins).to_be_hidden()
    profile.keyboard.press("j")
    profile.keyboard.press("p")
    field = profile.locator("[data-pin-note]")
    expect(field).to_be_focused()
    field.press_sequentially("<b>why? & =1")
    view.has_query(profile, "pin", "0.<b>why? & =1")
    expect(pins.locator("textarea")).to_have_value("<b>why? & =1")
    mark = view.rows(profile).first.locator(".row-name")
    expect(mark).to_have_attribute("data-pin", "1")
    expect(mark).to_have_attribute("data-note", "<b>why? & =1")
    expect(profile.locator(".plot-ops text.pin")).to_have_text("1")
    profile.keyboard.press("Escape")
    profile.keyboard.press("Escape")
    profile.keyboard.press("]")
    profile.keyboard.press("p")
    expect(pins.locator("li")).to_have_count(2)
    expect(profile.locator(".plot-program text.pin")).to_have_text("2")
    pins.locator("li").nth(1).get_by_role("button", name="Remove").click()
    expect(pins.locator("li")).to_have_count(1)

    pins.get_by_role("button", name="Keep", exact=True).click()
    expect(pins).to_contain_text("1 kept with this profile")
    view.has_query(profile, "pin")
    profile.reload()
    expect(pins.locator("textarea")).to_have_value("<b>why? & =1")
    expect(pins.locator("bdi")).to_have_text(name)
    profile.context.grant_permissions(["clipboard-read", "clipboard-write"])
    pins.get_by_role("button", name="Copy Markdown").click()
    expect(profile.locator("[data-toast]")).to_have_text("Pins copied")
    markdown = profile.evaluate("navigator.clipboard.readText()").split("\n")
    assert markdown[2].startswith(f"| `{name}` | \\<b\\>why? \\& =1 | ")
    with profile.expect_download() as download:
        profile.locator("[data-csv-shown]").click()
    head, first, second = Path(download.value.path()).read_text("utf-8").splitlines()[:3]
    assert head.endswith(",pin,note")
    assert first.endswith(",1,<b>why? & =1") and second.endswith(",,")
    pins.get_by_role("button", name="Unkeep").click()
    expect(pins).to_contain_text("1 in the link")
    pins.get_by_role("button", name="Remove").click()
    expect(pins).to_be_hidden()
    profile.keyboard.press("Control+z")
    expect(pins).to_be_visible()
