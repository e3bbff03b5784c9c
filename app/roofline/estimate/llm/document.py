"""A predicted step as a JSON document, as lines of text, and as a file of kernels."""

from collections.abc import Iterator
from dataclasses import replace
from math import ceil
from typing import Any

from roofline.estimate.document import collective_record, whole
from roofline.estimate.llm.memory import WEIGHTS, memory_bytes, training_bytes
from roofline.estimate.llm.rank import ModelOp
from roofline.estimate.llm.request_document import (
    bound_of,
    lever_records,
    lever_words,
    ridge_of,
)
from roofline.estimate.llm.serving import levers
from roofline.estimate.llm.step import OUTSIDE, Step, TimedOp
from roofline.estimate.llm.thresholds import (
    ATTENTION,
    EXPERTS,
    HEAD,
    PRODUCTS,
    Thresholds,
    Turning,
    hidden_from,
    thresholds_of,
)
from roofline.estimate.on_device import COMPUTE, LINK, MEMORY, NETWORK, VECTOR
from roofline.model.units import GIGA, PS_PER_US, TERA, span, time_text

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
        "lever": lever_records(tuple(levers(step))),
        "latency_us": step.latency_us,
        "expected_us": _expected(step),
        "tokens_per_s": step.tokens_per_s,
        "tokens_per_s_per_device": step.tokens_per_s_per_device,
        "accepted_tokens_per_s": step.accepted_tokens_per_s,
        "memory_bytes": whole(step.memory_bytes),
        **_training(step),
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
        "notes": [*step.notes, *_training_words(step)],
        "coverage": None,
    }


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


def _training(step: Step) -> dict[str, Any]:
    """Keys of training alone: memory by kind, activations, and what collectives add."""
    load = step.load
    if load.phase != "train":
        return {}
    bubble = (load.pp - 1) / (load.virtual * load.microbatches + load.pp - 1)
    kinds = training_bytes(step.model, load)
    return {
        "memory": {name: whole(size) for name, size in kinds.items()},
        "activation_bytes": whole(step.activation_bytes),
        "exposed_us": dict(step.schedule.exposed_us) if step.is_timed else None,
        "pipeline": {"bubble": bubble},
    }


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


def _thresholds(found: Thresholds) -> dict[str, Any]:
    ridge = {"ridge_flop_per_byte": found.ridge, "batch_closed_form": found.closed_form}
    if not found.classes:
        return {**ridge, "prompt": found.prompt}
    return {
        **ridge,
        **{
            name: {"first": one.first, "batch": one.batch, "never": list(one.never)}
            for name, one in found.classes.items()
        },
        "batch_at_context": found.batch_at_context,
        "context": found.context,
        "context_note": found.context_note,
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
    wide = max(len(timed.op.name) for timed in step.ops)
    yield f"{'op':<{wide}}{'calls':>7}{'FLOP':>12}{'bytes':>12}{'time':>14}  bound by"
    for timed in step.ops:
        moved = timed.op.bytes or timed.op.link
        yield (
            f"{timed.op.name:<{wide}}{timed.counted:>7,.6g}{flops_of(timed.op):>12.4g}{moved:>12.4g}"
            f"{time_text(timed.time_us):>14}  {timed.bound or '-'}"
        )
    yield ""
    yield from _bound_line(step)
    yield from _times(step)
    yield from _memory(step)
    yield from _threshold_lines(step)
    yield from step.notes
    yield from _training_words(step)


def _training_words(step: Step) -> Iterator[str]:
    """From how many tokens shared weights are gathered for nothing, and how often."""
    load = step.load
    if load.phase != "train" or load.zero != WEIGHTS or not step.is_timed:
        return
    each = next(t.time_us for t in step.ops if t.op.name == "fwd.weights_allgather")
    least = hidden_from(step)
    behind = f"Gathers of weights ({time_text(each)} a layer)"
    if least is None:
        yield f"{behind} do not hide behind forward and backward work at any length."
    else:
        yield f"{behind} hide behind forward and backward work from {least:,} tokens per sequence."
    if load.pp > 1:
        yield "With a pipeline, weights are gathered once for each microbatch."


def _bound_line(step: Step) -> Iterator[str]:
    """What binds the step, its intensity, and what would make it faster."""
    at, ridge = _totals(step)["intensity"], ridge_of(step)
    if step.bound is None or not at or not ridge:
        return
    phase = {"train": "Training", "mixed": "A mixed step"}.get(step.load.phase)
    words = "; ".join(map(lever_words, levers(step)))
    said = f" Levers: {words}." if words else ""
    yield (
        f"{phase or step.load.phase.capitalize()} is {bound_of(step, step.bound)} "
        f"({at:,.4g} FLOP/B, the ridge is {ridge:,.4g}).{said}"
    )


def _times(step: Step) -> Iterator[str]:
    sums = step.step_us
    meanings = {
        "overlap": "at best, everything at once",
        "scheduled": "data parallelism hidden: the bound to compare with",
        "serial": "one op after the other: the bound to compare with",
        "no_overlap": "one resource at a time",
    }
    if step.load.phase == "train":
        meanings["serial"] = "nothing hidden, one op after the other"
    else:
        del meanings["scheduled"]
    for key, meaning in meanings.items():
        yield f"{key:<12}{time_text(sums[key]):>12}  {meaning}"
    expected = step.expected
    if expected is not None:
        matrix = span(*(f"{100 * share:.0f}" for share in expected.matrix))
        times = span(time_text(expected.low_us), time_text(expected.high_us))
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


def _memory(step: Step) -> Iterator[str]:
    needed, size = step.memory_bytes, step.capacity_bytes
    has = "its memory is not known" if size is None else f"the part has {size / GIGA:,.1f} GB"
    without = "without workspace"
    if step.load.phase == "train":
        without = f"and {step.activation_bytes / GIGA:,.1f} GB of activations, without logits"
    verdict = "" if step.fits is not False else " It does not fit."
    yield f"Needs {needed / GIGA:,.1f} GB per device ({without}); {has}.{verdict}"


def _threshold_lines(step: Step) -> Iterator[str]:
    found = thresholds_of(step)
    if found is not None:
        yield from threshold_words(step, found)


def threshold_words(step: Step, found: Thresholds) -> Iterator[str]:
    """Sentences on where compute begins to bind; each follows from rows of such a table."""
    if not found.classes:
        size = "at no length" if found.prompt is None else f"from {found.prompt:,} new tokens"
        aside = _links_aside(step)
        yield f"The whole step is compute-bound {size} (ridge {found.ridge:,.1f} FLOP/B){aside}."
        return
    said = [_class_words(step, kind, one) for kind, one in found.classes.items() if kind != HEAD]
    yield "; ".join(one for one in said if one) + "."
    yield _whole_words(step, found)
    yield from _beside(step)


def _links_aside(step: Step) -> str:
    """Thresholds hold links and network aside; a step that sends over them says so."""
    return ", links and network aside" if any(timed.op.sent for timed in step.ops) else ""


_CLASS_WORDS = {
    PRODUCTS: "Dense products of the layers",
    EXPERTS: "the routed experts",
    ATTENTION: "attention",
}


def _class_words(step: Step, kind: str, one: Turning) -> str:
    model, load = step.model, step.load
    name = _CLASS_WORDS[kind]
    if kind == EXPERTS:
        name += f", {model.experts:,} with {model.active_experts:,} active,"
    verb = "is" if kind == ATTENTION else "are"
    if one.batch is None:
        why = ""
        if kind == ATTENTION:
            at = max(_intensity(step, op) for op in one.never)
            why = f": its intensity is {at:,.1f} FLOP/B whatever the batch"
        return f"{name} {verb} compute-bound at no batch{why}"
    if one.batch == 1 and not one.never:
        why = ""
        if kind == ATTENTION:
            at = min(_intensity(step, t.op.name) for t in step.ops if t.op.is_attention)
            why = f": its intensity is {at:,.1f} FLOP/B"
        return f"{name} {verb} compute-bound at every batch{why}"
    first = "" if one.first == one.batch else f" (the first from {one.first:,})"
    each = f" on each of {load.ep:,} ranks" if load.ep > 1 and kind == EXPERTS else ""
    each += _of_each(step)
    never = f", {' and '.join(one.never)} at no batch" if one.never else ""
    if never and kind == PRODUCTS:
        held = max(_intensity(step, op, without_weights=True) for op in one.never)
        never += f", for activations hold them at {held:,.4g} FLOP/B"
    return f"{name} {verb} compute-bound from batch {one.batch:,}{each}{first}{never}"


def _of_each(step: Step) -> str:
    return " of each microbatch" if step.load.microbatches > 1 else ""


def _intensity(step: Step, name: str, *, without_weights: bool = False) -> float:
    op = next(timed.op for timed in step.ops if timed.op.name == name)
    moved = op.bytes - (op.weights if without_weights else 0.0)
    return op.matrix / moved if moved else 0.0


def _whole_words(step: Step, found: Thresholds) -> str:
    keys = f"A whole step at {step.load.context:,} keys is compute-bound"
    least, aside = found.batch_at_context, _links_aside(step)
    at = "at no batch" if least is None else f"from batch {least:,}{_of_each(step)}"
    if found.context_note is not None:
        every = "at every context" if found.context_note == "all" else "at no context"
        return f"{keys} {at}{aside}; some batch is enough {every}."
    if least is None:
        return f"{keys} at no batch{aside}; up to {found.context:,} keys some batch is enough."
    return f"{keys} {at}{_needs(step, least)}, and beyond {found.context:,} keys at none{aside}."


def _needs(step: Step, batch: int) -> str:
    """What that batch needs, where the part's memory does not hold it."""
    size = step.capacity_bytes
    whole = batch * step.load.microbatches
    needed = memory_bytes(step.model, replace(step.load, batch=whole))
    if size is None or needed <= size:
        return ""
    return f" (needs {needed / GIGA:,.0f} GB, the part has {size / GIGA:,.0f})"


def _beside(step: Step) -> Iterator[str]:
    """An exchange of experts that takes a tenth of the step or more."""
    serial = step.step_us["serial"]
    taken = sum(
        timed.counted * (timed.time_us or 0.0)
        for timed in step.ops
        if timed.bound == NETWORK and timed.op.name.startswith("ep_")
    )
    if serial and taken > _EXCHANGE * serial:
        yield (
            f"The exchange of experts over the network takes {time_text(taken)} of "
            f"{time_text(serial)}."
        )


_EXCHANGE = 0.1


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
