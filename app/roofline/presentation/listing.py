"""Operations by a part of their name and in another order, however many a profile has.

The page lists the longest, and what is asked for beside them; exports have what was found alone.
"""

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from typing import Any, NamedTuple

import numpy as np

from roofline.analysis.records import I64, MAX_OPS, Ranking, RooflineAnalysis, View
from roofline.analysis.subjects.records import Subject
from roofline.errors import BadViewError
from roofline.presentation.columns import column_values
from roofline.presentation.op_columns import OP_COLUMNS
from roofline.presentation.op_values import rows_of


class Listing(NamedTuple):
    """`q` is a part of the name in any case, `sort` a column, behind "-" with its largest first."""

    q: str = ""
    sort: str = ""


def found_alone(analysis: RooflineAnalysis, subject: Subject, listing: Listing) -> RooflineAnalysis:
    """The analysis with no other ops than those found, in the order asked for."""

    def with_found(view: View) -> View:
        every = view.every.select(_found(analysis, view, subject, listing))
        return _listed(view, every, np.arange(min(len(every.op), MAX_OPS)))

    return _with_views(analysis, with_found)


def found_beside(
    analysis: RooflineAnalysis, subject: Subject, listing: Listing
) -> RooflineAnalysis:
    """The analysis with ops that were found listed behind the longest, whose places stay."""

    def with_found(view: View) -> View:
        longest = np.flatnonzero(np.isin(view.every.op, view.op))
        found = _found(analysis, view, subject, listing)
        more = found[~np.isin(found, longest)][:MAX_OPS]
        return _listed(view, view.every, np.concatenate([longest, more]), len(more))

    return _with_views(analysis, with_found)


def _with_views(analysis: RooflineAnalysis, with_found: Callable[[View], View]) -> RooflineAnalysis:
    views = analysis.with_infeed, analysis.without_infeed
    with_infeed, without = map(with_found, views)
    return replace(analysis, with_infeed=with_infeed, without_infeed=without)


def _found(analysis: RooflineAnalysis, view: View, subject: Subject, listing: Listing) -> I64:
    """Rows of all ops of the view, but for IDLE."""
    names, wanted, idle = analysis.ops.name, listing.q.lower(), len(analysis.profile.ops)
    ops = enumerate(view.every.op.tolist())
    rows = [row for row, op in ops if op != idle and wanted in names[op].lower()]
    found = np.array(rows, np.int64)
    column = listing.sort.removeprefix("-")
    if not column:
        return found
    values = column_values(OP_COLUMNS, rows_of(analysis, view.every.select(found), subject), column)
    if values is None:
        raise BadViewError(
            f"“{column[:100]}” is not a column.", remedy="Columns are those of the CSV."
        )
    return found[in_order(values, is_down=listing.sort.startswith("-"))]


def in_order(values: Sequence[Any], *, is_down: bool) -> I64:
    """Places of the values in order; what is not known comes last."""
    known = [k for k, value in enumerate(values) if isinstance(value, int | float | str)]
    known.sort(key=lambda k: values[k], reverse=is_down)
    rest = sorted(set(range(len(values))) - set(known))
    return np.array([*known, *rest], np.int64)


def _listed(view: View, every: Ranking, rows: I64, found: int = 0) -> View:
    """The view with `rows` of `every` listed, the last `found` of them beside the longest."""
    listed = every.select(rows)
    left = np.ones(len(every.op), np.bool_)
    left[rows] = False
    beyond = every.select(left)
    return replace(
        view,
        **{one.name: getattr(listed, one.name) for one in fields(Ranking)},
        every=every,
        beyond_ops=len(beyond.op),
        beyond_share_ratio=float(np.nan_to_num(beyond.self_share_ratio).sum()),
        found=found,
    )
