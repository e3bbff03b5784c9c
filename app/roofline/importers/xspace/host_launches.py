"""When the host launched kernels: its events that share a correlation id with them."""

from collections.abc import Iterator, Sequence

import numpy as np

from roofline.importers.shared.idle_time import NO_LAUNCH
from roofline.importers.xspace.launch_forest import CORRELATION
from roofline.importers.xspace.planes import Plane
from roofline.model.op_columns import I64, U64

_MOST_FLAGS = 1 << 26


class HostLaunches:
    """The launches on all threads of one host. Times count from `origin`, in ps."""

    def __init__(self, hosts: Sequence[Plane], origin: U64) -> None:
        self._hosts = [plane for plane in hosts if plane.has_stat(CORRELATION)]
        self._origin = origin

    @property
    def are_there(self) -> bool:
        """True where the file has any."""
        return bool(self._hosts)

    def of(self, correlation: I64) -> I64:
        """When kernels with these ids were launched; `NO_LAUNCH` where that is not in the file.

        Reads the threads each time: ask once for many.
        """
        return self._of(correlation.view(np.uint64))

    def _of(self, correlation: U64) -> I64:
        launched = np.full(len(correlation), NO_LAUNCH)
        if not len(correlation):
            return launched
        ids = np.unique(correlation)
        first = np.full(len(ids), NO_LAUNCH)
        is_wanted = _Wanted(ids)
        for found, begin in self._launches(is_wanted):
            np.minimum.at(first, np.searchsorted(ids, found), begin)
        known = correlation > 0
        launched[known] = first[np.searchsorted(ids, correlation[known])]
        return launched

    def _launches(self, is_wanted: "_Wanted") -> Iterator[tuple[U64, I64]]:
        """Ids and begins of the wanted launches."""
        for plane in self._hosts:
            for line in plane.lines:
                if not line.event_count:
                    continue
                for events in plane.chunks(line, (CORRELATION,)):
                    column = events.stats.get(CORRELATION)
                    if column is not None:
                        ids = column.int_or_uint()
                        at = is_wanted(ids)
                        yield ids[at], (events.begin_ps[at] - self._origin).view(np.int64)


class _Wanted:
    """Which of many ids are among some: with a flag for each, while they are not too large."""

    def __init__(self, ids: U64) -> None:
        self._ids, self._flags = ids, np.zeros(0, np.bool_)
        if int(ids[-1]) < _MOST_FLAGS:
            self._flags = np.zeros(int(ids[-1]) + 2, np.bool_)
            self._flags[ids] = True

    def __call__(self, ids: U64) -> I64:
        """The places of the wanted ones."""
        if len(self._flags):
            # All that are larger share the last flag, which is not set.
            return np.flatnonzero(self._flags[np.minimum(ids, len(self._flags) - 1)])
        return np.flatnonzero(np.isin(ids, self._ids))
