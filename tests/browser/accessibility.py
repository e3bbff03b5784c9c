"""What axe-core finds on a page, in both colour schemes."""

from typing import Any, Literal

import pytest
from playwright.sync_api import Page

from tests.conftest import ROOT

Rules = dict[str, list[str]]
AXE = ROOT / "node_modules" / "axe-core" / "axe.min.js"
# A scheme changes colours alone: what else axe looks at is the same in both.
COLOURS: Rules = {"runOnly": ["color-contrast", "link-in-text-block"]}


def assert_accessible_in_both_schemes(page: Page) -> None:
    """Every rule of axe holds in the light scheme, and those of colours in the dark one, too."""
    if not AXE.is_file():
        pytest.skip("axe-core is not installed: npm ci")
    page.evaluate(AXE.read_text("utf-8"))
    schemes: tuple[tuple[Literal["light", "dark"], Rules], ...] = (("light", {}), ("dark", COLOURS))
    for scheme, rules in schemes:
        page.emulate_media(color_scheme=scheme)
        _assert_accessible(page, scheme, rules)


def _assert_accessible(page: Page, scheme: str, rules: Rules) -> None:
    # Colours fade from one scheme to the other; an import's bar never stands still.
    page.evaluate(
        """Promise.all(document.getAnimations()
          .filter((animation) => animation.effect.getComputedTiming().endTime < Infinity)
          .map((animation) => animation.finished.catch(() => {})))"""
    )
    found: Any = page.evaluate(
        "(rules) => axe.run({ ...rules, resultTypes: ['violations'] })", rules
    )
    assert found["passes"] or found["violations"], "axe looked at nothing"
    faults = [
        f"{scheme} {violation['id']}: {node['html'][:160]} {node['failureSummary']}"
        for violation in found["violations"]
        for node in violation["nodes"]
    ]
    assert not faults, "\n".join(faults)
