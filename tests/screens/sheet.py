"""The contact sheet: one row for each state and theme, one small picture for each width."""

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from pathlib import Path

_HEAD = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Screenshots</title>
<style>body{font:13px system-ui;margin:16px;background:#888}table{border-spacing:8px}
td{vertical-align:top;background:#fff}img{display:block;height:260px;width:auto;max-width:420px;
object-fit:cover;object-position:top}</style><h1>Screenshots</h1><table>
"""


def write_sheet(
    folder: Path, states: Iterable[str], widths: Sequence[int], themes: Sequence[str]
) -> None:
    """Writes `index.html` with those pictures that are in the folder."""
    rows = (
        row for state in states for theme in themes for row in _row(folder, state, theme, widths)
    )
    (folder / "index.html").write_text(_HEAD + "\n".join(rows) + "</table>\n", "utf-8")


def _row(folder: Path, state: str, theme: str, widths: Sequence[int]) -> Iterator[str]:
    files = [f"{state}-{width}-{theme}.jpg" for width in widths]
    cells = [
        f'<td><a href="{escape(file)}"><img loading="lazy" src="{escape(file)}" alt=""></a>{width}'
        for file, width in zip(files, widths, strict=True)
        if (folder / file).is_file()
    ]
    if cells:
        yield f"<tr><th>{escape(state)}<br>{theme}" + "".join(cells)
