"""Ink as a PDF of one page, with the fonts that every reader has: texts can be selected and found.

Helvetica has the letters of Western Europe, Symbol the arrows. `not_written` says which letters of
a figure neither has; each is a question mark in the file.
"""

import zlib
from collections.abc import Iterator
from itertools import groupby

from roofline.figures.ink import SPACES, Ink, Path, Text

POINTS = 72.0
"""Per inch."""

_LATIN, _SYMBOL = "F1", "F2"
_ARROWS = {"←": 0xAC, "↑": 0xAD, "→": 0xAE, "↓": 0xAF}
_ARROW_WIDTHS = {"←": 987, "↑": 603, "→": 987, "↓": 603}
_EM = 1000  # of the widths of glyphs
# Thousandths of the size, of the letters 32 to 255 in the encoding WinAnsi: Adobe's metrics of
# Helvetica. Those of 127 and of the five codes without a letter do not matter.
_METRICS = """
278 278 355 556 556 889 667 191 333 333 389 584 278 333 278 278 556 556 556 556 556 556 556 556 556
556 278 278 584 584 584 556 1015 667 667 722 722 667 611 778 722 278 500 667 556 833 722 778 667 778
722 667 611 722 667 944 667 667 611 278 278 278 469 556 333 556 556 500 556 556 278 556 556 222 222
500 222 833 556 556 556 556 333 500 278 556 500 722 500 500 500 334 260 334 584 350 556 350 222 556
333 1000 556 556 333 1000 667 333 1000 350 611 350 350 222 222 333 333 350 556 1000 333 1000 500 333
944 350 500 667 278 333 556 556 556 556 260 556 333 737 370 556 584 333 737 333 400 584 333 333 333
556 537 278 333 333 365 556 834 834 834 611 667 667 667 667 667 667 1000 722 667 667 667 667 278 278
278 278 722 722 778 778 778 778 778 584 778 722 722 722 722 667 667 611 556 556 556 556 556 556 889
500 556 556 556 556 278 278 278 278 556 556 556 556 556 556 556 584 611 556 556 556 556 500 556 500
"""
_WIDTHS = [*map(int, _METRICS.split())]


def pdf_of(ink: Ink, title: str, about: str, *, points_per_pixel: float) -> bytes:
    """A PDF file; `title` and `about` stand in its description."""
    across, down = ink.width * points_per_pixel, ink.height * points_per_pixel
    alphas = sorted({one.opacity for one in ink.drawn if isinstance(one, Path)})
    states = "".join(f"/A{number} <</ca {at:g}/CA {at:g}>>" for number, at in enumerate(alphas))
    fonts = (
        f"/{_LATIN} <</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>"
        f"/{_SYMBOL} <</Type/Font/Subtype/Type1/BaseFont/Symbol>>"
    )
    # Pixels go down from the top, points of a page go up.
    turn = f"{points_per_pixel:.6f} 0 0 {-points_per_pixel:.6f} 0 {down:.3f} cm"
    content = "\n".join([turn, *_commands(ink, alphas)]).encode("latin-1")
    packed = zlib.compress(content, 9)
    return _file(
        [
            b"<</Type/Catalog/Pages 2 0 R>>",
            b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
            f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 {across:.2f} {down:.2f}]/Contents 4 0 R"
            f"/Resources<</Font<<{fonts}>>/ExtGState<<{states}>>>>>>".encode(),
            b"<</Length %d/Filter/FlateDecode>>\nstream\n" % len(packed) + packed + b"\nendstream",
            b"<</Title%s/Subject%s/Creator(Roofline)>>" % (_words(title), _words(about)),
        ]
    )


def not_written(ink: Ink) -> str:
    """The letters that are question marks in the PDF, each once."""
    texts = (one.text for one in ink.drawn if isinstance(one, Text))
    return "".join(sorted({sign for text in texts for sign in text if _letter(sign) is None}))


def _file(objects: list[bytes]) -> bytes:
    """The objects with the table of their places; the last one is the description."""
    found, places = bytearray(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n"), []
    for number, content in enumerate(objects, 1):
        places.append(len(found))
        found += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = len(found)
    found += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    found += b"".join(b"%010d 00000 n \n" % place for place in places)
    found += b"trailer\n<</Size %d/Root 1 0 R/Info %d 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (
        len(objects) + 1,
        len(objects),
        table,
    )
    return bytes(found)


def _words(text: str) -> bytes:
    """A text of the description, in any language."""
    return b"<" + (b"\xfe\xff" + text.encode("utf-16-be", "replace")).hex().encode() + b">"


def _commands(ink: Ink, alphas: list[float]) -> Iterator[str]:
    area = " ".join(f"{one:.2f}" for one in ink.plot)
    for is_clipped, own in groupby(ink.drawn, lambda one: isinstance(one, Path) and one.is_clipped):
        yield f"q {area} re W n" if is_clipped else "q"
        for one in own:
            yield from _path(one, alphas) if isinstance(one, Path) else _text(one)
        yield "Q"


def _path(path: Path, alphas: list[float]) -> Iterator[str]:
    yield f"/A{alphas.index(path.opacity)} gs"
    if path.fill:
        yield f"{_colour(path.fill)} rg"
    is_drawn = path.stroke and path.width
    if is_drawn:
        dash = " ".join(f"{one:g}" for one in path.dash)
        yield f"{_colour(path.stroke)} RG {path.width:g} w [{dash}] 0 d"
    for name, numbers in path.steps:
        command = "h" if name == "Z" else name.lower()
        yield f"{' '.join(f'{number:.2f}' for number in numbers)} {command}"
    yield ("B" if is_drawn else "f") if path.fill else "S" if is_drawn else "n"


def _text(one: Text) -> Iterator[str]:
    runs = [
        (font, [code for _, code, _ in own])
        for font, own in (
            (font, list(own))
            for font, own in groupby(map(_glyph, one.text), lambda glyph: glyph[0])
        )
    ]
    width = sum(wide for _, _, wide in map(_glyph, one.text)) * one.size / _EM
    x = one.x - {"start": 0.0, "middle": 0.5, "end": 1.0}[one.anchor] * width
    yield f"BT {_colour(one.colour)} rg 1 0 0 -1 {x:.2f} {one.y:.2f} Tm"
    for font, codes in runs:
        yield f"/{font} {one.size:g} Tf <{bytes(codes).hex()}> Tj"
    yield "ET"


def _letter(sign: str) -> tuple[str, int, int] | None:
    """The font, the code and the width of a letter."""
    if sign in _ARROWS:
        return _SYMBOL, _ARROWS[sign], _ARROW_WIDTHS[sign]
    code = b"\xa0" if sign in SPACES else sign.encode("cp1252", "ignore")
    return (_LATIN, code[0], _WIDTHS[code[0] - 32]) if code and code[0] >= 32 else None


def _glyph(sign: str) -> tuple[str, int, int]:
    return _letter(sign) or (_LATIN, ord("?"), 556)


def _colour(text: str) -> str:
    """Red, green and blue from 0 to 1, of "#rrggbb"."""
    return " ".join(f"{int(text[at : at + 2], 16) / 255:.3f}" for at in (1, 3, 5))
