"""The names of operations on the page, and the shapes and element types that they work on."""

import re
from typing import Any

from roofline.analysis.records import I64, RooflineAnalysis
from roofline.analysis.short_names import ShortName, common_prefix, distinct
from roofline.model.profile import OpTable

_SEPARATOR = "; "
# An array, its layout with the memory space included: `bf16[8,128]{1,0:S(1)}`.
_ARRAY = re.compile(r"(?<!\w)([a-z]\w{0,15})\[([^\[\]]{0,400})\](\{[^{}]{0,200}\})?")
_NO_ELEMENTS = frozenset({"token", "opaque"})
# Memory space 2 of a TPU holds flags, not the op's data.
_FLAGS = "S(2)"


def shape_lists(table: OpTable, op: int) -> dict[str, list[str]] | None:
    """Shapes of operands and results in XLA's notation; `None` where neither is known."""
    operands, results = parts(table.operands[op]), parts(table.results[op])
    return {"operands": operands, "results": results} if operands or results else None


def element_types(table: OpTable, op: int) -> list[str]:
    """Element types of operands, then of results, each once."""
    found = _ARRAY.finditer(f"{table.operands[op]}{_SEPARATOR}{table.results[op]}")
    kinds = (one[1] for one in found if _FLAGS not in (one[3] or ""))
    return list(dict.fromkeys(kind for kind in kinds if kind not in _NO_ELEMENTS))


def first_array(label: str) -> tuple[str, ...]:
    """Element type and dimensions of the first array of a label: `("bf16", "8×128")`."""
    found = next((one for one in _ARRAY.finditer(label) if one[1] not in _NO_ELEMENTS), None)
    if found is None:
        return ()
    dimensions = found[2].replace(" ", "").replace(",", "×")
    return (found[1], dimensions) if dimensions else (found[1],)


def parts(label: str) -> list[str]:
    """The texts that a label of an op table joins."""
    return label.split(_SEPARATOR) if label else []


def op_names(analysis: RooflineAnalysis, listed: I64) -> dict[str, Any]:
    """For each listed op a `short` name (`None`: its own) and `chips`; what all begin with.

    `prefix` begins every short name and is left out of each; `source_prefix` is the folder of all
    source files, which the column of sources may leave out.
    """
    table, rows = analysis.profile.ops, listed.tolist()
    names = [analysis.ops.name[op] for op in rows]
    found = [_with_shape(one, table, op) for one, op in zip(distinct(names), rows, strict=True)]
    is_idle = [op >= len(table) for op in rows]
    prefix = common_prefix(one.text for one, idle in zip(found, is_idle, strict=True) if not idle)
    texts = [
        one.text if idle else one.text[len(prefix) :]
        for one, idle in zip(found, is_idle, strict=True)
    ]
    return {
        "short": [None if a == b else a for a, b in zip(texts, names, strict=True)],
        "chips": [list(one.chips) for one in found],
        "prefix": prefix,
        "source_prefix": common_prefix(
            table.source_file[op] for op in rows if op < len(table) and table.source_file[op]
        ),
    }


def _with_shape(name: ShortName, table: OpTable, op: int) -> ShortName:
    """Element type and shape of the first result, else operand, where the name has told none."""
    if name.chips or op >= len(table):
        return name
    array = first_array(table.results[op]) or first_array(table.operands[op])
    return ShortName(name.text, array) if array else name
