"""An estimate as a JSON document and as lines of text."""

import math
from collections.abc import Iterable
from typing import Any

from roofline.estimate import formulas
from roofline.estimate.on_device import LINK, Estimate
from roofline.model.units import GIGA, KILO, TERA

MAIN = "hbm"


def estimate_document(found: Estimate) -> dict[str, Any]:
    """The keys of `roofline estimate --format json` and of `POST /api/v1/estimate`."""
    moved = _bytes(found)
    return {
        "op": found.op,
        "shape": list(found.shape),
        "device": found.part.id,
        "flops": _whole(found.flop),
        "flops_vector": _whole(found.work.vector_flop),
        "bytes": {level: _whole(amount) for level, amount in moved.items()},
        "tensors": {name: _whole(amount) for name, amount in found.work.tensors.items()},
        "intensity": {
            level: found.flop / amount if found.flop and amount else None
            for level, amount in moved.items()
        },
        "time_us": dict(found.time_us),
        "t_min_us": found.t_min_us,
        "t_max_us": found.t_max_us,
        "bound": found.bound,
        "attainable_gflops": found.attainable_gflops,
        "ridge_flop_per_byte": ridge(found),
        "thresholds": thresholds(found),
        "peaks": {
            clock: {"label": peak.label, "per_second": peak.value, "source": peak.source}
            for clock, peak in found.peaks.items()
        },
        "notes": list(found.notes),
    }


def _bytes(found: Estimate) -> dict[str, float]:
    if LINK in found.time_us:
        return {LINK: found.work.link_bytes}
    return {MAIN: found.work.memory_bytes}


def _whole(amount: float) -> float | int:
    """Whole numbers without a fraction, so that they are written as counts."""
    return int(amount) if float(amount).is_integer() else amount


def ridge(found: Estimate) -> float | None:
    """FLOP per byte where the op's unit and the main memory take the same time."""
    unit = found.peaks.get("compute") or found.peaks.get("vector")
    memory = found.peaks.get("memory")
    if unit is None or memory is None or not unit.value or not memory.value:
        return None
    return unit.value / memory.value


def thresholds(found: Estimate) -> dict[str, float | None] | None:
    """From which batch (rows of the first matrix) a product is compute-bound; `None` for others.

    `batch` counts the weights alone, `batch_exact` inputs and outputs, too: `None` where no batch
    is large enough.
    """
    unit, memory = found.peaks.get("compute"), found.peaks.get("memory")
    if found.op != "matmul" or not unit or not memory or not unit.value or not memory.value:
        return None
    k, n = found.shape[-2:]
    sizes = found.element_bytes
    return {
        "batch": formulas.batch_threshold(unit.value, memory.value, sizes[1]),
        "batch_exact": formulas.exact_batch_threshold(unit.value, memory.value, k, n, sizes),
    }


def estimate_text(found: Estimate) -> str:
    """A few lines for a terminal."""
    return "\n".join(_lines(found)) + "\n"


def _lines(found: Estimate) -> Iterable[str]:
    shape = "x".join(map(str, found.shape))
    yield f"{found.op} {shape} on {found.part.name}"
    if found.flop:
        yield f"  {found.flop:,.6g} FLOP"
    for name, amount in found.work.tensors.items():
        yield f"  {name:<10}{amount:>18,.0f} B"
    for level, amount in _bytes(found).items():
        label = "link" if level == LINK else "all"
        at = f", {found.flop / amount:,.4g} FLOP/B" if found.flop and amount else ""
        yield f"  {label:<10}{amount:>18,.0f} B{at}"
    corner = ridge(found)
    if corner is not None:
        yield f"  ridge at {corner:,.4g} FLOP/B"
    for clock, time in found.time_us.items():
        yield f"  {clock:<10}{_time(time):>18}  {_peak(found, clock)}"
    if found.t_min_us is not None and found.t_max_us is not None:
        yield (
            f"At least {_time(found.t_min_us)} (all clocks at once), {_time(found.t_max_us)} one "
            f"after the other. Bound by {found.bound}."
        )
    if found.attainable_gflops is not None:
        yield f"At best {found.attainable_gflops * GIGA / TERA:,.4g} TFLOP/s."
    batch = thresholds(found)
    if batch is not None:
        exact = batch["batch_exact"]
        text = "never" if exact is None else f"{round(exact):,}"
        yield (
            f"Compute-bound from {round(batch['batch'] or 0):,} rows if weights are all traffic; "
            f"with inputs and outputs: {text}. Both rest on the peaks above."
        )
    yield from found.notes


def _time(time_us: float | None) -> str:
    if time_us is None or not math.isfinite(time_us):
        return "unknown"
    if time_us >= KILO:
        return f"{time_us / KILO:,.4g} ms"
    return f"{time_us:,.4g} µs"


def _peak(found: Estimate, clock: str) -> str:
    peak = found.peaks[clock]
    if not peak.value:
        return ""
    unit = "TFLOP/s" if clock in ("compute", "vector") else "TB/s"
    return f"at {peak.value / TERA:,.4g} {unit} ({peak.label}; {peak.source})"
