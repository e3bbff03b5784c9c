"""Write what follows from the declarations of columns: the tables of docs/page-data.md.

`python -m tests.tools.contract` writes them; with `--check` it ends with 1 where they differ.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from roofline.presentation.columns import Column, Page, R
from roofline.presentation.op_columns import OP_COLUMNS
from roofline.presentation.program_columns import PROGRAM_COLUMNS

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs" / "page-data.md"


def table_of(columns: Sequence[Column[R]]) -> str:
    """The columns of a menu as a table in Markdown."""
    lines = ["| id | label | unit | shown at first | what |", "|---|---|---|---|---|"]
    lines += [
        _per(" | ".join([f"| `{column.id}`", column.label, *_what(column)]), column)
        for column in columns
        if column.label
    ]
    return "\n".join(lines)


def _per(row: str, column: Column[R]) -> str:
    """A row that stands for one column per level, unit, clock or ceiling."""
    key = column.per.value.removeprefix("own ") if column.per else ""
    return row.replace("{id}", f"{{{key}}}").replace("{label}", f"{{{key}}}")


def _what(column: Column[R]) -> tuple[str, ...]:
    page = column.shown.page
    first = "yes" if page is Page.FIRST else "some" if callable(page) else ""
    return column.unit, first, f"{column.help} |"


def written(text: str) -> str:
    """The document with its tables anew."""
    for name, table in {
        "op columns": table_of(OP_COLUMNS),
        "program columns": table_of(PROGRAM_COLUMNS),
    }.items():
        start, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
        before, rest = text.split(start)
        text = f"{before}{start}\n{table}\n{end}{rest.split(end)[1]}"
    return text


def main() -> int:
    """Write or check; the number of the process's end."""
    is_check = "--check" in sys.argv
    results = {DOCUMENT: written(DOCUMENT.read_text("utf-8"))}
    stale = [path for path, text in results.items() if path.read_text("utf-8") != text]
    for path in stale:
        sys.stderr.write(f"{path.relative_to(ROOT)}: run `python -m tests.tools.contract`.\n")
        if not is_check:
            path.write_text(results[path], "utf-8")
    return 1 if stale and is_check else 0


if __name__ == "__main__":
    sys.exit(main())
