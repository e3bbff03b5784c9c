"""One operation on every host of a run."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass

from roofline.pods.partial import OCCURRENCES, SELF, OpKey, Partial
from roofline.pods.reduce import in_order, parts_of

KEY_CHARACTERS = 16


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
