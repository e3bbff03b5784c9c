"""Texts of earlier pages, which the subject and its words replaced, are nowhere any more."""

import json
import re

import pytest

from tests.conftest import ROOT

REPLACED = (
    r"at [^.]{0,12}of the roof or more",
    r"More FLOPs per byte (help|cannot)",
    r"Largest known saving",
    r"of the idle time waited for",
    r"without the idle start",
    r"Keep the device busy",
    r"Let the cost of",
    r"Raise the parallelism",
    r"Halve the bytes of",
    r"access pattern of 1 ",
    r"Use a faster number format",
    r"Hide the transfers over",
    r"Put more sequences into a decode step",
    r"Settle the operations",
    r"Run it on (?!a )",
    r"after this plan",
    r"worth your time",
    r"contradicts itself",
    r"held to their roofs",
    r"bound of this program is unknown",
    r"shows only the host of a program",
    r"so there is no roof to compare",
    r"Such operations wait for each other",
    r"if everything overlaps",
    r"of bottleneck memory",
    r"closeness to the roof",
    r"losses hide in it",
    r"A verdict on time needs",
    r"the model does not hold",
    r"without known traffic",
    r"[(]not known[)]",
    r"All (columns|fields|parts)",
    r"<summary>All [{]",
    r"Open in…",
    r"Show this range",
    r"ops\. No operation matches",
    r"Total counts every op",
    r"Captures on a side",
    r"No peak is known for this device",
    r"No operation matches the filters",
    r"2 other operations",
)
# Reviews of earlier pages quote what they said.
_HISTORY = {"design.md"}


def sources() -> dict[str, str]:
    """Templates, scripts, documents and sentences by the name of their file."""
    scripts = (ROOT / "static" / "js").rglob("*.js")
    files = [*(ROOT / "templates").glob("*.html"), *(ROOT / "docs").glob("*.md"), *scripts]
    found = {one.name: one.read_text("utf-8") for one in files if one.name not in _HISTORY}
    words = json.loads((ROOT / "tests" / "golden" / "words" / "words.json").read_text("utf-8"))
    said = [one["text"] for one in words["examples"]]
    return found | {"words.json": "\n".join(said)}


@pytest.mark.parametrize("pattern", REPLACED)
def test_no_text_of_an_earlier_page_is_left(pattern: str) -> None:
    left = [name for name, text in sources().items() if re.search(pattern, text)]
    assert left == []
