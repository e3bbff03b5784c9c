"""The hardware catalogue: `catalogue.json`, read at first use (about 3 ms).

JSON, not TOML: the standard library's TOML reader takes twenty times as long for this file.
"""

import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from roofline.devices.parts import Figure, FigureStatus, Part, Source
from roofline.model.device import DeviceKind

_FILE = Path(__file__).with_name("catalogue.json")


def parts() -> tuple[Part, ...]:
    """Every part: TPUs, NVIDIA, AMD, Intel, each from old to new."""
    return _load()


def sources() -> Mapping[str, Source]:
    """Every source by key."""
    return _sources()


def part(part_id: str) -> Part | None:
    """The part with this id."""
    return next((one for one in parts() if one.id == part_id), None)


def find(name: str) -> Part | None:
    """The part that a device name, part name or id means exactly; capitals do not matter.

    Never by substring: "NVIDIA L40S" holds "L4", "NVIDIA GB200" holds "B200".
    """
    return _by_name().get(spelling(name))


def spelling(name: str) -> str:
    """`name` without what spellings differ in: capitals and spaces around."""
    return " ".join(name.split()).casefold()


@lru_cache(maxsize=1)
def _by_name() -> Mapping[str, Part]:
    return {
        spelling(name): one for one in parts() for name in (one.id, one.name, *one.aliases) if name
    }


@lru_cache(maxsize=1)
def _document() -> Mapping[str, Any]:
    document: Mapping[str, Any] = json.loads(_FILE.read_bytes())
    return document


@lru_cache(maxsize=1)
def _sources() -> Mapping[str, Source]:
    return {key: Source(key=key, **fields) for key, fields in _document()["sources"].items()}


@lru_cache(maxsize=1)
def _load() -> tuple[Part, ...]:
    return tuple(_part(fields) for fields in _document()["parts"])


def _part(fields: Mapping[str, Any]) -> Part:
    read = {
        "kind": DeviceKind(fields["kind"]),
        "aliases": tuple(fields["aliases"]),
        "memory_variants": tuple(fields.get("memory_variants", ())),
        "figures": tuple(_figure(one) for one in fields["figures"]),
    }
    return Part(**{**fields, **read})


def _figure(fields: Mapping[str, Any]) -> Figure:
    status, source = _STATUSES[fields["status"]], _sources()[fields["source"]]
    return Figure(**{**fields, "status": status, "source": source})


_STATUSES = {status.value: status for status in FigureStatus}
