"""The hardware catalogue: `catalogue.json`, read at first use (about 2 ms).

Some figures follow from an architecture: what one processor does per cycle, times processors and
clock. JSON, not TOML: the standard library's TOML reader takes twenty times as long for this file.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import accumulate
from typing import Any

from roofline.devices.parts import (
    CLOCK,
    PROCESSORS,
    Figure,
    FigureStatus,
    LinkShape,
    Part,
    Source,
)
from roofline.model.compute import ComputeUnit
from roofline.model.device import DeviceKind
from roofline.model.plain_data import read_beside
from roofline.model.units import GIGA

_UNITS = {unit.value for unit in ComputeUnit}
_WORD = re.compile(r"[a-z0-9]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Architecture:
    """The rates of one processor (an SM) per cycle: FLOP by unit, bytes by memory level.

    A rate of 0 is a unit that the architecture lacks; `notes` say more of single rates.
    """

    rates: Mapping[str, int]
    source: Source
    notes: Mapping[str, str] = field(default_factory=dict)


def derived_figures(architecture: Architecture, stated: tuple[Figure, ...]) -> Iterator[Figure]:
    """Rates that `stated`, a part's own figures, do not have: processors × rate × clock."""
    chosen = {one.of: one for one in stated if one.status is FigureStatus.CHOSEN}
    processors, clock = chosen[PROCESSORS].value, chosen[CLOCK].value
    for of, rate in architecture.rates.items():
        if of not in chosen:
            yield Figure(
                of=of,
                value=processors * rate * clock,
                unit=_unit(of),
                status=FigureStatus.CHOSEN,
                source=architecture.source,
                note=_note(architecture, of, f"{processors:g} SMs × {rate}", clock),
            )


def _note(architecture: Architecture, of: str, product: str, clock: float) -> str:
    if not architecture.rates[of]:
        return "not supported"
    counted = {"FLOP/s": "FLOP", "op/s": "operations", "B/s": "bytes"}[_unit(of)]
    words = f"{product} {counted} per cycle × {clock / GIGA:g} GHz"
    return ", ".join(piece for piece in (words, architecture.notes.get(of)) if piece)


def _unit(of: str) -> str:
    if of not in _UNITS:
        return "B/s"
    return "op/s" if of.partition("_")[2].startswith("int") else "FLOP/s"


def parts() -> tuple[Part, ...]:
    """Every part: TPUs, NVIDIA, AMD, Intel, each from old to new; then other accelerators."""
    return tuple(map(_part, range(len(_document()["parts"]))))


def gpus(*, family: str = "", vendor: str = "") -> tuple[Part, ...]:
    """GPUs of a family as a profiler names it, or of a vendor; each only where it is given."""
    return tuple(
        _part(at)
        for at, fields in enumerate(_document()["parts"])
        if fields["kind"] == DeviceKind.GPU
        and (not family or spelling(fields["family"]) == family)
        and vendor in ("", fields["vendor"])
    )


def sources() -> Mapping[str, Source]:
    """Every source by key."""
    return _sources()


def part(part_id: str) -> Part | None:
    """The part with this id."""
    found = find(part_id)
    return found if found is not None and found.id == part_id else None


def find(name: str) -> Part | None:
    """The part that a device name, part name or id means exactly; capitals do not matter.

    Never by substring: "NVIDIA L40S" holds "L4", "NVIDIA GB200" holds "B200".
    """
    at = _by_name().get(spelling(name))
    return None if at is None else _part(at)


def sharing(name: str) -> tuple[Part, ...]:
    """The parts that devices of this name can be: "NVIDIA H100" is one of several."""
    return tuple(map(_part, _by_shared_name().get(spelling(name), ())))


def fitting(written: str) -> tuple[Part, ...]:
    """The parts that a person can mean: "v6e", "4090", "H100 SXM", "a100 pcie 40gb".

    A name decides whatever stands between its words, an id also without its family ("tpu").
    Otherwise the part has to have every word, or words that are written as one.
    """
    words = _WORD.findall(written.casefold())
    alike = [at for at, (names, _) in enumerate(_written()) if "".join(words) in names]
    holding = [at for at, (_, known) in enumerate(_written()) if words and known.issuperset(words)]
    return tuple(map(_part, alike or holding))


def spelling(name: str) -> str:
    """`name` without what spellings differ in: capitals and spaces around."""
    return " ".join(name.split()).casefold()


@cache
def _by_name() -> Mapping[str, int]:
    return {
        spelling(name): at
        for at, fields in enumerate(_document()["parts"])
        for name in (fields["id"], fields["name"], *fields["aliases"])
    }


@cache
def _written() -> Sequence[tuple[set[str], set[str]]]:
    """Of each part its names with nothing between words, and its words and runs of them."""
    return [
        (
            {"".join(words) for words in (*names, _without_family(names[0]))},
            {run for words in names for run in _runs(words)},
        )
        for names in (
            [_WORD.findall(name.casefold()) for name in (one["id"], one["name"], *one["aliases"])]
            for one in _document()["parts"]
        )
    ]


def _without_family(words: Sequence[str]) -> Sequence[str]:
    """A word of letters, such as "rtx", is the family of several."""
    return words[words[0].isalpha() :]


def _runs(words: Sequence[str]) -> Iterator[str]:
    for begin in range(len(words)):
        yield from accumulate(words[begin:])


@cache
def _by_shared_name() -> Mapping[str, Sequence[int]]:
    found: dict[str, list[int]] = {}
    for at, fields in enumerate(_document()["parts"]):
        for name in fields.get("shared_aliases", ()):
            found.setdefault(spelling(name), []).append(at)
    return found


@cache
def _document() -> Mapping[str, Any]:
    document: Mapping[str, Any] = read_beside(__file__, "catalogue.json")
    return document


@cache
def _sources() -> Mapping[str, Source]:
    return {key: Source(key=key, **fields) for key, fields in _document()["sources"].items()}


@cache
def _architectures() -> Mapping[str, Architecture]:
    return {
        key: Architecture(**{**fields, "source": _sources()[fields["source"]]})
        for key, fields in _document()["architectures"].items()
    }


@cache
def _part(at: int) -> Part:
    """The part at this place of the file, made when it is first asked for."""
    fields = _document()["parts"][at]
    stated = tuple(_figure(one) for one in fields["figures"])
    architecture = _architectures().get(fields.get("architecture", ""))
    derived = derived_figures(architecture, stated) if architecture else ()
    read = {
        "kind": DeviceKind(fields["kind"]),
        "aliases": tuple(fields["aliases"]),
        "shared_aliases": tuple(fields.get("shared_aliases", ())),
        "memory_variants": tuple(fields.get("memory_variants", ())),
        "figures": (*stated, *derived),
        "topology": LinkShape(**fields["topology"]) if "topology" in fields else None,
    }
    plain = {key: value for key, value in fields.items() if key != "architecture"}
    return Part(**{**plain, **read})


def _figure(fields: Mapping[str, Any]) -> Figure:
    status, source = _STATUSES[fields["status"]], _sources()[fields["source"]]
    return Figure(**{**fields, "status": status, "source": source})


_STATUSES = {status.value: status for status in FigureStatus}
