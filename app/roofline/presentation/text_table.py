"""Tables and names in plain text, for terminals."""

from collections.abc import Sequence
from contextvars import ContextVar

from roofline.analysis.short_names import fitted, middle_cut, short_name
from roofline.presentation.quantities import NARROW, SPACE

WIDTH: ContextVar[int | None] = ContextVar("width", default=None)
"""The characters of a line on the reader's terminal; `None` where there is none to fit into."""

_NARROWEST = 12


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], *, left: set[int]) -> str:
    """Columns two spaces apart; those at the places `left` begin at the left."""
    widths = [max(len(row[k]) for row in (heads, *rows)) for k in range(len(heads))]
    if (most := WIDTH.get()) is not None:
        widths = _narrowed(widths, left, most)
        rows = [[cut(cell, width) for cell, width in zip(row, widths, strict=True)] for row in rows]

    def line(cells: Sequence[str]) -> str:
        padded = (
            cell.ljust(width) if k in left else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(cells, widths, strict=True))
        )
        return "  ".join(padded).rstrip()

    return "\n".join([line(heads), *(line(row) for row in rows)])


def _narrowed(widths: Sequence[int], left: set[int], most: int) -> list[int]:
    """Widths that fit into `most` characters: the widest columns of names give way, not numbers."""
    found = list(widths)
    over = sum(found) + 2 * (len(found) - 1) - most
    while over > 0:
        widest = max(left, key=lambda k: found[k], default=None)
        if widest is None or found[widest] <= _NARROWEST:
            break
        found[widest] -= 1
        over -= 1
    return found


def spaced(text: str) -> str:
    """`text` with ordinary spaces, which every terminal has."""
    return text.replace(SPACE, " ").replace(NARROW, " ")


def plain(text: str) -> str:
    """Text from a file without control characters, which could steer the terminal."""
    return "".join(ch if ch.isprintable() else "�" for ch in text)


def named(name: str, width: int) -> str:
    """The name of an operation in at most `width` characters: short, with its types and shapes."""
    return fitted(short_name(plain(name)), width)


def cut(text: str, width: int) -> str:
    """`text` in at most `width` characters; its end stays, for that tells siblings apart."""
    return middle_cut(plain(text), width)
