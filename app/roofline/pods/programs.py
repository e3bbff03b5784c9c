"""Whether hosts run one program: those of several are not held against each other."""

import re
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from roofline.model.op_columns import I64
from roofline.pods.blocks import HOSTS_BETWEEN_RELEASES
from roofline.pods.partial import Names, Partial

# Namesakes have numbers, which differ from process to process.
_ID = re.compile(r"\(\d+\)\Z")
_SHARED = 0.5


def other_programs(hosts: Sequence[Partial], release: Callable[[], None]) -> list[str | None]:
    """For each host the program that it ran in place of the others', by its name; else `None`.

    A program is common where more than half of the hosts worked in it. A host ran another one if
    less than half of its work is in common programs: of two programs that last as long as each
    other, either may be the longer one of a host.
    """
    tables = {one.names.digest: one.names for one in hosts}
    if len(tables) < 2:
        return [None] * len(hosts)
    known = {digest: _programs(names) for digest, names in tables.items()}
    works = []
    for number, one in enumerate(hosts):
        if number % HOSTS_BETWEEN_RELEASES == 0:
            release()
        works.append(_work(one, *known[one.names.digest]))
    ran_on = Counter(name for work in works for name in work)
    limit = _SHARED * sum(map(bool, works))
    return [_other({name for name in work if ran_on[name] > limit}, work) for work in works]


def _work(host: Partial, names: Sequence[str], of_op: I64) -> dict[str, float]:
    """The work of a host in each program in which it did some."""
    work = np.bincount(of_op, host.work_ps.sum(axis=0), len(names)).tolist()
    return {name: time for name, time in zip(names, work, strict=True) if time > 0}


def _other(common: set[str], work: dict[str, float]) -> str | None:
    inside = sum(time for name, time in work.items() if name in common)
    if inside >= _SHARED * sum(work.values()):
        return None
    return max((name for name in work if name not in common), key=lambda name: (work[name], name))


def _programs(table: Names) -> tuple[list[str], I64]:
    """The names of programs in order, and the place of each operation's among them."""
    called = [_ID.sub("", key.program) for key in table.keys]
    names = sorted(set(called))
    place = {name: k for k, name in enumerate(names)}
    return names, np.array([place[one] for one in called], np.int64)
