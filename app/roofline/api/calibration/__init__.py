"""`calibrate`: measures this machine and keeps it as the device `this-machine`.

Peaks are what a program can reach, not what a data sheet promises: large matrix products through
BLAS, copy and triad through memory and caches. Accelerators are measured by a script that the
framework's interpreter runs.
"""

import importlib.util
import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import files
from math import log10
from pathlib import Path
from typing import Any

import numpy as np

from roofline.api.calibration.kernels import (
    Bandwidth,
    Effort,
    Machine,
    Rate,
    measure_bandwidth,
    measure_matmul,
    plans,
    this_machine,
)
from roofline.api.results import Result
from roofline.devices.measured import (
    SCHEMA,
    Entry,
    MeasuredValue,
    folder,
    machine_files,
    measured_id,
    part_of_entry,
    path_of,
    values_of,
)
from roofline.errors import BadViewError, SettingsError
from roofline.figures.figure import Figure as Picture
from roofline.figures.figure import inert, layout, log_axis, numbered, trace
from roofline.figures.scale import Margin, spread
from roofline.model.compute import ComputeUnit
from roofline.model.device import DeviceKind
from roofline.model.units import GIGA, KIB
from roofline.presentation.quantities import significant, size
from roofline.storage.durable import explained_writes, write_whole

FULL = Effort(seconds=0.1, timings=25, counted=9)
QUICK = Effort(seconds=0.02, timings=9, counted=3)
BUSY_FROM = 0.1
_LONGEST_S = 3600.0

_PRODUCTS = ((ComputeUnit.VECTOR_FP32, np.float32), (ComputeUnit.VECTOR_FP64, np.float64))


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """One peak: `of` is a unit's or a level's key, `rate` in FLOP/s or B/s, `how` it was done.

    `working_set_bytes` are those of the arrays of one thread, for a bandwidth.
    """

    of: str
    label: str
    unit: str
    rate: Rate
    how: str
    working_set_bytes: int | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Measured(Result):
    """What this machine can do; `kept_in` is the file that makes it the device `this-machine`."""

    machine: Machine
    values: tuple[Measurement, ...]
    kept_in: Path | None

    @property
    def sentence(self) -> str:
        """The machine, and its two best rates."""
        said = [f"{one.label} {one.rate.per_second / GIGA:,.1f} {one.unit}" for one in self.values]
        return f"{_head(self.machine)}: {', '.join(said)}."

    def to_dict(self) -> dict[str, Any]:
        """The content of the file that is kept."""
        return _entry(self.machine, self.values)

    def to_text(self) -> str:
        """What `roofline calibrate` prints."""
        rows = "".join(row_text(one) for one in self.values)
        return f"{_head(self.machine)}\n\n{rows}\n{self.remarks()}"

    def remarks(self) -> str:
        """How the numbers are to be read, whether to repeat them, and where they are kept."""
        return _remarks(self.values) + (
            f"Kept in {self.kept_in}: the roofs of programs that ran on this CPU, and `--device"
            " this-machine`.\n"
            if self.kept_in
            else ""
        )

    def rows(self) -> list[dict[str, Any]]:
        """One row per peak, in FLOP/s or B/s."""
        return [
            {
                "of": one.of,
                "per_second": one.rate.per_second,
                "spread_ratio": one.rate.spread_ratio,
                "how": one.how,
            }
            for one in self.values
        ]

    def picture(self) -> Picture | None:
        """The ladder: the bandwidth of all threads over the bytes that each of them works on."""
        steps = sorted(
            (one.working_set_bytes, one.rate.per_second / GIGA, one.label)
            for one in self.values
            if one.working_set_bytes
        )
        if not steps:
            return None
        sizes, rates = [float(one[0]) for one in steps], [one[1] for one in steps]
        names = [one[2] for one in steps]
        look = {"mode": "lines+markers+text", "text": names, "textposition": "top center"}
        drawn = trace("bandwidth", sizes, rates, role="ladder", line={"color": "--c1"}, **look)
        x, y = (spread(map(log10, one), (0.3, 0.3), 1.0) for one in (sizes, rates))
        across = log_axis(x, sizes, size, "bytes that a thread works on")
        up = log_axis(y, rates, significant, f"GB/s of {self.machine.threads} threads")
        looks = layout(Margin(left=60, right=20, top=20, bottom=50), across, up, [], "ladder")
        return Picture(
            id="ladder",
            data=numbered([drawn]),
            layouts={"wide": looks, "narrow": looks},
            marks=None,
            beyond={},
            legend=[],
            alt=f"Bandwidth of {inert(self.machine.cpu)} by the bytes of a thread",
        )


def calibrate(
    *, quick: bool = False, keep: bool = True, write: Callable[[str], object] = len
) -> Measured:
    """Measures this machine, and keeps the result as the device `this-machine` if `keep`.

    `write` is given each row of the text as soon as it is measured. Leave the machine idle
    meanwhile: a minute, or some seconds if `quick`, which is less exact.
    """
    machine = this_machine()
    write(f"{_head(machine)}\n\n")
    found = []
    for one in measure(machine, QUICK if quick else FULL):
        write(row_text(one))
        found.append(one)
    kept = save(machine, found) if keep else None
    result = Measured(machine, tuple(found), kept)
    write("\n" + result.remarks())
    return result


def _head(machine: Machine) -> str:
    return f"{machine.cpu} ({machine.hostname}), {machine.threads} threads"


def measure(machine: Machine, effort: Effort) -> Iterator[Measurement]:
    """Compute in fp32 and fp64, main memory, then the caches from inside out."""
    for unit, dtype in _PRODUCTS:
        rate, size = measure_matmul(dtype, effort)
        yield Measurement(
            of=unit.value,
            label=unit.precision.value,
            unit="GFLOP/s",
            rate=rate,
            how=_how(f"NumPy matrix product of {size} × {size}", machine, rate),
        )
    for plan in plans(machine):
        found = measure_bandwidth(plan, machine.threads, effort)
        yield Measurement(
            of=plan.level.value,
            label=plan.level.label,
            unit="GB/s",
            rate=found.best,
            how=_how(_kernels(found), machine, found.best),
            working_set_bytes=plan.working_set_bytes,
        )


def _how(what: str, machine: Machine, rate: Rate) -> str:
    return f"{what}, {machine.threads} threads, {rate.text}"


def _kernels(found: Bandwidth) -> str:
    size = found.plan.array_bytes / KIB
    arrays = f"{size / KIB:.3g} MiB" if size >= KIB else f"{size:.3g} KiB"
    each = " and ".join(
        f"{name} {rate.per_second / GIGA:.3g} GB/s"
        for name, rate in (("copy", found.copy), ("triad", found.triad))
    )
    return f"{each}, arrays of {arrays} per thread"


def save(machine: Machine, found: Sequence[Measurement]) -> Path:
    """Keeps what was found as this machine's; `SettingsError` where that cannot be written."""
    return write_entry(machine_files()[0], _entry(machine, found))


def write_entry(path: Path, entry: Mapping[str, Any]) -> Path:
    """Keeps a measurement as this file; `SettingsError` where that cannot be written."""
    try:
        with explained_writes():
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, json.dumps(entry, ensure_ascii=False, indent=1).encode())
    except OSError as error:
        raise SettingsError(
            f"{path} cannot be written: {(error.strerror or str(error)).lower()}.",
            remedy="Set ROOFLINE_DATA_DIR to a folder that can be written.",
        ) from error
    return path


def _entry(machine: Machine, found: Sequence[Measurement]) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "host": machine.hostname,
        "device": machine.cpu,
        "kind": DeviceKind.CPU.value,
        "vendor": machine.vendor,
        "count": machine.threads,
        "memory_bytes": machine.memory_bytes,
        "library": f"NumPy {np.__version__}",
        "measured_on": datetime.now(UTC).date().isoformat(),
        "values": {one.of: _value(one.rate, one.how) for one in found},
    }


def _value(rate: Rate, how: str) -> dict[str, Any]:
    spread = rate.spread_ratio
    return {
        "burst": rate.per_second,
        "spread": spread,
        "how": f"{how}, ± {spread:.1%}",
        "disturbed": f"the timings differ by {spread:.0%}" if spread > BUSY_FROM else "",
    }


def row_text(one: Measurement) -> str:
    """A line of the table."""
    value = f"{one.rate.per_second / GIGA:,.1f}"
    return f"  {one.label:<6}{value:>10} {one.unit:<9}± {one.rate.spread_ratio:<6.1%} {one.how}\n"


def _remarks(found: Sequence[Measurement]) -> str:
    lines = ["Measured, not a data sheet's values. Bytes are those a program names: a line that is"]
    lines.append("fetched before it is written does not count.")
    if any(one.rate.spread_ratio > BUSY_FROM for one in found):
        lines.append("Some timings differ by more than 10 %: repeat this while nothing else runs.")
    return "\n".join(lines) + "\n"


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
