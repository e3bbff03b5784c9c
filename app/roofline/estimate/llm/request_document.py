"""A request as a JSON document and as lines of text, and what was measured beside it."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from roofline.errors import BadViewError
from roofline.estimate.llm.serving import Lever, PhaseOfRequest, Request
from roofline.estimate.llm.step import Step
from roofline.estimate.on_device import COMPUTE, EXP, LINK, MEMORY, NETWORK, VECTOR
from roofline.model.plain_data import taken
from roofline.model.units import GIGA, KILO, span, time_text

_BELOW = 0.97  # nearer to the bound than rounding and clocks explain


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredRequest:
    """What a server took: the first token and each further one in ms, output tokens per second."""

    ttft_ms: float | None = None
    tpot_ms: float | None = None
    tokens_per_s: float | None = None

    def __post_init__(self) -> None:
        for name in ("ttft_ms", "tpot_ms", "tokens_per_s"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                option = f"--measured-{name.replace('_', '-')}"
                raise BadViewError(f"{option} is above 0.", remedy="Give what was measured.")

    @property
    def is_empty(self) -> bool:
        """Whether nothing was measured."""
        return self == MeasuredRequest()


_KEYS: Mapping[str, tuple[str, ...]] = {
    "ttft_ms": ("mean_ttft_ms", "median_ttft_ms"),
    "tpot_ms": ("median_tpot_ms", "mean_tpot_ms"),
    "tokens_per_s": ("output_throughput",),
}
_NESTED: Mapping[str, str] = {
    "ttft_ms": "time_to_first_token",
    "tpot_ms": "inter_token_latency",
    "tokens_per_s": "output_token_throughput",
}


def measured_in(path: Path) -> MeasuredRequest:
    """What `vllm bench serve`, SGLang's `bench_serving` or `genai-perf` wrote; `BadViewError` for
    a file without any of their keys."""
    try:
        found = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as fault:
        raise BadViewError(f"{path.name} cannot be read as JSON.", remedy="Give a file.") from fault
    record = found if isinstance(found, dict) else {}
    values = {name: _value(record, name) for name in _KEYS}
    if not any(values.values()):
        known = [key for keys in _KEYS.values() for key in keys] + [*_NESTED.values()]
        raise BadViewError(
            f"{path.name} has none of the known keys.", remedy=f"Known are {', '.join(known)}."
        )
    return MeasuredRequest(**values)


def _value(record: Mapping[str, Any], name: str) -> float | None:
    nested = record.get(_NESTED[name])
    places = [record.get(key) for key in _KEYS[name]]
    if isinstance(nested, dict):
        places += [nested.get("avg"), nested.get("p50")]
    return next((float(one) for one in places if isinstance(one, int | float)), None)


def request_document(
    found: Request, name: str, measured: MeasuredRequest | None = None
) -> dict[str, Any]:
    """The keys of `roofline predict --phase request --format json`."""
    return {
        "model": name,
        "phase": "request",
        "device": found.part.id,
        "prompt": found.prompt,
        "output": found.output,
        "batch": found.load.batch,
        **taken(found, "ttft_us", "tpot_us", "latency_us", "tokens_per_s", "tokens_per_s_per_user"),
        **taken(found, "tokens_per_s_per_device", "bound"),
        "prefill": _phase(found.prefill),
        "decode": _decode(found),
        "continuous": None
        if found.decode is None
        else {
            "tpot_us": found.continuous_tpot_us,
            "tokens_per_s": found.continuous_tokens_per_s,
        },
        "speculative": None
        if found.speedup is None
        else {
            "kept_tokens": found.kept,
            "speedup": found.speedup,
            "useless_from_batch": found.useless_batch,
        },
        "measured": _measured(found, measured),
        "memory_bytes": found.memory_bytes,
        "capacity_bytes": found.part.value("memory_bytes"),
        "fits": found.fits,
        "notes": list(found.peaks.notes),
    }


def _decode(found: Request) -> dict[str, Any]:
    """Keys of the decode steps; without any, `steps` is 0 and the others are null."""
    one = found.decode
    if one is None:
        return {
            **dict.fromkeys(_phase(found.prefill)),
            "steps": 0,
            "first_us": None,
            "last_us": None,
        }
    return {
        **_phase(one),
        "steps": one.steps,
        "first_us": found.first_us,
        "last_us": found.last_us,
    }


def _phase(one: PhaseOfRequest) -> dict[str, Any]:
    low_high = one.expected_us
    return {
        **taken(one, "bound", "intensity", "overlap_us", "no_overlap_us"),
        "expected_us": low_high and {"low": low_high[0], "high": low_high[1]},
        "flops": one.flops,
        "bytes": one.bytes,
        "shares": dict(one.shares),
        "lever": lever_records(one.levers),
    }


def lever_records(levers: tuple[Lever, ...]) -> list[dict[str, Any]]:
    """Levers as records, the largest gain first."""
    return [
        {
            **taken(one, "change", "gain", "is_assumed", "latency_ratio"),
        }
        for one in levers
    ]


def _measured(found: Request, measured: MeasuredRequest | None) -> dict[str, Any] | None:
    """Measured values and their ratios to the predicted ones."""
    if measured is None or measured.is_empty:
        return None
    ttft = None if measured.ttft_ms is None else measured.ttft_ms * KILO
    tpot = None if measured.tpot_ms is None else measured.tpot_ms * KILO
    rate = measured.tokens_per_s
    served = found.continuous_tokens_per_s
    return {
        "ttft_us": ttft,
        "ttft_ratio": ttft and ttft / found.ttft_us,
        "tpot_us": tpot,
        "tpot_ratio": tpot / found.tpot_us if tpot and found.tpot_us else None,
        "tokens_per_s": rate,
        "tokens_per_s_ratio": rate / served if rate and served else None,
    }


# ------------------------------------------------------------------------------------------- text


def request_text(found: Request, name: str, measured: MeasuredRequest | None = None) -> str:
    """A few lines for a terminal."""
    return "\n".join(_lines(found, name, measured)) + "\n"


def _lines(found: Request, name: str, measured: MeasuredRequest | None) -> Iterator[str]:
    batch = found.load.batch
    noun = "request" if batch == 1 else "requests"
    yield (
        f"{name}, {batch:,} {noun} of {found.prompt:,} + {found.output:,} tokens on "
        f"{found.part.name}"
    )
    yield from request_sentences(found)
    yield from lever_lines(found)
    yield from measured_lines(found, measured)
    needed, size = found.memory_bytes, found.part.value("memory_bytes")
    has = "its memory is not known" if size is None else f"the part has {size / GIGA:,.1f} GB"
    full = " It does not fit." if found.fits is False else ""
    yield f"Needs {needed / GIGA:,.1f} GB per device at the end; {has}.{full}"
    yield from found.peaks.notes


def request_sentences(found: Request) -> Iterator[str]:
    """One sentence for each phase: what binds it, its intensity, and its time."""
    prefill, decode = found.prefill, found.decode
    ridge = ridge_of(found.peaks) or 0.0
    yield (
        f"Prefill is {bound_of(found.peaks, prefill.bound)} ({prefill.intensity or 0:,.4g} FLOP/B, "
        f"the ridge is {ridge:,.4g}): {time_text(prefill.serial_us)} to the first token at least"
        f"{_expected(prefill)}."
    )
    if decode is None or found.first_us is None or found.last_us is None:
        yield "The request asks for one token, which prefill makes: nothing is decoded."
        return
    each = span(time_text(found.first_us), time_text(found.last_us))
    per = "per token" if found.speedup is None else f"per step of {found.kept:.2f} tokens"
    yield (
        f"Decode is {bound_of(found.peaks, decode.bound)} ({decode.intensity or 0:,.4g} FLOP/B): "
        f"{each} {per}, {found.tokens_per_s_per_user or 0:,.0f} tokens/s for each user, "
        f"{found.tokens_per_s:,.0f} for all."
    )
    yield (
        f"With slots that are always full: {time_text(found.continuous_tpot_us)} per token, "
        f"{found.continuous_tokens_per_s or 0:,.0f} tokens/s."
    )
    if found.speedup is not None:
        least = found.useless_batch
        until = "" if least is None else f", and no longer from batch {least:,}"
        yield f"Checking guessed tokens makes decode {found.speedup:.2f} times as fast{until}."


def ridge_of(step: Step) -> float | None:
    """FLOP per byte at which products in the layers and the memory take equal times."""
    unit, memory = step.peaks[COMPUTE].value, step.peaks[MEMORY].value
    return unit / memory if unit and memory else None


def bound_of(step: Step, bound: str) -> str:
    """The bound of a phase, in words: "compute-bound", "HBM-bound"."""
    return {
        COMPUTE: "compute-bound",
        VECTOR: "bound by the vector unit",
        EXP: "bound by the exponential unit",
        MEMORY: f"{step.peaks[MEMORY].label}-bound",
        LINK: "bound by the links",
        NETWORK: "bound by the network",
    }[bound]


def _expected(one: PhaseOfRequest) -> str:
    if one.expected_us is None:
        return ""
    return f"; expected {span(*map(time_text, one.expected_us))}"


def lever_lines(found: Request) -> Iterator[str]:
    """What would make each phase faster."""
    for title, one in (("Prefill", found.prefill), ("Decode", found.decode)):
        if one is None:
            continue
        kinds = one.bytes_by_kind
        shares = ""
        if title == "Decode" and one.bytes:
            weights, keys = kinds["weights"] / one.bytes, kinds["kv"] / one.bytes
            said = f"{100 * weights:.0f} % of the bytes, keys and values {100 * keys:.0f} %"
            shares = f" (weights are {said})"
        words = "; ".join(map(lever_words, one.levers)) or "none of 1.05 times or more"
        yield f"Levers of {title.lower()}{shares}: {words}."


def lever_words(one: Lever) -> str:
    """A lever: its gain, and the change."""
    gained = "the tokens" if one.latency_ratio else "as fast"
    slower = f", each step {one.latency_ratio:.2f} times as long" if one.latency_ratio else ""
    return f"{one.gain:.2f} times {gained} with {one.change}{slower}"


def measured_lines(found: Request, measured: MeasuredRequest | None) -> Iterator[str]:
    """Measured times over the bound, and a doubt where they are below it."""
    record = _measured(found, measured)
    if record is None:
        return
    said = []
    if record["ttft_us"]:
        said.append(
            f"first token {time_text(record['ttft_us'])} ({record['ttft_ratio']:.2f} times the "
            "bound)"
        )
    if record["tpot_us"] and record["tpot_ratio"]:
        said.append(f"{time_text(record['tpot_us'])} per token ({record['tpot_ratio']:.2f} times)")
    if record["tokens_per_s_ratio"]:
        said.append(
            f"{record['tokens_per_s']:,.0f} tokens/s ({record['tokens_per_s_ratio']:.2f} of what "
            "full slots could give)"
        )
    yield f"Measured: {', '.join(said)}."
    ratios = [record["ttft_ratio"], record["tpot_ratio"]]
    if any(one is not None and one < _BELOW for one in ratios):
        yield (
            "That is faster than the bound: check batch, lengths, element types, or hits of a "
            "prefix cache."
        )
