"""A predicted step as a JSON document, as lines of text, and as a file of kernels."""

from collections.abc import Iterator
from math import ceil
from typing import Any

from roofline.estimate.document import collective_record
from roofline.estimate.llm.rank import ModelOp
from roofline.estimate.llm.step import OUTSIDE, Step, TimedOp
from roofline.estimate.llm.thresholds import Thresholds, thresholds_of
from roofline.estimate.on_device import COMPUTE, LINK, MEMORY, VECTOR
from roofline.model.units import GIGA, KILO, MEGA, PS_PER_US, TERA

GENERIC_SCHEMA = "roofline-generic/1"
_MATRIX = "matmul"
_COLLECTIVES = {
    "allreduce": "all-reduce",
    "allgather": "all-gather",
    "dispatch": "all-to-all",
    "combine": "all-to-all",
    "send": "send",
}


def step_document(step: Step, name: str) -> dict[str, Any]:
    """The keys of `roofline predict --format json` and of `POST /api/v1/predict`."""
    found = thresholds_of(step)
    return {
        "model": name,
        "phase": step.load.phase,
        "device": step.part.id,
        "ops": [_op(timed) for timed in step.ops],
        "step_us": dict(step.step_us),
        "bound": step.bound,
        "latency_us": step.latency_us,
        "expected_us": _expected(step),
        "tokens_per_s": step.tokens_per_s,
        "tokens_per_s_per_device": step.tokens_per_s_per_device,
        "accepted_tokens_per_s": step.accepted_tokens_per_s,
        "memory_bytes": whole(step.memory_bytes),
        "capacity_bytes": step.capacity_bytes,
        "fits": step.fits,
        "totals": _totals(step),
        "parameters": step.model.parameters,
        "touched_experts": _touched(step),
        "thresholds": None if found is None else _thresholds(found),
        "peaks": {
            name: {"label": peak.label, "per_second": peak.value, "source": peak.source}
            for name, peak in step.peaks.items()
        },
        "notes": list(step.notes),
        "coverage": None,
    }


def whole(amount: float) -> float | int:
    """Whole numbers without a fraction, so that they are written as counts."""
    return int(amount) if float(amount).is_integer() else amount


def flops_of(op: ModelOp) -> float:
    """FLOPs of the op's own unit: of the matrix unit where it has such, else of the vector unit."""
    return op.matrix or op.vector


def _op(timed: TimedOp) -> dict[str, Any]:
    op = timed.op
    found = {
        "name": op.name,
        "calls": whole(timed.counted),
        "flops": whole(flops_of(op)),
        "flops_vector": whole(op.vector),
        "bytes": whole(op.bytes),
        "time_us": timed.time_us,
        "bound": timed.bound,
    }
    if timed.sent is None:
        return found
    levels = collective_record(timed.sent, "")["levels"]
    sent = {"link_bytes": whole(op.link), "latency_us": timed.latency_us, "levels": levels}
    return {**found, **sent}


def _totals(step: Step) -> dict[str, Any]:
    """Sums over a step of one device; `intensity` is FLOPs of the matrix unit per byte."""
    flops, moved = step.total(lambda op: op.matrix), step.total(lambda op: op.bytes)
    needed = step.total(lambda op: op.matrix if op.model_matrix is None else op.model_matrix)
    return {
        "flops": whole(flops),
        "flops_model": whole(needed),
        "flops_vector": whole(step.total(lambda op: op.vector)),
        "bytes": whole(moved),
        "bytes_weights": whole(step.total(lambda op: op.weights)),
        "bytes_activations": whole(step.total(lambda op: op.activations)),
        "bytes_kv": whole(step.total(lambda op: op.kv)),
        "link_bytes": whole(step.total(lambda op: op.link)),
        "intensity": flops / moved if moved else None,
    }


def _expected(step: Step) -> dict[str, Any] | None:
    found = step.expected
    if found is None:
        return None
    return {
        "low": found.low_us,
        "high": found.high_us,
        "matrix_shares": list(found.matrix),
        "memory_share": found.memory,
        "source": found.source,
    }


def _touched(step: Step) -> dict[str, float] | None:
    """Experts of a layer that the rows reach under even routing, and the least and most."""
    model, load = step.model, step.load
    if not model.experts:
        return None
    rows = load.rows // load.microbatches * load.ep
    missed = (1 - model.active_experts / model.experts) ** rows
    return {
        "expected": model.experts * (1 - missed),
        "least": min(model.experts, model.active_experts),
        "most": min(model.experts, rows * model.active_experts),
    }


def _thresholds(found: Thresholds) -> dict[str, float | None]:
    return {
        "ridge_flop_per_byte": found.ridge,
        "batch": found.batch,
        "batch_at_context": found.batch_at_context,
        "context": found.context,
    }


# ------------------------------------------------------------------------------------------- text


def step_text(step: Step, name: str) -> str:
    """A table of the ops and a few lines for a terminal."""
    return "\n".join(_lines(step, name)) + "\n"


def _lines(step: Step, name: str) -> Iterator[str]:
    load = step.load
    sequences = f"{load.batch:,} x {load.new_tokens:,} tokens after {load.cached:,}"
    if load.prompts:
        beside = f"{load.prompts:,} x {load.prompt_tokens:,} after {load.prompt_cached:,}"
        sequences = f"{sequences} and {beside}"
    yield f"{name}, {load.phase}, {sequences}, on {step.part.name}"
    yield ""
    yield f"{'op':<28}{'calls':>7}{'FLOP':>12}{'bytes':>12}{'time':>14}  bound by"
    for timed in step.ops:
        moved = timed.op.bytes or timed.op.link
        yield (
            f"{timed.op.name:<28}{timed.counted:>7,.6g}{flops_of(timed.op):>12.4g}{moved:>12.4g}"
            f"{time_text(timed.time_us):>14}  {timed.bound or '-'}"
        )
    yield ""
    yield from _times(step)
    yield from _memory(step)
    yield from _threshold_lines(step)
    yield from step.notes


def _times(step: Step) -> Iterator[str]:
    sums = step.step_us
    meanings = {
        "overlap": "everything at once",
        "serial": "one op after the other: the bound to compare with",
        "no_overlap": "nothing at once",
    }
    for key, meaning in meanings.items():
        yield f"{key:<12}{time_text(sums[key]):>12}  {meaning}"
    expected = step.expected
    if expected is not None:
        matrix = _span(*(f"{100 * share:.0f}" for share in expected.matrix))
        times = _span(time_text(expected.low_us), time_text(expected.high_us))
        yield (
            f"{'expected':<12}{times:>12}  at {matrix} % of the matrix peak and "
            f"{100 * expected.memory:.0f} % of the memory's, by default"
        )
    rate, each = step.tokens_per_s, step.tokens_per_s_per_device
    if rate is not None and each is not None:
        yield f"{rate:,.1f} tokens/s per replica, {each:,.1f} per device."
    kept = step.accepted_tokens_per_s
    if kept is not None:
        yield f"{kept:,.1f} tokens/s of them stay at an acceptance of {step.load.acceptance:g}."


def _span(low: str, high: str) -> str:
    return low if low == high else f"{low} to {high}"


def _memory(step: Step) -> Iterator[str]:
    needed, size = step.memory_bytes, step.capacity_bytes
    has = "its memory is not known" if size is None else f"the part has {size / GIGA:,.1f} GB"
    without = "without activations" if step.load.phase == "train" else "without workspace"
    verdict = "" if step.fits is not False else " It does not fit."
    yield f"Needs {needed / GIGA:,.1f} GB per device ({without}); {has}.{verdict}"


def _threshold_lines(step: Step) -> Iterator[str]:
    found = thresholds_of(step)
    if found is None:
        return
    yield (
        f"Products with weights are compute-bound from batch {round(found.batch):,} "
        f"(ridge {found.ridge:,.1f} FLOP/B)."
    )
    if found.context is not None:
        yield (
            f"A decode step can be compute-bound up to {round(found.context):,} tokens of context; "
            "beyond them no batch is enough."
        )


def time_text(time_us: float | None) -> str:
    """A time with its unit."""
    if time_us is None:
        return "unknown"
    if time_us >= MEGA:
        return f"{time_us / MEGA:,.4g} s"
    return f"{time_us / KILO:,.4g} ms" if time_us >= KILO else f"{time_us:,.4g} µs"


# ---------------------------------------------------------------------------------------- generic


def generic_document(step: Step, name: str) -> dict[str, Any]:
    """The step as a file of kernels that every command reads; its numbers are marked as modelled.

    Times are the serial ones; an op whose time is not known has none.
    """
    compute = {
        peak.key: peak for key, peak in step.peaks.items() if key in (COMPUTE, OUTSIDE, VECTOR)
    }
    return {
        "schema": GENERIC_SCHEMA,
        "provenance": "modelled",
        "title": f"{name}, {step.load.phase}, predicted",
        "device": {"name": step.part.name, "count": 1},
        "roofs": {
            "compute": [
                {
                    "name": peak.label,
                    "precision": key,
                    "value": peak.value / TERA,
                    "unit": "TFLOP/s",
                }
                for key, peak in compute.items()
                if peak.value
            ],
            "memory": _bandwidth(step, MEMORY),
            "links": _bandwidth(step, LINK),
        },
        "kernels": [_kernel(step, timed) for timed in step.ops],
    }


def _bandwidth(step: Step, clock: str) -> list[dict[str, Any]]:
    peak = step.peaks[clock]
    if not peak.value or not peak.key:
        return []
    return [{"name": peak.label, "level": peak.key, "value": peak.value / GIGA, "unit": "GB/s"}]


def _kernel(step: Step, timed: TimedOp) -> dict[str, Any]:
    """One op, all its calls together."""
    op, calls = timed.op, timed.counted
    unit = step.peaks[COMPUTE if op.is_layer_product else OUTSIDE].key
    work = {unit: op.matrix, step.peaks[VECTOR].key: op.vector}
    moved = {step.peaks[MEMORY].key: op.bytes, step.peaks[LINK].key: op.link}
    kernel: dict[str, Any] = {
        "name": op.name,
        "calls": round(calls),
        "category": category_of(op),
        "flops": {key: round(calls * flop) for key, flop in work.items() if flop} or 0,
        "bytes": {key: round(calls * size) for key, size in moved.items() if size and key} or 0,
    }
    if timed.time_us is not None:
        kernel["time"] = {"value": ceil(timed.time_us * calls * PS_PER_US), "unit": "ps"}
    return kernel


def category_of(op: ModelOp) -> str:
    """The kind of the op as other profiles call it."""
    if op.is_attention:
        return "attention"
    if op.link:
        kind = op.name.rpartition("_")[2]
        return _COLLECTIVES.get(kind, "collective")
    if op.matrix:
        return _MATRIX
    return "embedding" if op.name.endswith("embed") else "elementwise"
