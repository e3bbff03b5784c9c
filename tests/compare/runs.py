"""Runs made by hand, for tests of comparisons."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from roofline.compare.run import CAPTURE, STEP, Run, UnitTimes

FLOP_PEAK, BYTES_PEAK = 1e6, 1e3  # FLOP/us, bytes/us: the ridge is at 1000 FLOP/byte


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One operation; `flop` and `bytes` are per call, NaN for unknown."""

    name: str
    path: str = ""
    operands: str = ""
    results: str = ""
    category: str = "fusion"
    program: str = "jit_step"
    source: str = ""
    line: int = -1
    library: str = ""
    calls: float = 1.0
    flop: float = 1e6
    bytes: float = 1e4
    time_us: float = 20.0


def make_run(
    rows: Sequence[Row],
    *,
    idle_us: float = 0.0,
    exposed_us: float = 0.0,
    host_us: float = 0.0,
    peaks: tuple[float, float] = (FLOP_PEAK, BYTES_PEAK),
    samples_us: tuple[float, ...] = (),
    label: str = "run",
    device: str = "Test device",
) -> Run:
    """A run of `rows`, in steps and as a capture of ten of them."""
    time_us, calls = _column(rows, "time_us"), _column(rows, "calls")
    flop, moved = _column(rows, "flop"), _column(rows, "bytes")
    needed_us = calls * np.fmax(flop / peaks[0], moved / peaks[1])
    parts = {
        "idle": idle_us,
        "communication": exposed_us,
        "transfers": host_us,
        "unknown": 0.0,
    }
    step = UnitTimes(
        calls=calls,
        time_us=time_us,
        needed_us=needed_us,
        parts=parts,
        total_us=float(time_us.sum()) + sum(parts.values()),
        samples_us=samples_us,
    )
    capture = UnitTimes(
        calls=10 * calls,
        time_us=10 * time_us,
        needed_us=10 * needed_us,
        parts={name: 10 * value for name, value in parts.items()},
        total_us=10 * step.total_us,
    )
    known = ~np.isnan(flop) & ~np.isnan(moved)
    texts = ("name", "category", "program", "path", "operands", "results", "library")
    return Run(
        label=label,
        texts={
            **{column: tuple(getattr(row, column) for row in rows) for column in texts},
            "source_file": tuple(row.source for row in rows),
        },
        source_line=_column(rows, "line"),
        flop=flop,
        bytes=moved,
        work={"compute": flop, "hbm": moved},
        roof_us={"compute": flop / peaks[0], "hbm": moved / peaks[1]},
        is_placed=known.astype(float),
        peaks={"compute": peaks[0], "hbm": peaks[1]},
        main_memory="hbm",
        units={STEP: step, CAPTURE: capture},
        provenance=("modelled", "modelled"),
        facts={"Device": device, "Cores": "1"},
    )


def renamed(rows: Sequence[Row], name: str, **changes: object) -> list[Row]:
    """`rows` with fields of the row `name` changed."""
    return [replace(row, **changes) if row.name == name else row for row in rows]  # type: ignore[arg-type]


def _column(rows: Sequence[Row], name: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.array([getattr(row, name) for row in rows], np.float64)
