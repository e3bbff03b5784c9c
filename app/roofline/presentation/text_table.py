"""Tables and names in plain text, for terminals."""

from collections.abc import Sequence
from contextvars import ContextVar

from roofline.analysis.short_names import fitted, middle_cut, short_name
from roofline.presentation.quantities import NARROW, SPACE

WIDTH: ContextVar[int | None] = ContextVar("width", default=None)
"""The characters of a line on the reader's terminal; `None` where there is none to fit into."""

_NARROWEST = 12
_LINE = 100
_FEWEST = 2


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], *, left: set[int]) -> str:
    """Columns two spaces apart; those at the places `left` begin at the left. The last ones that a
    terminal has no room for are named in a line instead."""
    widths = [max(len(row[k]) for row in (heads, *rows)) for k in range(len(heads))]
    others: list[str] = []
    if (most := WIDTH.get()) is not None:
        widths = _fitting(widths, left, most)
        others = wrapped(f"On a wider terminal: {', '.join(heads[len(widths) :])}.")
        heads, others = heads[: len(widths)], others if len(widths) < len(heads) else []
        rows = [
            [cut(cell, width) for cell, width in zip(row, widths, strict=False)] for row in rows
        ]

    def line(cells: Sequence[str]) -> str:
        padded = (
            cell.ljust(width) if k in left else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(cells, widths, strict=True))
        )
        return "  ".join(padded).rstrip()

    return "\n".join([line(heads), *(line(row) for row in rows), *others])


def _fitting(widths: Sequence[int], left: set[int], most: int) -> list[int]:
    """The widths of as many columns as fit, the first ones."""
    for count in range(len(widths), _FEWEST, -1):
        found = _narrowed(widths[:count], {place for place in left if place < count}, most)
        if sum(found) + 2 * (count - 1) <= most:
            return found
    return _narrowed(widths[:_FEWEST], left & {*range(_FEWEST)}, most)


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


def wrapped(text: str, *, indent: str = "") -> list[str]:
    """`text` in lines of `line_width()`."""
    from textwrap import wrap  # only reports need it

    return wrap(text, line_width(), subsequent_indent=indent)


def line_width() -> int:
    """The most characters of a line of sentences: 100, or as many as the terminal has."""
    return min(_LINE, WIDTH.get() or _LINE)


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
