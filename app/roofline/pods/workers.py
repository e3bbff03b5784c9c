"""The hosts of a run in order, those that do its work, and one operation on each of them.

Hosts of several programs are not held against each other.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from roofline.model.op_columns import I64
from roofline.pods.blocks import HOSTS_BETWEEN_RELEASES, keep
from roofline.pods.partial import OCCURRENCES, SELF, Names, Partial
from roofline.pods.report import LEAST_READABLE, OpKey

# Namesakes have numbers, which differ from process to process.
_ID = re.compile(r"\(\d+\)\Z")
_SHARED = 0.5
KEY_CHARACTERS = 16
_DIGITS = re.compile(r"([0-9]+)")

_Order = tuple[int, tuple[object, ...], str, tuple[object, ...], str, str]


def in_order(partials: Iterable[Partial]) -> list[Partial]:
    """The hosts in order, each file once, with a name of its own for each."""
    by_digest = {one.header.file_digest: one for one in sorted(partials, key=_order, reverse=True)}
    hosts = sorted(by_digest.values(), key=_order)
    shared = Counter(one.header.host for one in hosts)
    files = Counter((one.header.host, one.header.file_name) for one in hosts)
    return [
        _called(one, files[one.header.host, one.header.file_name])
        if shared[one.header.host] > 1
        else one
        for one in hosts
    ]


def _called(partial: Partial, namesakes: int) -> Partial:
    """The partial of a host that several files name, with the name of its file.

    Where files in several folders have one name, it also has the beginning of its digest.
    """
    header = partial.header
    file = header.file_name if namesakes == 1 else f"{header.file_name}, {header.file_digest[:8]}"
    return replace(partial, header=replace(header, host=f"{header.host} ({file})"))


def _order(partial: Partial) -> _Order:
    """Ranks by number where files tell them, hosts by name; the rest decides between equals."""
    header = partial.header
    host, file = header.host, header.file_name
    names = (_counted(host), host, _counted(file), file)
    return (header.known_rank, *names, header.file_digest)


def _counted(name: str) -> tuple[object, ...]:
    """A name by which `w-2` comes before `w-10`: texts and numbers take turns."""
    parts = _DIGITS.split(name)
    bare = (part.lstrip("0") if k % 2 else part for k, part in enumerate(parts))
    return tuple((len(part), part) if k % 2 else part for k, part in enumerate(bare))


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The hosts that are held against each other, and those that ran `others`: by file, the name of
    their program. `is_one_program` is false where these are too many to tell which run is meant:
    all hosts are workers then."""

    workers: list[Partial]
    others: dict[str, str]
    is_one_program: bool


def parts_of(hosts: Sequence[Partial], release: Callable[[], None] = keep) -> Parts:
    """The hosts that do the work: those whose accelerator did some, if any has one, and that ran
    the program of the others."""
    accelerated = [one for one in hosts if one.header.has_accelerator and one.chip_ps.any()]
    found = accelerated or list(hosts)
    called = other_programs(found, release)
    others = {
        one.header.file_digest: name
        for one, name in zip(found, called, strict=True)
        if name is not None
    }
    workers = [one for one in found if one.header.file_digest not in others]
    if len(workers) < LEAST_READABLE * len(found):
        return Parts(workers=found, others={}, is_one_program=False)
    return Parts(workers=workers, others=others, is_one_program=True)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class OpOnHost:
    """An operation on one host: self time in ps per core; `None` where the host did not run it."""

    host: str
    self_ps: int | None
    occurrences: int


def op_id(key: OpKey) -> str:
    """The name of a run's operation in addresses: the start of a digest of its names."""
    text = json.dumps([key.program, key.name, key.category])
    return hashlib.sha256(text.encode()).hexdigest()[:KEY_CHARACTERS]


def op_on_hosts(partials: Iterable[Partial], wanted: str) -> list[OpOnHost]:
    """The operation with this id on the hosts that do the work, in order; empty if unknown."""
    places: dict[str, int | None] = {}
    found = []
    for partial in parts_of(in_order(partials)).workers:
        names = partial.names
        if names.digest not in places:
            ids = (k for k, key in enumerate(names.keys) if op_id(key) == wanted)
            places[names.digest] = next(ids, None)
        found.append(_on_host(partial, places[names.digest]))
    return found if any(one.self_ps is not None for one in found) else []


def _on_host(partial: Partial, place: int | None) -> OpOnHost:
    occurrences = 0 if place is None else int(partial.ops[OCCURRENCES, place])
    self_ps = None
    if place is not None and occurrences:
        self_ps = int(partial.ops[SELF, place]) // partial.header.cores
    return OpOnHost(host=partial.header.host, self_ps=self_ps, occurrences=occurrences)
