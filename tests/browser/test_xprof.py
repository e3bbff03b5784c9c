"""XProf's page: one click away, with the numbers of `analyze --format xprof`."""

import json
import re
from pathlib import Path

from playwright.sync_api import Page, expect

from roofline.exports.xprof import to_xprof
from roofline.pipeline import analyse_files
from roofline.presentation.xprof_view import XprofChoice, xprof_view

TEXTS = """(id) => [...document.querySelectorAll(`#${id} tbody tr`)]
  .map((row) => [...row.cells].map((cell) => cell.textContent))"""


def test_numbers_are_those_of_the_command_line(profile: Page, capture: Path) -> None:
    profile.locator("[data-xprof-view]").click()
    expect(profile).to_have_url(re.compile(r"\?view=xprof$"))
    written = to_xprof(analyse_files([capture], xprof_compat=True))
    sent = profile.request.get(
        profile.url.replace("/p/", "/api/v1/profiles/").split("?")[0] + "/xprof"
    )
    assert sent.body() == written
    view = xprof_view(json.loads(written), XprofChoice())
    for section, name in ((view.program, "program"), (view.ops, "op")):
        shown = profile.evaluate(TEXTS, f"xprof-{name}-table")
        assert shown == [[cell.text for cell in row] for row in section.rows]
        expect(profile.locator(f"#xprof-{name}")).to_have_attribute("data-drawn", "true")


def test_filter_is_followed_and_is_in_the_address(page: Page, profile_url: str) -> None:
    page.goto(f"{profile_url}?cols=xprof")  # a link of an earlier release
    rows = page.locator("#xprof-op-table tbody tr")
    every = rows.count()
    page.get_by_label("Bound by").select_option("HBM")
    expect(page).to_have_url(re.compile("bound=HBM"))
    assert 0 < rows.count() < every
    page.get_by_role("button", name="# Occurrences").click()
    expect(page).to_have_url(re.compile("sort=occurrences"))
    expect(page.locator('[data-column="occurrences"]')).to_have_attribute("aria-sort", "ascending")
