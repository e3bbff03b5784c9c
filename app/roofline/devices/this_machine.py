"""This machine as a part: what `roofline calibrate` measured, kept as one JSON file.

The file lies in the data folder that `ROOFLINE_DATA_DIR` names, else in the XDG data home; a server
with a folder of its own finds the latter, too.
"""

import hashlib
import json
import os
import stat
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from roofline.devices.choice import THIS_MACHINE
from roofline.devices.parts import Figure, FigureStatus, Part, Source
from roofline.model.device import DeviceKind, PeakOrigin

VERSION = 1
SOURCE_KEY = "calibrate"
_FILE = "this-machine.json"


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
    """Those of `machine_files`: `written_at_ns` is asked for each answer from memory."""
    return tuple(map(str, machine_files()))


def _written_at_ns(address: str) -> int:
    try:
        found = os.stat(address)
    except OSError:
        return 0
    return found.st_mtime_ns if stat.S_ISREG(found.st_mode) else 0


def _read(path: Path) -> Part | None:
    try:
        return machine_part(json.loads(path.read_bytes()))
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return None


def machine_part(entry: Mapping[str, Any]) -> Part:
    """The part that a measurement describes.

    Keys: `version`, `hostname`, `cpu`, `vendor`, `threads`, `measured_on` (a date), `memory_bytes`
    and `figures`: `of`, `value` in FLOP/s or B/s, `note`.
    """
    if entry["version"] != VERSION:
        raise ValueError(f"version {entry['version']} of a measurement")
    source = Source(
        key=SOURCE_KEY,
        title=f"Measured on {entry['hostname']}, {entry['measured_on']}",
        address="",
        revision="",
        kind="measured",
    )
    figures = [*entry["figures"], {"of": "memory_bytes", "value": entry["memory_bytes"]}]
    return Part(
        id=THIS_MACHINE,
        vendor=str(entry["vendor"]),
        name=str(entry["cpu"]),
        kind=DeviceKind.CPU,
        aliases=(),
        family="",
        scope=f"this machine, {entry['threads']} threads",
        devices_per_chip=1,
        notes=f"{source.title} with `roofline calibrate`: not a data sheet's values.",
        figures=tuple(_figure(one, source) for one in figures),
        origin=PeakOrigin.CALIBRATED,
        hostname=str(entry["hostname"]),
    )


def _figure(fields: Mapping[str, Any], source: Source) -> Figure:
    value = float(fields["value"])
    if not value > 0:
        raise ValueError(f"{fields['of']} of {value}")
    return Figure(
        of=str(fields["of"]),
        value=value,
        unit=_unit(str(fields["of"])),
        status=FigureStatus.CHOSEN,
        source=source,
        note=str(fields.get("note", "")),
    )


def _unit(of: str) -> str:
    if of.endswith("_bytes"):
        return "B"
    return "FLOP/s" if of.startswith(("vector_", "matrix_")) else "B/s"
