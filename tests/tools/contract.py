"""Write what follows from declarations: types, classes of the page, tables of docs/page-data.md.

`python -m tests.tools.contract` writes them; with `--check` it ends with 1 where they differ.
"""

import re
import sys
from collections.abc import Sequence
from pathlib import Path

from roofline.presentation.columns import Column, Page, R
from roofline.presentation.contract_schemas import PLACE, Schema, schemas
from roofline.presentation.first_view.table import BAR_STEP
from roofline.presentation.op_columns import OP_COLUMNS
from roofline.presentation.program_columns import PROGRAM_COLUMNS

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs" / "page-data.md"
SHOWN = ROOT / "static" / "css" / "shown-values.css"
TOKENS = ROOT / "static" / "css" / "tokens.css"
TYPES = ROOT / "static" / "js" / "types" / "contract.d.ts"


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


def with_tables(text: str) -> str:
    """The document with its tables anew."""
    tables = {
        "keys": key_table(),
        "op columns": table_of(OP_COLUMNS),
        "program columns": table_of(PROGRAM_COLUMNS),
    }
    for name, table in tables.items():
        start, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
        before, rest = text.split(start)
        text = f"{before}{start}\n{table}\n{end}{rest.split(end)[1]}"
    return text


def key_table() -> str:
    """Every declared part of a document with its keys; those in brackets are not always there."""
    lines = ["| part | what | keys |", "|---|---|---|"]
    for name, schema in schemas().items():
        what = schema["description"].split("\n\n")[0].replace("\n", " ").replace("|", "\\|")
        keys = [
            f"`{key}`" if key in schema["required"] else f"(`{key}`)"
            for key in schema["properties"]
        ]
        lines.append(f"| `{name}` | {what} | {', '.join(keys)} |")
    return "\n".join(lines)


# --------------------------------------------------------------------------------------- TypeScript

_HEAD = """// Generated from presentation/contract.py by tests/tools/contract.py: do not edit.

import type { ChartFigure as Figure } from "./figure.js";
"""
# Figures have types of their own; facts and view are parts of the page.
_LEFT_OUT = {"Figure", "LegendEntry", "Facts", "View"}
_TYPES = {"integer": "number"}


def types_of_browser() -> str:
    """The declarations of `static/js/types/contract.d.ts`."""
    interfaces = [
        _interface(name, schema) for name, schema in schemas().items() if name not in _LEFT_OUT
    ]
    return "\n".join([_HEAD, *interfaces])


def _interface(name: str, schema: Schema) -> str:
    text = schema["description"].split("\n")
    lines = [f"/** {text[0]}{' */' if len(text) == 1 else ''}"]
    lines += [f" * {line}".rstrip() for line in text[1:]]
    lines += [" */"] if len(text) > 1 else []
    required = schema["required"]
    keys = [
        f"  {key}{'' if key in required else '?'}: {_type(kind)};"
        for key, kind in schema["properties"].items()
    ]
    return "\n".join([*lines, f"export interface {name} {{", *keys, "}", ""])


def _type(schema: Schema) -> str:
    """A schema as TypeScript."""
    if "$ref" in schema:
        return str(schema["$ref"]).removeprefix(PLACE)
    if "anyOf" in schema:
        return " | ".join(_type(one) for one in schema["anyOf"])
    if "enum" in schema:
        return " | ".join(f'"{value}"' for value in schema["enum"])
    match schema.get("type"):
        case "array":
            items = _type(schema["items"])
            return f"({items})[]" if "|" in items else f"{items}[]"
        case "object" if "properties" in schema:
            one = _type(next(iter(schema["properties"].values())))
            keys = " | ".join(f'"{key}"' for key in schema["properties"])
            return f"Record<{keys}, {one}>"
        case "object":
            return f"Record<string, {_type(schema['additionalProperties'])}>"
        case None:
            return "any"
        case kind:
            return _TYPES.get(kind) or str(kind)


# ----------------------------------------------------------------------------------------- classes

_SHOWN_HEAD = """/* Generated by tests/tools/contract.py: do not edit.
   Colours and lengths of the page before its script, which may not have style attributes. */

"""
_MARKED = re.compile(r"--(c\d+|control|ink-3|roof-.*|star|wait-infeed|warn)")
_MOST_LANES = 8


def shown_values() -> str:
    """The classes of `static/css/shown-values.css`."""
    tokens = re.findall(r"^  (--[\w-]+):", TOKENS.read_text("utf-8"), re.M)
    rules = {
        f"of{token}": {"swatch": f"var({token})"} for token in tokens if _MARKED.fullmatch(token)
    }
    rules |= {f"lanes-{number}": {"lanes": str(number)} for number in range(1, _MOST_LANES + 1)}
    rules |= {f"v{percent}": {"v": str(percent)} for percent in range(0, 101, BAR_STEP)}
    texts = (
        "\n".join([f".{name} {{", *(f"  --{key}: {value};" for key, value in rule.items()), "}\n"])
        for name, rule in rules.items()
    )
    return _SHOWN_HEAD + "".join(texts)


def _old(path: Path) -> str:
    return path.read_text("utf-8") if path.exists() else ""


def main() -> int:
    """Write or check; the number of the process's end."""
    is_check = "--check" in sys.argv
    results = {
        DOCUMENT: with_tables(DOCUMENT.read_text("utf-8")),
        TYPES: types_of_browser(),
        SHOWN: shown_values(),
    }
    stale = [path for path, text in results.items() if _old(path) != text]
    for path in stale:
        told = "run `python -m tests.tools.contract`" if is_check else "written"
        sys.stderr.write(f"{path.relative_to(ROOT)}: {told}.\n")
        if not is_check:
            path.write_text(results[path], "utf-8")
    return 1 if stale and is_check else 0


if __name__ == "__main__":
    sys.exit(main())
