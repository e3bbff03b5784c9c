"""An estimate as a JSON document and as lines of text."""

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from roofline.devices.topology import CollectiveTime, Level
from roofline.estimate.on_device import EXP, LATENCY, LINK, MEMORY, NETWORK, Estimate
from roofline.estimate.variants import (
    batch_threshold,
    distributed_crossover,
    exact_batch_threshold,
    tiling_of,
    unfused,
)
from roofline.model.plain_data import taken
from roofline.model.units import GIGA, TERA, time_text

MAIN = "hbm"


def estimate_document(found: Estimate) -> dict[str, Any]:
    """The keys of `roofline estimate --format json` and of `POST /api/v1/estimate`."""
    moved = _bytes(found)
    return {
        "op": found.op,
        "shape": list(found.shape),
        "device": found.part.id,
        "flops": whole(found.flop),
        "flops_vector": whole(found.work.vector_flop),
        "bytes": {level: whole(amount) for level, amount in moved.items()},
        "tensors": {name: whole(amount) for name, amount in found.work.tensors.items()},
        "intensity": {
            level: found.flop / amount if found.flop and amount else None
            for level, amount in moved.items()
        },
        "time_us": dict(found.time_us),
        **taken(found, "t_min_us", "t_max_us", "bound", "attainable_gflops"),
        "ridge_flop_per_byte": ridge(found),
        "thresholds": thresholds(found),
        "peaks": {
            clock: {"label": peak.label, "per_second": peak.value, "source": peak.source}
            for clock, peak in found.peaks.items()
        },
        **_choices(found),
        "notes": list(found.notes),
    }


def _choices(found: Estimate) -> dict[str, Any]:
    """Keys of options that were given, or of one op."""
    document: dict[str, Any] = {}
    tiles, apart = tiling_of(found), unfused(found)
    if found.work.exp_ops:
        document["exp_ops"] = whole(found.work.exp_ops)
    if found.collective is not None:
        document["collective"] = collective_record(found.collective, found.options.algorithm)
    if tiles is not None:
        document["padded_flops"] = tiles.padded_flop
        document["tiles"] = {
            **taken(tiles, "block", "grid", "count", "processors"),
            **taken(tiles, "waves", "last_wave_ratio", "tail_ratio", "padding_ratio"),
            "bytes": whole(tiles.bytes),
            "intensity": found.flop / tiles.bytes,
        }
    if apart is not None:
        document["unfused"] = asdict(apart)
    return document


def collective_record(sent: CollectiveTime, algorithm: str) -> dict[str, Any]:
    """A collective by level: ranks, bytes of one rank, rate and time."""
    return {
        "algorithm": algorithm,
        "serial_us": sent.serial_us,
        "levels": [_level(one) for one in sent.levels],
    }


def _level(one: Level) -> dict[str, Any]:
    rate = None if one.rate is None else one.rate / GIGA
    if one.wrap is not None:
        return {
            "name": one.name,
            "size": one.ranks,
            "wrap": one.wrap,
            "gb_per_s": rate,
            "us": one.us,
        }
    size = None if one.bytes is None else whole(one.bytes)
    return {"name": one.name, "ranks": one.ranks, "bytes": size, "gb_per_s": rate, "us": one.us}


def _bytes(found: Estimate) -> dict[str, float]:
    amounts = {MEMORY: (MAIN, found.work.memory_bytes), LINK: (LINK, found.work.link_bytes)}
    return dict(amounts[clock] for clock in amounts if clock in found.time_us)


def whole(amount: float) -> float | int:
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
    """From which size a product is compute-bound; `None` for other ops.

    `batch` are rows of the first matrix by weights alone, `batch_exact` with inputs and outputs:
    `None` where no batch is large enough. `contracted` is the D of a distributed product from which
    arithmetic takes longer than the exchange.
    """
    unit, memory = found.peaks.get("compute"), found.peaks.get("memory")
    if found.op == "distributed-matmul":
        return _distributed_threshold(found)
    if found.op != "matmul" or not unit or not memory or not unit.value or not memory.value:
        return None
    k, n = found.shape[-2:]
    sizes = found.element_bytes
    return {
        "batch": batch_threshold(unit.value, memory.value, sizes[1]),
        "batch_exact": exact_batch_threshold(unit.value, memory.value, k, n, sizes),
    }


def _distributed_threshold(found: Estimate) -> dict[str, float | None] | None:
    unit, link = found.peaks["compute"], found.peaks.get(LINK)
    if link is None or not unit.value or not link.value:
        return None
    each = distributed_crossover(unit.value, link.value, found.element_bytes[2])
    return {"contracted": (found.options.ranks - 1) * each}


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
        label = "on links" if level == LINK else "all"
        at = f", {found.flop / amount:,.4g} FLOP/B" if found.flop and amount else ""
        yield f"  {label:<10}{amount:>18,.0f} B{at}"
    corner = ridge(found)
    if corner is not None:
        yield f"  ridge at {corner:,.4g} FLOP/B"
    if found.work.exp_ops:
        yield f"  {found.work.exp_ops:,.6g} exponentials"
    for clock, time in found.time_us.items():
        yield f"  {clock:<10}{time_text(time):>18}  {_peak(found, clock)}".rstrip()
    said = bound_sentence(found)
    if said:
        yield said
    if found.attainable_gflops is not None:
        yield f"At best {found.attainable_gflops * GIGA / TERA:,.4g} TFLOP/s."
    yield from _threshold_lines(found)
    yield from _choice_lines(found)
    yield from found.notes


def bound_sentence(found: Estimate) -> str:
    """The least and the largest time, and what binds; "" where a peak is not known."""
    if found.t_min_us is None or found.t_max_us is None:
        return ""
    return (
        f"At least {time_text(found.t_min_us)} (all clocks at once), "
        f"{time_text(found.t_max_us)} one after the other. Bound by {found.bound}."
    )


def _threshold_lines(found: Estimate) -> Iterable[str]:
    sizes = thresholds(found) or {}
    if "batch" in sizes:
        exact = sizes["batch_exact"]
        text = "never" if exact is None else f"{round(exact):,}"
        yield (
            f"Compute-bound from {round(sizes['batch'] or 0):,} rows if weights are all traffic; "
            f"with inputs and outputs: {text}. Both rest on the peaks above."
        )
    elif sizes:
        yield f"Arithmetic takes longer than the exchange from D = {sizes['contracted']:,.0f} on."


def _choice_lines(found: Estimate) -> Iterable[str]:
    tiles, apart = tiling_of(found), unfused(found)
    if tiles is not None:
        waves = "" if tiles.waves is None else f", {tiles.waves:,.4g} waves"
        lost = "" if tiles.tail_ratio is None else f", {tiles.tail_ratio:.1%} lost to the last"
        yield (
            f"{tiles.count:,} tiles ({tiles.grid[0]:,} x {tiles.grid[1]:,}){waves}{lost}; "
            f"{tiles.padding_ratio:.1%} of the work is padding. "
            f"They load {tiles.bytes:,.0f} B: {found.flop / tiles.bytes:,.4g} FLOP/B."
        )
    if apart is not None:
        faster = "" if apart.speed_up is None else f": fused is {apart.speed_up:,.3g} times as fast"
        yield f"One kernel per op moves {apart.bytes:,.0f} B, {time_text(apart.time_us)}{faster}."


def _peak(found: Estimate, clock: str) -> str:
    peak = found.peaks.get(clock)
    if peak is not None and clock == LATENCY:
        return f"{peak.label} ({peak.source})"
    if peak is None or not peak.value or not found.time_us[clock]:
        return ""
    if clock in (LINK, NETWORK):
        return f"at {peak.value / GIGA:,.4g} GB/s ({peak.label}; {peak.source})"
    unit = {EXP: "T/s", MEMORY: "TB/s"}.get(clock, "TFLOP/s")
    return f"at {peak.value / TERA:,.4g} {unit} ({peak.label}; {peak.source})"
