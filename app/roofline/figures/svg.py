"""Ink as SVG: texts stay texts, and nothing but the file is needed to see it."""

from collections.abc import Iterator
from html import escape
from itertools import groupby

from roofline.figures.ink import SPACES, Ink, Path, Text

_FAMILY = "Helvetica, Arial, 'Liberation Sans', sans-serif"


def svg_of(ink: Ink, title: str, about: str, *, width: str, height: str) -> bytes:
    """An SVG file of this size, such as "84mm"; `title` and `about` are read aloud in its place."""
    left, top, across, down = (f"{one:.2f}" for one in ink.plot)
    drawn = "".join(
        _group(role, tuple(own)) for role, own in groupby(ink.drawn, lambda one: one[0])
    )
    text = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {ink.width:.2f} {ink.height:.2f}" role="img" font-family="{_FAMILY}">\n'
        f"<title>{_inert(title)}</title><desc>{_inert(about)}</desc>\n"
        f'<clipPath id="plot"><rect x="{left}" y="{top}" width="{across}" height="{down}"/>'
        f"</clipPath>\n{drawn}</svg>\n"
    )
    return text.encode("utf-8", "replace")


def _group(role: str, drawn: tuple[Path | Text, ...]) -> str:
    elements = "\n".join(map(_element, drawn))
    is_clipped = all(isinstance(one, Path) and one.is_clipped for one in drawn)
    clip = ' clip-path="url(#plot)"' if is_clipped else ""
    return f'<g class="{role}"{clip}>\n{elements}\n</g>\n'


def _element(one: Path | Text) -> str:
    if isinstance(one, Text):
        return (
            f'<text x="{one.x:.2f}" y="{one.y:.2f}" text-anchor="{one.anchor}" '
            f'font-size="{one.size:g}" fill="{one.colour}">{_inert(one.text)}</text>'
        )
    steps = "".join(
        f"{name}{' '.join(f'{number:.2f}' for number in numbers)}" for name, numbers in one.steps
    )
    return f'<path d="{steps}" {" ".join(_look(one))}/>'


def _look(path: Path) -> Iterator[str]:
    yield f'fill="{path.fill or "none"}"'
    if path.stroke and path.width:
        yield f'stroke="{path.stroke}" stroke-width="{path.width:g}"'
    if path.dash:
        yield f'stroke-dasharray="{" ".join(f"{one:g}" for one in path.dash)}"'
    if path.opacity < 1:
        yield f'opacity="{path.opacity:g}"'


def _inert(text: str) -> str:
    """XML has no control characters, not even as entities."""
    return escape("".join(one for one in text if one.isprintable() or one in f"\n{SPACES}"))
