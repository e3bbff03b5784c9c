"""The clocks of every op, where a program has so few that groups would repeat the table.

As `static/js/page/clocks-card.js`.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from roofline.presentation.first_view.table import token_class
from roofline.presentation.page_rows import Rows
from roofline.presentation.quantities import duration

MOST_OPS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockBar:
    """A resource and the time the op's work needs there; `width` in percent of the longest."""

    label: str
    time: str
    width: str
    css: str
    is_longest: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class OpClocks:
    """An op with the time that was measured and its clocks; none where nothing is known."""

    name: str
    symbol: str
    token: str
    measured: str
    bars: tuple[ClockBar, ...]


def op_clocks(rows: Rows) -> tuple[OpClocks, ...]:
    """The ops with their clocks, the longest first; empty for a program of more than a few."""
    costs = rows.column("cost")
    ops = [op for op in range(len(rows)) if costs[op] != "idle"]
    if len(ops) > MOST_OPS:
        return ()
    found = tuple(_of(rows, op) for op in ops)
    return found if any(one.bars for one in found) else ()


def _of(rows: Rows, op: int) -> OpClocks:
    measured = rows.column("total_time_per_core_us")[op]
    category = rows.categories[op]
    return OpClocks(
        name=rows.names("short")[op] or rows.column("name")[op],
        symbol=category["symbol"],
        token=category["token"],
        measured=duration(measured),
        bars=tuple(_bars(rows, op, measured)) if measured else (),
    )


def _bars(rows: Rows, op: int, measured: float) -> Iterator[ClockBar]:
    """The clocks per core, on one scale with the time that was measured."""
    per_core = measured / rows.column("total_time_us")[op]
    known = [
        (clock, us * per_core)
        for clock in rows.page.get("clocks", [])
        if (us := rows.column(clock["column"])[op])
    ]
    longest = max((us for _, us in known), default=0.0)
    for clock, us in known:
        yield ClockBar(
            label=clock["label"],
            time=duration(us),
            width=f"{100 * us / max(measured, longest):.1f}",
            css=token_class(clock["token"]),
            is_longest=us == longest,
        )
