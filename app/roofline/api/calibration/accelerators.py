"""Measures accelerators: a script that the framework's interpreter runs, and what is kept of it."""

import importlib.util
import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path

from roofline.api.calibration import write_entry
from roofline.devices.measured import (
    Entry,
    MeasuredValue,
    folder,
    measured_id,
    part_of_entry,
    path_of,
    values_of,
)
from roofline.errors import BadViewError

_LONGEST_S = 3600.0


def accelerators(python: str | None) -> Sequence[str]:
    """The accelerators that PyTorch or JAX finds, one of each kind; none without either."""
    if python is None and not any(map(importlib.util.find_spec, ("torch", "jax"))):
        return ()
    try:
        found: Sequence[str] = json.loads(_run(python, "--list"))
    except BadViewError:
        if python is not None:
            raise
        return ()  # a library that does not start finds nothing
    return found


def measure_accelerator(
    device: str, *, only: str | None = None, quick: bool = False, python: str | None = None
) -> Entry:
    """What `device` (`cuda:0`, `tpu:0`) reaches; the keys of `only`, separated by commas, or all.

    Raises `BadViewError` where the interpreter has neither PyTorch nor JAX, or not this device.
    """
    words = ["--device", device, *(["--only", only] if only else []), *(["--quick"] * quick)]
    entry = json.loads(_run(python, *words))
    return {
        **entry,
        "host": socket.gethostname(),
        "measured_on": datetime.now(UTC).date().isoformat(),
    }


def _run(python: str | None, *words: str) -> str:
    script = files("roofline.capture.replay") / "device_rates.py"
    try:
        ran = subprocess.run(
            (python or sys.executable, str(script), *words),
            capture_output=True,
            text=True,
            timeout=_LONGEST_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BadViewError(
            f"{python} could not measure: {error}.", remedy="Name another --python."
        ) from error
    if ran.returncode:
        last = (ran.stderr.strip().splitlines() or ["it ended early"])[-1]
        raise BadViewError(
            f"The device was not measured: {last}",
            remedy="Name the Python of your program, with PyTorch or JAX: --python PATH.",
        )
    return ran.stdout.splitlines()[-1]


def keep_entry(entry: Entry) -> str:
    """Keeps a measurement; the id with which `--device` chooses it."""
    part_id = measured_id(str(entry["host"]), str(entry["device"]))
    path = path_of(part_id)
    assert path is not None
    write_entry(path, entry)
    os.utime(folder())  # by which a server sees that measurements have changed
    return part_id


def read_entry(path: Path) -> Entry:
    """A measurement that another machine exported. Raises `BadViewError` for other files."""
    try:
        entry: Entry = json.loads(path.read_bytes())
        part_of_entry(entry, measured_id(str(entry["host"]), str(entry["device"])))
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise BadViewError(
            f"{path.name} is not a measurement of a known device.",
            remedy="Export one: roofline calibrate --device cuda:0 --export FILE.",
        ) from error
    return entry


def entry_text(entry: Entry, write: Callable[[str], object]) -> None:
    """Writes the table of a measurement, and why values are missing or not used."""
    count = f", {entry['count']} of them" if entry["count"] > 1 else ""
    write(f"{entry['device']} ({entry['host']}){count}, {entry['library']}\n\n")
    for one in values_of(entry):
        write(f"  {one.key:<12}{one.text(one.burst):>14}  {_held(one)}{one.how}\n")
        if one.why_not:
            write(f"  {'':<12}Not used. {one.why_not}\n")
    for key, reason in entry.get("missing", {}).items():
        write(f"  {key:<12}{'–':>14}  {reason}\n")


def _held(one: MeasuredValue) -> str:
    """The share of the data sheet's, and of the value while the work goes on."""
    parts = []
    if one.published is not None:
        parts.append(f"{one.burst / one.published:.0%} of the data sheet's")
    if one.unit != "us" and one.sustained is not None:
        parts.append(f"{one.sustained / one.burst:.0%} sustained")
    return f"{', '.join(parts)}; " if parts else ""
