"""Tables and names in plain text, for terminals."""

from collections.abc import Sequence

from roofline.analysis.short_names import fitted, middle_cut, short_name
from roofline.presentation.quantities import NARROW, SPACE


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], *, left: set[int]) -> str:
    """Columns two spaces apart; those at the places `left` begin at the left."""
    widths = [max(len(row[k]) for row in (heads, *rows)) for k in range(len(heads))]

    def line(cells: Sequence[str]) -> str:
        padded = (
            cell.ljust(width) if k in left else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(cells, widths, strict=True))
        )
        return "  ".join(padded).rstrip()

    return "\n".join([line(heads), *(line(row) for row in rows)])


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
