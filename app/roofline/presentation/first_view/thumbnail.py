"""A profile at the size of a stamp, for lists: its time, by what it can gain."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from roofline.presentation.first_view import summary
from roofline.presentation.page_rows import Rows

WIDTH, HEIGHT = 92, 48  # pixels


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """A list's preview of a profile: the first sentence of its verdict, and an `svg` element.

    Colours of the drawing are custom properties of the page that it is put into.
    """

    headline: str
    svg: str


def preview(page: Mapping[str, Any]) -> Preview:
    """The preview of `page`, the page data as plain objects; no `svg` where no time is known."""
    headline = "".join(piece.text for piece in summary.pieces(Rows(page).verdict["headline"]))
    gain = page["figures"]["gain"]
    return Preview(headline=headline, svg=gain["picture"] if gain else "")
