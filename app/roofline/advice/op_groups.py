"""Groups of ops that one finding is about: of one rule, bound, category and kind."""

from collections.abc import Collection
from typing import NamedTuple

import numpy as np

from roofline.advice.op_kinds import op_kind
from roofline.advice.rows import Rows
from roofline.analysis.records import RooflineAnalysis
from roofline.model.op_columns import I64

KERNELS = "kernels"
"""The category of kernels that a measured reason puts together, whatever they do."""

_BY_REASON = frozenset({"L2", "W2", "P1"})


class OpGroup(NamedTuple):
    """The key of a group. `kind` is the measured reason of L2 and W2, the ceiling of P1, or the
    kind of op; it picks the text."""

    rule: str
    bound: str
    category: str
    kind: str


def op_groups(
    analysis: RooflineAnalysis, rows: Rows, rules: Collection[str], without: Collection[int]
) -> dict[OpGroup, list[int]]:
    """The ops that took time, by group, but `without`; ops of other rules are left out."""
    found, table = rows.diagnoses, analysis.profile.ops
    groups: dict[OpGroup, list[int]] = {}
    for op in np.flatnonzero(rows.state.own_us[: len(table)] > 0).tolist():
        rule, bound = found.rule[op], found.bound[op]
        is_counted = bool(analysis.nearest.is_busy_known[op])
        if op in without or rule not in rules or (bound is None and not is_counted):
            continue
        kind = _kind(analysis, rows, rule, op)
        category = KERNELS if is_counted and rule in _BY_REASON else table.category[op]
        key = OpGroup(rule, bound or "", category, kind)
        groups.setdefault(key, []).append(op)
    return groups


def _kind(analysis: RooflineAnalysis, rows: Rows, rule: str, op: int) -> str:
    table, near = analysis.profile.ops, analysis.nearest
    if rule == "W2":
        return rows.nearness.factor[op]
    if rule == "P1":
        return near.ceiling_of(op)
    own = op_kind(table.category[op], table.name[op])
    if rule != "L2" or (own and not near.is_busy_known[op]):
        return own
    return near.why[op]


def reason_of(analysis: RooflineAnalysis, ops: I64) -> str:
    """The measured reason in words, where all of these ops have the same one; else ""."""
    words = {analysis.nearest.why_words[op] for op in ops.tolist()}
    return words.pop() if len(words) == 1 else ""
