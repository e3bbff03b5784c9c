"""Sums of one core's op line up to the edges of time bins, taken while the line is read.

How long the line lasts is known only at its end. So edges are multiples of a power of two of
picoseconds, and when there are too many of them, every other one goes.
"""

from collections.abc import Sequence

import numpy as np

from roofline.importers.shared.time_bins import most_bins, steps_that_fit
from roofline.importers.xspace.nested_sums import RowSums
from roofline.model.op_columns import F64, I64

SUMS = 3
"""Planes of the sums: time, own time, occurrences."""

_FINEST_PS = 1 << 10
# Times past this are those of damaged files.
_LATEST_PS = 1 << 62


class LineBins:
    """Edges as they come up, and the sums of rows and the launch gaps up to each.

    `steps` are edges that stay. Call `coming` with each chunk's begins, let a `Walk` write its sums
    to `room`, and `put` what launch gaps there were.
    """

    def __init__(self, n_rows: int, steps: I64) -> None:
        self.most = most_bins(n_rows)
        self._n_rows, self._given = n_rows, steps
        self.steps = steps_that_fit(steps, self.most)
        # Most programs mark all of their steps: then few edges have to go.
        span_ps = int(steps.max()) - int(steps.min()) if len(steps) else 0
        self.width_ps = _power_of_two(max(span_ps // self.most, _FINEST_PS))
        self._edges = np.empty(self.most, np.int64)
        self._sums = np.empty((self.most, SUMS, n_rows))
        self._launch_ps = np.empty(self.most)
        self._count, self._reached = 0, -1
        self._last = np.zeros((SUMS, n_rows))
        self.is_broken = False

    def anew(self) -> "LineBins":
        """Bins of the same line that have seen nothing."""
        return LineBins(self._n_rows, self._given)

    def coming(self, first_ps: int, last_ps: int) -> I64:
        """The edges after those that came, as far as `last_ps`; `first_ps` begins the first event.

        Makes room for them.
        """
        if self._reached < 0:
            self._reached = first_ps
        reached, self._reached = self._reached, max(last_ps, self._reached)
        if not 0 <= reached <= last_ps < _LATEST_PS:  # out of order, or of a damaged file
            self.is_broken = True
            return self.steps[:0]
        while True:
            if last_ps // self.width_ps - reached // self.width_ps <= self.most:
                edges = _between(reached, last_ps, self.width_ps, self.steps)
                if self._count + len(edges) <= self.most:
                    return edges
            self._coarsen(self._needed(reached, last_ps))

    def room(self, n_edges: int) -> F64:
        """Where the sums up to the next edges go, of shape (edges, planes, rows)."""
        return self._sums[self._count : self._count + n_edges]

    def put(self, edges: I64, launch_ps: F64) -> None:
        """The sums of these edges are written; these are the launch gaps before them."""
        new = slice(self._count, self._count + len(edges))
        self._edges[new], self._launch_ps[new] = edges, launch_ps
        self._count += len(edges)

    def end(self, sums: RowSums) -> None:
        """The line has ended; these are its sums."""
        self._last = np.array([sums.time_ps, sums.self_time_ps, sums.occurrences], np.float64)

    def at(self, edges: I64, last_launch_ps: float) -> tuple[F64, F64]:
        """Sums and launch gaps up to `edges`, of which those within the line have come up.

        Before the first event all are 0.
        """
        came = self._edges[: self._count]
        place = np.searchsorted(came, edges)
        places = np.append(came, -1)[place] == edges
        late = np.broadcast_to(self._last, (len(edges), SUMS, self._n_rows))
        sums = np.where((edges >= self._reached)[:, None, None], late, 0.0)
        sums[places] = self._sums[place[places]]
        launch = np.where(edges >= self._reached, last_launch_ps, 0.0)
        launch[places] = self._launch_ps[place[places]]
        return sums, launch

    def _needed(self, reached: int, last_ps: int) -> int:
        """The next width: at least twice this one, and wide enough for what is to come."""
        wanted = max((last_ps - reached) // self.most, 2 * self.width_ps)
        return _power_of_two(wanted)

    def _coarsen(self, width_ps: int) -> None:
        self.width_ps = width_ps
        came = self._edges[: self._count]
        at_edges = np.flatnonzero((came % width_ps == 0) | np.isin(came, self.steps))
        for column in (self._edges, self._sums, self._launch_ps):
            column[: len(at_edges)] = column[at_edges]
        self._count = len(at_edges)


def _power_of_two(least: int) -> int:
    return 1 << (least - 1).bit_length()


def common_edges(bins: Sequence[LineBins], first_ps: int, last_ps: int) -> I64:
    """The edges of all cores: begin, end and steps, and multiples of the widest core's width, or
    of twice it, four times …"""
    width_ps, most = max(core.width_ps for core in bins), min(core.most for core in bins)
    steps = bins[0].steps
    while (last_ps - first_ps) // width_ps > most:
        width_ps *= 2
    while True:
        inner = _between(first_ps, last_ps, width_ps, steps)
        if len(inner) < most:
            return np.unique(np.concatenate([[first_ps], inner, [last_ps]]))
        width_ps *= 2


def _between(after: int, upto: int, width_ps: int, steps: I64) -> I64:
    """Multiples of the width and edges of steps, after `after` and up to `upto`."""
    multiples: I64 = np.arange(after // width_ps + 1, upto // width_ps + 1) * width_ps
    chosen = steps[(steps > after) & (steps <= upto)]
    return np.union1d(multiples, chosen) if len(chosen) else multiples
