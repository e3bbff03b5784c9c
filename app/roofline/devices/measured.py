"""Devices as `roofline calibrate` measured them: one JSON document of a machine and a device.

This machine's processor lies in the data folder that `ROOFLINE_DATA_DIR` names, else in the XDG
data home; a server with a folder of its own finds the latter, too. Others lie in the folder
`machines` beside it, and in the database of a server that they were sent to. A value that cannot
be right, or that something disturbed, is kept and is not a peak: then the data sheet's holds.
"""

import contextlib
import hashlib
import json
import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from roofline.devices.catalogue import find
from roofline.devices.parts import (
    MEASURED,
    THIS_MACHINE,
    Figure,
    FigureStatus,
    Part,
    Source,
)
from roofline.errors import BadViewError
from roofline.model.compute import ComputeUnit
from roofline.model.device import DeviceKind, PeakOrigin
from roofline.model.memory import MemoryLevel
from roofline.model.units import GIGA, TERA

SCHEMA = "roofline.machine/1"
_FILE = "this-machine.json"
ABOVE, BELOW = 1.03, 0.5
_ID = re.compile(r"measured:([A-Za-z0-9][A-Za-z0-9._-]{0,99})/([A-Za-z0-9][A-Za-z0-9._-]{0,99})\Z")
# A pair of devices has the rate of all links where a switch joins them.
_OF_LINKS = {"pcie": "pcie_oneway"}
_NO_ROOF = ("launch_us", "link")
_NAMED: tuple[ComputeUnit | MemoryLevel, ...] = (*ComputeUnit, *MemoryLevel)
_KEYS = {*_OF_LINKS, *_NO_ROOF, *(one.value for one in _NAMED)}

Entry = Mapping[str, Any]
_DAMAGED = (OSError, ValueError, LookupError, TypeError, AttributeError)
elsewhere: list[Callable[[str], Entry | None]] = []
"""Where ids are looked for that no file has: the databases of the servers of this process."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredValue:
    """One value in FLOP/s or B/s; `sustained` is `None` where nothing was measured while the work
    went on. `published` is the data sheet's, per device; `why_not` says why it is not a peak, and
    is empty where it is one."""

    key: str
    burst: float
    sustained: float | None
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

    @property
    def label(self) -> str:
        """Its key in words."""
        names = {one.value: one.label for one in _NAMED}
        return names.get(self.key) or {"pcie": "PCIe", "link": "Link"}.get(self.key, "Launch")

    def text(self, amount: float) -> str:
        """An amount of its unit: 712 TFLOP/s, 3,020 GB/s, 2.10 µs."""
        if self.unit == "us":
            return f"{amount:.2f} µs"
        scale, name = (TERA, "T") if self.unit == "FLOP/s" and amount >= TERA else (GIGA, "G")
        return f"{amount / scale:,.4g} {name}{self.unit}"


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredDevice:
    """A device as it was measured, and the catalogue's part that it is."""

    part: Part
    published: Part | None
    entry: Entry
    values: tuple[MeasuredValue, ...]


def machine_files() -> tuple[Path, ...]:
    """Where measurements are looked for, and in the first of which they are kept."""
    given = os.environ.get("ROOFLINE_DATA_DIR")
    home = Path(os.environ.get("XDG_DATA_HOME") or "~/.local/share") / "roofline"
    folders = (Path(given), home) if given else (home,)
    return tuple(folder.expanduser() / _FILE for folder in folders)


def read_machine() -> Part | None:
    """This machine's part, or `None` where nothing was measured or the file is of no use.

    A damaged file counts as none: the next `roofline calibrate` writes it again.
    """
    found = (_read(path) for path in machine_files())
    return next((part for part in found if part is not None), None)


def measurements_digest() -> str:
    """A digest of what `read_machine` gives, empty where nothing was measured."""
    found = (path.read_bytes() for path in machine_files() if _read(path) is not None)
    return next((hashlib.sha256(content).hexdigest()[:16] for content in found), "")


def may_be_this_machine(kind: DeviceKind) -> bool:
    """True for devices whose peaks `roofline calibrate` may have measured here: CPUs."""
    return kind is DeviceKind.CPU


def written_at_ns() -> int:
    """When measurements were last written, to see whether they changed; 0 where there are none."""
    names = "ROOFLINE_DATA_DIR", "XDG_DATA_HOME", "HOME"
    addresses = _addresses(tuple(os.environ.get(name) for name in names))
    return max(map(_written_at_ns, addresses))


@lru_cache(maxsize=16)
def _addresses(_environment: tuple[str | None, ...]) -> tuple[str, ...]:
    """`machine_files` and `folder`: `written_at_ns` is asked for each answer from memory."""
    return (*map(str, machine_files()), str(folder()))


def _written_at_ns(address: str) -> int:
    try:
        found = os.stat(address)
    except OSError:
        return 0
    return found.st_mtime_ns


def _read(path: Path) -> Part | None:
    try:
        return machine_part(json.loads(path.read_bytes()))
    except _DAMAGED:
        return None


def machine_part(entry: Entry) -> Part:
    """The part that a measurement of this machine describes, also one of an earlier release."""
    return part_of_entry(_of_today(entry) if "version" in entry else entry, THIS_MACHINE)[0]


def _of_today(entry: Entry) -> Entry:
    if entry["version"] != 1:
        raise ValueError(f"version {entry['version']} of a measurement")
    names = {"hostname": "host", "cpu": "device", "threads": "count"}
    values = {
        one["of"]: {"burst": one["value"], "spread": 0, "how": one.get("note", "")}
        for one in entry["figures"]
    }
    renamed = {names.get(key, key): value for key, value in entry.items()}
    return {**renamed, "schema": SCHEMA, "kind": DeviceKind.CPU, "values": values}


def folder() -> Path:
    """Where measurements of accelerators are kept."""
    return machine_files()[0].parent / "machines"


def measured_id(host: str, device: str) -> str:
    """The id of a device as measured on a machine, `measured:HOST/DEVICE`: at most 80 letters."""
    return f"{MEASURED}{_word(host)[:30] or 'host'}/{_word(device)[:40] or 'device'}"


def path_of(part_id: str) -> Path | None:
    """The file of an id; `None` where it is not one."""
    found = _ID.match(part_id)
    return None if found is None else folder() / found[1] / f"{found[2]}.json"


def measured_ids() -> list[str]:
    """All devices that were measured, of which there are files."""
    found = sorted(folder().glob("*/*.json"))
    return [f"{MEASURED}{path.parent.name}/{path.stem}" for path in found]


def entry_of(part_id: str) -> Entry | None:
    """The measurement of this id: from its file, or from a server's database; `None` without one.

    Raises `ValueError` for a file that is not JSON.
    """
    path = path_of(part_id)
    if path is not None:
        with contextlib.suppress(OSError):
            found: Entry = json.loads(path.read_bytes())
            return found
    return next((entry for look in elsewhere if (entry := look(part_id))), None)


def values_of(entry: Entry) -> Iterator[MeasuredValue]:
    """All values of a measurement, each checked against the data sheet.

    Raises `ValueError` for what is not a rate.
    """
    part = _published_part(entry)
    for key, value in entry["values"].items():
        burst, sustained = float(value["burst"]), value.get("sustained")
        if key not in _KEYS or not 0 < burst < math.inf:
            raise ValueError(f"{key} of {burst}")
        published = _published(part, key)
        ratio = None if published is None else burst / published
        yield MeasuredValue(
            key=key,
            burst=burst,
            sustained=None if sustained is None else float(sustained),
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
    try:
        return part_of_entry(entry_of(part_id) or {}, part_id)
    except _DAMAGED as error:
        listed = ", ".join(measured_ids()) or "none"
        remedy = "The page /devices lists those that were." if elsewhere else f"They are: {listed}."
        raise BadViewError(f"No device was measured as {part_id[:200]}.", remedy=remedy) from error


def measured_documents() -> Iterator[tuple[str, str]]:
    """The ids of `measured_ids`, and the texts of their files."""
    for part_id in measured_ids():
        path = path_of(part_id)
        with contextlib.suppress(OSError, UnicodeError):
            if path is not None:
                yield part_id, path.read_text("utf-8")


def measured_devices(documents: Iterable[tuple[str, str]]) -> Iterator[MeasuredDevice]:
    """The devices of these ids and texts; not those that are damaged."""
    for part_id, text in documents:
        with contextlib.suppress(*_DAMAGED):
            entry: Entry = json.loads(text)
            part, published = part_of_entry(entry, part_id)
            yield MeasuredDevice(
                part=part, published=published, entry=entry, values=tuple(values_of(entry))
            )


def part_of_entry(entry: Entry, part_id: str) -> tuple[Part, Part | None]:
    """The part that a measurement describes, and the catalogue's; a processor has none there, as
    a machine may have a share of it."""
    if entry["schema"] != SCHEMA:
        raise ValueError(f"schema {entry['schema']} of a measurement")
    own = _published_part(entry)
    if own is None and entry.get("kind") != DeviceKind.CPU:
        raise ValueError(f"{entry['device']} is not in the catalogue")
    sender = f", sent by {entry['sent_by']}" if entry.get("sent_by") else ""
    source = Source(
        key="calibrate" if part_id == THIS_MACHINE else part_id,
        title=f"Measured on {entry['host']}, {entry['measured_on']}{sender}",
        address="",
        revision="",
        kind="measured",
    )
    is_here = part_id == THIS_MACHINE
    name = own.name if own else str(entry["device"])
    part = (own or _processor(entry, is_here=is_here))._replace(
        id=part_id,
        name=name if is_here else f"{name}, as measured on {entry['host']}",
        aliases=(),
        shared_aliases=(),
        figures=tuple(_figures(entry, source, own.devices_per_chip if own else 1, is_here=is_here)),
        origin=PeakOrigin.CALIBRATED,
        hostname=str(entry["host"]),
        notes=f"{source.title} with `roofline calibrate`: not a data sheet's values.",
    )
    return part, own


def with_data_sheet(part: Part, own: Part | None) -> Part:
    """The measured part with the figures of the catalogue's where nothing was measured."""
    measured = {one.of for one in part.figures}
    rest = (one for one in (own.figures if own else ()) if one.of not in measured)
    return part._replace(figures=(*part.figures, *rest))


def while_it_works(part: Part) -> Part:
    """The measured part with what it reaches while the work goes on, where that was measured."""
    lasting = {one.of: one for one in part.figures if one.status is FigureStatus.SUSTAINED}
    figures = (lasting.get(one.of, one)._replace(status=one.status) for one in part.figures)
    return part._replace(figures=tuple(figures))


def _published_part(entry: Entry) -> Part | None:
    return None if entry.get("kind") == DeviceKind.CPU else find(str(entry["device"]))


def _processor(entry: Entry, *, is_here: bool) -> Part:
    return Part(
        id="",
        vendor=str(entry["vendor"]),
        name="",
        kind=DeviceKind.CPU,
        aliases=(),
        family="",
        scope=f"{'this' if is_here else 'a'} machine, {entry['count']} threads",
        devices_per_chip=1,
        notes="",
        figures=(),
    )


def _figures(entry: Entry, source: Source, devices: int, *, is_here: bool) -> Iterator[Figure]:
    """The roofs of a chip of so many `devices`: at once, and where it was measured while the work
    goes on. This machine's are used though they were disturbed, which its measuring says."""

    def figure(of: str, value: float, unit: str, note: str = "") -> Figure:
        if not 0 < value < math.inf:
            raise ValueError(f"{of} of {value}")
        status = FigureStatus.CHOSEN
        return Figure(of=of, value=value, unit=unit, status=status, source=source, note=note)

    for one in values_of(entry):
        if (one.why_not and not is_here) or one.key in _NO_ROOF:
            continue
        made = figure(_OF_LINKS.get(one.key, one.key), one.burst * devices, one.unit, one.how)
        yield made
        if one.sustained is not None:
            yield made._replace(value=one.sustained * devices, status=FigureStatus.SUSTAINED)
    if entry.get("kind") == DeviceKind.CPU and entry["memory_bytes"]:
        yield figure("memory_bytes", float(entry["memory_bytes"]), "B")


def _word(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-._")
