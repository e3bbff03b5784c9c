"""Tables and names in plain text, for terminals."""

from collections.abc import Sequence

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


def cut(text: str, width: int) -> str:
    """`text` in at most `width` characters."""
    shown = plain(text)
    return shown if len(shown) <= width else f"{shown[: width - 1]}…"
