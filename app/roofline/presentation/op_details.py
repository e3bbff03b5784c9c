"""The drawer's details of one op beyond the page data: path, shapes, source, single launches."""

import math
import shlex
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from roofline.analysis.launch_times import launch_records
from roofline.analysis.records import RooflineAnalysis
from roofline.analysis.undecided import units_of
from roofline.model.compute import ComputeUnit
from roofline.model.profile import LaunchTable
from roofline.model.units import ps_to_us
from roofline.presentation.json_text import to_json
from roofline.presentation.op_names import element_types, parts, shape_lists
from roofline.presentation.rounding import rounded
from roofline.presentation.shown import has_program, listed_ops
from roofline.presentation.words import ceiling_token, ceiling_words

LAUNCHES_SHOWN = 200
_REPLAYED = ("pytorch", "xspace")


def op_details(analysis: RooflineAnalysis) -> Iterator[bytes]:
    """JSON of each listed op, in the order of `ops` of the page data."""
    uses, launches = Counter(analysis.profile.ops.name), launch_records(analysis)
    for op in listed_ops(analysis).tolist():
        details = _details(analysis, op)
        if uses[details["name"]] == 1:
            details |= _replay(analysis, details["name"])
        if times := launches(op):
            details["launch_times"] = {name: rounded(value) for name, value in times.items()}
        yield to_json(details)


def _replay(analysis: RooflineAnalysis, name: str) -> dict[str, str]:
    """What chooses the op of this name in the command that runs it alone, for the formats that
    have its shapes."""
    is_there = analysis.profile.format_id in _REPLAYED
    return {"replay": shlex.join([f"--op={name}"])} if is_there else {}


def _details(analysis: RooflineAnalysis, op: int) -> dict[str, Any]:
    table, names = analysis.profile.ops, analysis.profile.program_names
    if op >= len(table):  # IDLE
        return {"name": analysis.ops.name[op], "long_name": "", "source_stack": []}
    program_id, between = int(table.program_id[op]), compute_range(analysis, op)
    return {
        "name": table.name[op],
        "long_name": table.long_name[op],
        "source_file": table.source_file[op],
        "source_line": int(table.source_line[op]) if table.source_line[op] >= 0 else None,
        "source_stack": [line for line in table.source_stack[op].split("\n") if line],
        "program_id": str(program_id) if has_program(analysis, op) else None,
        "program": names.get(program_id, ""),
        "path": table.framework_path[op],
        "shapes": shape_lists(table, op),
        "dtypes": element_types(table, op),
        "producers": parts(table.operand_names[op]),
        "replica_groups": table.replica_groups[op],
        "group_size": int(table.group_size[op]) or None,
        **_ceilings(analysis, op),
        **({"compute_range": between} if between else {}),
        **_counted(analysis, op),
        **_launches(analysis.profile.launches, op),
    }


def _counted(analysis: RooflineAnalysis, op: int) -> dict[str, str]:
    """How another file of the program counted the op's work."""
    cells = analysis.profile.cells
    return {"counted": cells.words[op]} if cells and cells.words[op] else {}


def _ceilings(analysis: RooflineAnalysis, op: int) -> dict[str, Any]:
    """Busy and useful share of each ceiling of which a counter was read, the busiest first."""
    near = analysis.nearest
    busy = near.busy_of(op)
    if not busy:
        return {}
    places = [near.ceilings.index(name) for name in busy]
    ceilings = [
        {
            "label": ceiling_words(name),
            "token": ceiling_token(name),
            "busy_ratio": rounded(busy[name]),
            "useful_ratio": rounded(float(near.useful[place, op])),
        }
        for name, place in zip(busy, places, strict=True)
    ]
    return {"ceilings": ceilings, "why": near.why_words[op]}


def _launches(table: LaunchTable | None, op: int) -> dict[str, Any]:
    """The first launches of `op`, and how many there are."""
    if table is None:
        return {}
    rows = np.flatnonzero(table.op == op)
    shown = rows[:LAUNCHES_SHOWN].tolist()
    return {"launch_count": len(rows), "launches": [_launch(table, row) for row in shown]}


def _launch(table: LaunchTable, row: int) -> dict[str, Any]:
    return {
        "detail": table.detail[row],
        "time_us": rounded(ps_to_us(float(table.time_ps[row]))),
        "flop": rounded(float(table.flop[row])),
        "bytes": {
            level.value: rounded(float(column[row]))
            for level, column in table.traffic_bytes.items()
        },
    }


_WORDS = {
    ComputeUnit.VECTOR_FP32: "fp32",
    ComputeUnit.MATRIX_FP32: "matrix fp32",
    ComputeUnit.MATRIX_TF32: "TF32",
    ComputeUnit.VECTOR_FP64: "vector fp64",
    ComputeUnit.MATRIX_FP64: "matrix fp64",
}


def compute_range(analysis: RooflineAnalysis, op: int) -> str:
    """As in "8 to 64 % of its compute roof: fp32 or TF32 is not known"; empty for other ops."""
    words = [_WORDS[unit] for unit in units_of(analysis.profile.ops, op)]
    measures = analysis.ops.measures
    low, high = float(measures.compute_low_ratio[op]), float(measures.compute_high_ratio[op])
    if not words or math.isnan(low) or math.isnan(high):
        return ""
    return (
        f"{100 * low:.0f} to {100 * high:.0f} % of its compute roof: "
        f"{', '.join(words[:-1])} or {words[-1]} is not known"
    )
