"""The savings of levers, clipped by the next roof, and a plan whose savings add up.

An op needs at least rho, the longest of its clocks, and runs at e = rho / T. A lever that scales
work keeps e; one that closes the gap ends at a target; both never end below rho. `docs/advice.md`
has the formulas and their source.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from roofline.advice.formula import IMPOSSIBLE, closer_us, less_work_us
from roofline.analysis.roofline import Floats
from roofline.model.op_columns import I64


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class State:
    """Rows of a program: ops, and parts of the time that no op has (communication, idle).

    `busy_us` is the time that the row took, `own_us` the part in which nothing else ran: the rows'
    own times add up to the program's. `clocks` are times at the peak of each resource, of shape
    (rows,), NaN where unknown. All are per unit of the advice (a step). The program never takes
    less than `least_us`: the busiest link needs that at its peak.
    """

    busy_us: Floats
    own_us: Floats
    clocks: Mapping[str, Floats]
    least_us: float = 0.0
    _ends: "dict[Lever, State]" = field(default_factory=dict)

    def end_of(self, lever: "Lever") -> "State":
        """The rows of `lever` with it applied: rules, the plan and its texts ask for the same."""
        if lever not in self._ends:
            self._ends[lever] = _changed(self.at(lever.rows), lever, _left_us(self))
        return self._ends[lever]

    def roof_us(self) -> Floats:
        """The longest clock of each row; 0 without any."""
        longest = np.zeros_like(self.own_us)
        for clock in self.clocks.values():
            longest = np.fmax(longest, clock)
        return longest

    def at(self, rows: I64) -> "State":
        """These rows alone."""
        return State(
            busy_us=self.busy_us[rows],
            own_us=self.own_us[rows],
            clocks={name: column[rows] for name, column in self.clocks.items()},
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Lever:
    """A change of `rows`: work by factors, the gap to the roof, or the time itself.

    `scale` multiplies clocks, one factor per row. `target` is the share of the roof to reach, per
    row. `time_us` is the time after the change, for rows that a formula of its own decides.
    """

    rows: I64
    scale: Mapping[str, Floats] = field(default_factory=dict)
    target: Floats | None = None
    time_us: Floats | None = None


def after(state: State, lever: Lever) -> State:
    """The state with `lever` applied. Rows above their roof, or of unknown cost, do not change."""
    changed = state.end_of(lever)

    def placed(whole: Floats, part: Floats) -> Floats:
        column = whole.copy()
        column[lever.rows] = part
        return column

    return State(
        busy_us=placed(state.busy_us, changed.busy_us),
        own_us=placed(state.own_us, changed.own_us),
        clocks={name: placed(state.clocks[name], one) for name, one in changed.clocks.items()},
        least_us=state.least_us,
    )


def _left_us(state: State) -> float:
    """The time that the program can still lose."""
    return max(float(state.own_us.sum()) - state.least_us, 0.0)


def _changed(rows: State, lever: Lever, left_us: float) -> State:
    """The rows of a lever with it applied; together they save `left_us` at most."""
    clocks = {name: one * lever.scale.get(name, 1.0) for name, one in rows.clocks.items()}
    changed = replace(rows, clocks=clocks)
    before_us, roof_us = rows.roof_us(), changed.roof_us()
    busy_us, own_us = rows.busy_us, rows.own_us
    e = before_us / np.where(busy_us > 0, busy_us, np.inf)
    counts = e > 0
    if lever.time_us is not None:
        new_us, counts = lever.time_us, busy_us > 0
    elif lever.target is not None:
        new_us = closer_us(busy_us, roof_us, lever.target)
    else:
        new_us = less_work_us(roof_us, np.where(counts, e, 1.0))
    counts = counts & (e <= IMPOSSIBLE.value)
    new_us = np.clip(new_us, np.minimum(roof_us, busy_us), busy_us)
    # Of a row that others cover, only its own time can be saved, and none of what its work needs.
    saved_us = np.clip(busy_us - new_us, 0.0, np.maximum(own_us - roof_us, 0.0))
    saved_us = np.where(counts, saved_us, 0.0)
    saved_us *= min(1.0, left_us / (float(saved_us.sum()) or 1.0))
    return State(
        busy_us=np.where(counts, new_us, busy_us),
        own_us=own_us - saved_us,
        clocks={name: np.where(counts, clocks[name], one) for name, one in rows.clocks.items()},
    )


def saving_us(state: State, lever: Lever) -> float:
    """The time that `lever` takes from the program's."""
    return float((state.own_us[lever.rows] - state.end_of(lever).own_us).sum())


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Plan:
    """Levers by what each adds after those before it: places in the list given, and savings."""

    order: tuple[int, ...]
    savings_us: tuple[float, ...]
    end: State


def greedy_plan(state: State, levers: Sequence[Lever], least_us: float = 0.0) -> Plan:
    """The largest saving first, then the largest of what is left; none below `least_us`."""
    left = dict.fromkeys(range(len(levers)))
    alone = {place: saving_us(state, levers[place]) for place in left}
    order, savings = [], []
    while left:
        best = max(left, key=lambda place: alone[place])
        if not alone[best] > max(least_us, 0.0):
            break
        touched = np.zeros(len(state.own_us), np.bool_)
        touched[levers[best].rows] = True
        state = after(state, levers[best])
        order.append(best)
        savings.append(alone[best])
        del left[best]
        is_short = _left_us(state) < max((alone[place] for place in left), default=0.0)
        for place in left:  # levers on the same rows save less than before, and all near the least
            if is_short or touched[levers[place].rows].any():
                alone[place] = saving_us(state, levers[place])
    return Plan(order=tuple(order), savings_us=tuple(savings), end=state)
