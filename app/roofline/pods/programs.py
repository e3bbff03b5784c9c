"""Whether hosts run one program: those of several are not held against each other."""

import re
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from roofline.model.op_columns import I64
from roofline.pods.blocks import HOSTS_BETWEEN_RELEASES
from roofline.pods.partial import Names, Partial
from roofline.pods.verdicts import LEAST_READABLE

# Namesakes have numbers, which differ from process to process.
_ID = re.compile(r"\(\d+\)\Z")


def is_one_program(hosts: Sequence[Partial], release: Callable[[], None]) -> bool:
    """True where the program that works longest is the same on nine of ten hosts, by its name."""
    tables = {one.names.digest: one.names for one in hosts}
    if len(tables) < 2:
        return True
    known = {digest: _programs(names) for digest, names in tables.items()}
    found = Counter[str]()
    for number, one in enumerate(hosts):
        if number % HOSTS_BETWEEN_RELEASES == 0:
            release()
        names, of_op = known[one.names.digest]
        if names and one.work_ps.any():
            work = np.bincount(of_op, one.work_ps.sum(axis=0), len(names))
            found[names[int(work.argmax())]] += 1
    return max(found.values(), default=0) >= LEAST_READABLE * found.total()


def _programs(table: Names) -> tuple[list[str], I64]:
    """The names of programs in order, and the place of each operation's among them."""
    called = [_ID.sub("", key.program) for key in table.keys]
    names = sorted(set(called))
    place = {name: k for k, name in enumerate(names)}
    return names, np.array([place[one] for one in called], np.int64)
