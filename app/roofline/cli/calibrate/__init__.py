"""`roofline calibrate`: measures this machine and keeps it as the device `this-machine`.

Peaks are what a program can reach, not what a data sheet promises: large matrix products through
BLAS, copy and triad through memory and caches.
"""

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from roofline.cli.calibrate.hardware import Machine, this_machine
from roofline.cli.calibrate.kernels import (
    Bandwidth,
    Effort,
    Rate,
    measure_bandwidth,
    measure_matmul,
    plans,
)
from roofline.cli.output import print_bytes
from roofline.devices.this_machine import VERSION, machine_files
from roofline.errors import SettingsError
from roofline.model.compute import ComputeUnit
from roofline.model.units import GIGA, KIB
from roofline.storage.durable import explained_writes, write_whole

FULL = Effort(seconds=0.1, timings=25, counted=9)
QUICK = Effort(seconds=0.02, timings=9, counted=3)
BUSY_FROM = 0.1

_PRODUCTS = ((ComputeUnit.VECTOR_FP32, np.float32), (ComputeUnit.VECTOR_FP64, np.float64))


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """One peak: `of` is a unit's or a level's key, `rate` in FLOP/s or B/s, `how` it was done."""

    of: str
    label: str
    unit: str
    rate: Rate
    how: str


def calibrate(*, quick: bool, keep: bool, write: Callable[[str], None]) -> None:
    """Measures this machine, writes a table row by row, and keeps the result if `keep`."""
    machine = this_machine()
    write(f"{machine.cpu} ({machine.hostname}), {machine.threads} threads\n\n")
    found = []
    for one in measure(machine, QUICK if quick else FULL):
        write(_row(one))
        found.append(one)
    write("\n" + _remarks(found))
    if keep:
        path = save(machine, found)
        write(
            f"Kept in {path}: the roofs of programs that ran on this CPU, and `--device"
            " this-machine`.\n"
        )


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
    entry = {
        "version": VERSION,
        "hostname": machine.hostname,
        "cpu": machine.cpu,
        "vendor": machine.vendor,
        "threads": machine.threads,
        "memory_bytes": machine.memory_bytes,
        "measured_on": datetime.now(UTC).date().isoformat(),
        "figures": [
            {
                "of": one.of,
                "value": one.rate.per_second,
                "note": f"{one.how}, ± {one.rate.spread_ratio:.1%}",
            }
            for one in found
        ],
    }
    path = machine_files()[0]
    try:
        with explained_writes():
            write_whole(path, json.dumps(entry, ensure_ascii=False, indent=1).encode())
    except OSError as error:
        raise SettingsError(
            f"{path} cannot be written: {(error.strerror or str(error)).lower()}.",
            remedy="Set ROOFLINE_DATA_DIR to a folder that can be written.",
        ) from error
    return path


def _row(one: Measurement) -> str:
    value = f"{one.rate.per_second / GIGA:,.1f}"
    return f"  {one.label:<6}{value:>10} {one.unit:<9}± {one.rate.spread_ratio:<6.1%} {one.how}\n"


def _remarks(found: Sequence[Measurement]) -> str:
    lines = ["Measured, not a data sheet's values. Bytes are those a program names: a line that is"]
    lines.append("fetched before it is written does not count.")
    if any(one.rate.spread_ratio > BUSY_FROM for one in found):
        lines.append("Some timings differ by more than 10 %: repeat this while nothing else runs.")
    return "\n".join(lines) + "\n"


def add_calibrate(parser: argparse.ArgumentParser) -> None:
    """The arguments of `roofline calibrate`."""
    parser.description = (
        "Measure what this machine's processor and memory can do, and keep it as the device"
        " `this-machine`: the roofs of programs that ran on this CPU. Leave the machine idle"
        " meanwhile."
    )
    parser.add_argument("--quick", action="store_true", help="a few seconds, less exact")
    parser.add_argument(
        "--dry-run", action="store_true", help="only print, do not keep the measurements"
    )
    parser.set_defaults(run=_calibrate)


def _calibrate(given: argparse.Namespace) -> None:
    calibrate(
        quick=given.quick, keep=not given.dry_run, write=lambda text: print_bytes(text.encode())
    )
