"""Accelerators as `roofline calibrate` measured them: one JSON file of a machine and a device.

They lie in the folder `machines` beside this machine's own measurements. A value that cannot be
right, or that something disturbed, is kept and is not a peak: then the data sheet's holds.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from roofline.devices.catalogue import find
from roofline.devices.choice import MEASURED
from roofline.devices.parts import Figure, FigureStatus, Part, Source
from roofline.devices.this_machine import machine_files
from roofline.errors import BadViewError
from roofline.model.device import PeakOrigin

SCHEMA = "roofline.machine/1"
ABOVE, BELOW = 1.03, 0.5
_ID = re.compile(r"measured:([A-Za-z0-9][A-Za-z0-9._-]{0,99})/([A-Za-z0-9][A-Za-z0-9._-]{0,99})\Z")
# A pair of devices has the rate of all links where a switch joins them.
_OF_LINKS = {"pcie": "pcie_oneway"}
_NO_ROOF = ("launch_us", "link")


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredValue:
    """One value in FLOP/s or B/s. `published` is the data sheet's, per device; `why_not` says why
    it is not a peak, and is empty where it is one."""

    key: str
    burst: float
    sustained: float
    spread: float
    how: str
    published: float | None
    why_not: str

    @property
    def unit(self) -> str:
        """Of `burst`."""
        if self.key == "launch_us":
            return "us"
        return "FLOP/s" if self.key.startswith(("matrix_", "vector_")) else "B/s"


def folder() -> Path:
    """Where measurements of accelerators are kept."""
    return machine_files()[0].parent / "machines"


def measured_id(host: str, device: str) -> str:
    """The id of a device as measured on a machine: `measured:HOST/DEVICE`."""
    return f"{MEASURED}{_word(host) or 'host'}/{_word(device) or 'device'}"


def path_of(part_id: str) -> Path | None:
    """The file of an id; `None` where it is not one."""
    found = _ID.match(part_id)
    return None if found is None else folder() / found[1] / f"{found[2]}.json"


def measured_ids() -> list[str]:
    """All devices that were measured."""
    found = sorted(folder().glob("*/*.json"))
    return [f"{MEASURED}{path.parent.name}/{path.stem}" for path in found]


def values_of(entry: Mapping[str, Any]) -> Iterator[MeasuredValue]:
    """All values of a measurement, each checked against the data sheet."""
    part = find(str(entry["device"]))
    for key, value in entry["values"].items():
        burst = float(value["burst"])
        published = _published(part, key)
        ratio = None if published is None else burst / published
        yield MeasuredValue(
            key=key,
            burst=burst,
            sustained=float(value["sustained"]),
            spread=float(value["spread"]),
            how=str(value["how"]),
            published=published,
            why_not=_why_not(ratio, str(value.get("disturbed", ""))),
        )


def _why_not(ratio: float | None, disturbed: str) -> str:
    if disturbed:
        return f"Disturbed: {disturbed}."
    if ratio is not None and ratio > ABOVE:
        return f"{ratio:.2f} times the data sheet's: check the part or the clock."
    if ratio is not None and ratio < BELOW:
        return (
            f"{ratio:.0%} of the data sheet's: is the device shared or capped, or does this library"
            " miss its fast path?"
        )
    return ""


def _published(part: Part | None, key: str) -> float | None:
    if part is None or key in _NO_ROOF:
        return None
    value = part.value(_OF_LINKS.get(key, key))
    return None if value is None else value / part.devices_per_chip


def measured_part(part_id: str) -> tuple[Part, Part | None]:
    """The device of this id with what was measured, and the catalogue's part.

    Raises `BadViewError` where there is none, or where its file is damaged.
    """
    path = path_of(part_id)
    try:
        entry = json.loads(path.read_bytes()) if path is not None else {}
        return part_of_entry(entry, part_id)
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        listed = ", ".join(measured_ids()) or "none"
        raise BadViewError(
            f"No device was measured as {part_id[:200]}.", remedy=f"Measured are: {listed}."
        ) from error


def part_of_entry(entry: Mapping[str, Any], part_id: str) -> tuple[Part, Part | None]:
    """The part that a measurement describes, and the catalogue's."""
    if entry["schema"] != SCHEMA:
        raise ValueError(f"schema {entry['schema']} of a measurement")
    own = find(str(entry["device"]))
    if own is None:
        raise ValueError(f"{entry['device']} is not in the catalogue")
    source = Source(
        key="calibrate",
        title=f"Measured on {entry['host']}, {entry['measured_on']}",
        address="",
        revision="",
        kind="measured",
    )
    figures = []
    for one in values_of(entry):
        if not one.why_not and one.key not in _NO_ROOF:
            of = _OF_LINKS.get(one.key, one.key)
            made = Figure(
                of=of,
                value=one.burst,
                unit=one.unit,
                status=FigureStatus.CHOSEN,
                source=source,
                note=one.how,
            )
            sustained = replace(made, value=one.sustained, status=FigureStatus.SUSTAINED)
            figures += [made, sustained]
    part = replace(
        own,
        id=part_id,
        name=f"{own.name}, as measured on {entry['host']}",
        aliases=(),
        shared_aliases=(),
        devices_per_chip=1,
        figures=tuple(figures),
        origin=PeakOrigin.CALIBRATED,
        hostname=str(entry["host"]),
        notes=f"{source.title} with `roofline calibrate`: not a data sheet's values.",
    )
    return part, own


def _word(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-._")[:100]
