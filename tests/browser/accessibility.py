"""What axe-core finds on a page, in both colour schemes."""

from collections.abc import Sequence
from typing import Any, Literal

import pytest
from playwright.sync_api import Page

from tests.conftest import ROOT

Rules = dict[str, list[str]]
AXE = ROOT / "node_modules" / "axe-core" / "axe.min.js"
# A scheme changes colours alone: what else axe looks at is the same in both.
COLOURS: Rules = {"runOnly": ["color-contrast", "link-in-text-block"]}


def assert_accessible_in_both_schemes(page: Page, *within: str) -> None:
    """Every rule of axe holds in the light scheme, and those of colours in the dark one, too.

    With selectors, axe looks at these parts of the page alone, and they are there.
    """
    for selector in within:
        assert page.locator(selector).is_visible(), selector
    if not AXE.is_file():
        pytest.skip("axe-core is not installed: npm ci")
    page.evaluate(AXE.read_text("utf-8"))
    schemes: tuple[tuple[Literal["light", "dark"], Rules], ...] = (("light", {}), ("dark", COLOURS))
    for scheme, rules in schemes:
        page.emulate_media(color_scheme=scheme)
        _assert_accessible(page, scheme, rules, within)


def _assert_accessible(page: Page, scheme: str, rules: Rules, within: Sequence[str]) -> None:
    # Colours fade from one scheme to the other; an import's bar never stands still.
    page.evaluate(
        """Promise.all(document.getAnimations()
          .filter((animation) => animation.effect.getComputedTiming().endTime < Infinity)
          .map((animation) => animation.finished.catch(() => {})))"""
    )
    # Styles and media are fetched for rules of sound and of turned screens, which do not apply.
    found: Any = page.evaluate(
        """([rules, within]) => axe.run(within.length ? { include: within } : document,
          { ...rules, resultTypes: ['violations'], preload: false })""",
        [rules, within],
    )
    assert found["passes"] or found["violations"], "axe looked at nothing"
    faults = [
        f"{scheme} {violation['id']}: {node['html'][:160]} {node['failureSummary']}"
        for violation in found["violations"]
        for node in violation["nodes"]
    ]
    assert not faults, "\n".join(faults)
