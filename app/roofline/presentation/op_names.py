"""The names of operations on the page: short forms, chips beside them, beginnings."""

from typing import Any

from roofline.analysis.records import I64, RooflineAnalysis
from roofline.analysis.short_names import ShortName, common_prefix, distinct
from roofline.model.profile import OpTable
from roofline.presentation.op_shapes import first_array


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
