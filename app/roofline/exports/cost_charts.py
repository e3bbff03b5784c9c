"""Charts of predicted ops, steps of a model and requests on the roofline of a part, and parts."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from roofline.devices.measured import while_it_works
from roofline.devices.parts import Part
from roofline.errors import BadViewError
from roofline.estimate.kernels import KernelRow
from roofline.estimate.llm.request_document import MeasuredRequest, ridge_of
from roofline.estimate.llm.serving import PhaseOfRequest, Request
from roofline.estimate.llm.step import Step, TimedOp
from roofline.estimate.on_device import (
    COMPUTE,
    EXP,
    LINK,
    MEMORY,
    NETWORK,
    VECTOR,
    ChipPeak,
    Estimate,
    main_memory,
    product_peak,
)
from roofline.figures.figure import Figure
from roofline.model.device import PeakOrigin
from roofline.model.units import GIGA, KILO, US_PER_S
from roofline.presentation.charts.cost_figures import (
    LOOKS,
    TIE,
    CostChart,
    Curve,
    Mark,
    Point,
    range_of,
    roof_chart,
    roof_pair,
)
from roofline.presentation.quantities import bandwidth, duration, flop_rate, significant

OverRecord = Mapping[str, Any]
"""The key `over` of a prediction: docs/predict.md."""

_FLOP_OF_A_PAIR = 4.0  # times the head size: two products, of two FLOPs for each element


def bound_word(found: Estimate) -> str:
    """The bound of the op, as the start of a sentence."""
    return {
        COMPUTE: "compute-bound",
        VECTOR: "bound by the vector unit",
        MEMORY: f"{found.peaks[MEMORY].label}-bound" if MEMORY in found.peaks else "",
        EXP: "bound by the exponential unit",
        LINK: "bound by the link",
        NETWORK: "bound by the network",
    }[found.bound or COMPUTE]


def estimate_figure(found: Estimate, measured_us: float | None = None) -> Figure | None:
    """The op on the roofline of its part, and what was measured; `None` without work or peaks."""
    unit = found.peaks.get(COMPUTE) or found.peaks.get(VECTOR)
    memory = found.peaks.get(MEMORY)
    best = found.attainable_gflops
    if not (found.flop and unit and memory and best is not None):
        return None
    at = found.flop / found.work.memory_bytes
    words = f"{duration(found.t_min_us)} at best"
    marks = [Mark(at=(at, best), kind="predicted", said=words, name=words, size=16)]
    curves = []
    if measured_us:
        reached = found.flop / measured_us * US_PER_S / GIGA
        taken = f"{duration(measured_us)} measured"
        marks.append(Mark(at=(at, reached), kind="measured", said=taken, name=taken, size=14))
        curves.append(Curve(points=[(at, best), (at, reached)], look=TIE))
    alt = f"Roofline of {found.part.name}: {bound_word(found)}, {words}"
    return _chart(
        "cost",
        alt,
        (memory, unit),
        marks,
        curves,
        [(at / 3, best / 8), *(mark.at for mark in marks)],
    )


def step_figure(step: Step, record: OverRecord | None = None) -> Figure | None:
    """Each op with products at its intensity and best rate; measured ones joined to theirs."""
    ops = [one for one in step.ops if one.op.matrix and one.op.bytes and one.time_us]
    if not ops:
        return None
    seen = list(_measured_places(record)) if record else []
    exps = _exp_roof(step) or ()
    marks = [*_star(step), *_rings(ops, with_names=not seen)]
    for name, _, measured in seen:
        said = f"{name}, measured"
        marks.append(Mark(at=measured, kind="measured", said=said, name=name, size=12))
    alt = (
        f"Operations of the model on the roofline of {step.part.name}; the table below has the "
        "same values."
    )
    curves = [*(Curve(points=ends, look=TIE) for _, *ends in seen), *exps[:1]]
    peaks = step.peaks[MEMORY], step.peaks[COMPUTE]
    return _chart("model", alt, peaks, [*marks, *exps[1:]], curves, [mark.at for mark in marks])


def _chart(
    name: str,
    alt: str,
    peaks: tuple[ChipPeak, ChipPeak],
    marks: Sequence[Mark],
    curves: Sequence[Curve],
    around: Sequence[Point],
) -> Figure | None:
    """A roofline with room for the marks; `None` where a peak of memory or compute is unknown."""
    memory, unit = peaks
    if not (memory.value and unit.value):
        return None
    return roof_chart(
        name,
        alt,
        roof_pair(memory.label, memory.value / GIGA, unit.value / GIGA),
        x_title=f"FLOP per byte of {memory.label}",
        around=around,
        curves=curves,
        marks=marks,
    ).figure()


def parts_figure(
    parts: Sequence[Part], dtype: str, kernels: Sequence[KernelRow] = ()
) -> Figure | None:
    """The roof of each part for products of `dtype`, and every kernel on each of them at its best
    rate; without kernels the ridges, with the names of the parts. `None` where no roof is known."""
    corners = [(one, look, _corner(one, dtype)) for one, look in zip(parts, LOOKS, strict=False)]
    known = [(one, look, ridge) for one, look, ridge in corners if ridge]
    if kernels:
        alt = (
            "Kernels of a transformer on the roofs of these devices; the table below has their "
            "rates."
        )
        marks = [
            Mark(
                at=(row.intensity, cell.rate / GIGA),
                kind="predicted",
                said=f"{row.title} on {one.name}: {cell.text}",
                size=9,
                token=look.token,
            )
            for row in kernels
            for one, look, cell in zip(parts, LOOKS, row.cells, strict=False)
            if cell.rate
        ]
    else:
        alt = f"Roofs of {', '.join(one.name for one, _, _ in known)} for products of {dtype}."
        marks = [
            Mark(at=ridge, kind="crossing", said=_said(one, ridge), name=one.name, size=7)
            for one, _, ridge in known
        ]
    if not marks:
        return None
    x = range_of(mark.at[0] for mark in marks)
    ends = 10.0 ** x[0], 10.0 ** x[1]
    return CostChart(
        id="roofs",
        alt=alt,
        x=x,
        y=range_of(mark.at[1] for mark in marks),
        x_title="FLOP per byte of the main memory",
        curves=[
            *(Curve(points=_roof(ridge, *ends), look=look) for _, look, ridge in known),
            *(
                Curve(points=_roof(lower, *ends), look=replace(look, width=1.0))
                for one, look, ridge in known
                if one.origin is PeakOrigin.CALIBRATED
                and (lower := _corner(while_it_works(one), dtype)) not in (None, ridge)
            ),
        ],
        marks=marks,
        are_roofs=True,
    ).figure()


def _corner(part: Part, dtype: str) -> Point | None:
    """FLOP per byte and GFLOP/s at the ridge; `None` where a roof is not known, or not there."""
    try:
        peak = product_peak(part, dtype)[0].value
    except BadViewError:  # the part has no such unit
        return None
    width = main_memory(part).value
    return (peak / width, peak / GIGA) if peak and width else None


def _said(part: Part, ridge: Point) -> str:
    """What a ridge says when it is pointed at."""
    at, rate = ridge
    return (
        f"{part.name}: {flop_rate(rate)} from {significant(at)} FLOP/B on, "
        f"{bandwidth(rate / at)} below"
    )


def _roof(ridge: Point, low: float, high: float) -> Sequence[Point]:
    """The roofs of the main memory and of products between two intensities."""
    at, rate = ridge
    ends = [(low, rate * low / at), ridge, (high, rate)]
    return [one for one in ends if low <= one[0] <= high]


def _exp_roof(step: Step) -> tuple[Curve, Mark] | None:
    """The rate at which the exponential unit limits attention, a roof over attention alone; `None`
    where the part has no figure of that unit."""
    exps = step.peaks.get(EXP)
    ops = [one.op for one in step.ops if one.op.is_attention and one.op.exp and one.op.bytes]
    if exps is None or not exps.value or not ops:
        return None
    op = ops[0]  # of the forward pass: backward has more products for each exponential
    each = op.matrix / op.exp
    at, rate = op.matrix / op.bytes, each * exps.value / GIGA
    name = f"exponentials at head size {significant(each / _FLOP_OF_A_PAIR)}"
    said = f"{name}, a roof of attention"
    line = Curve(points=[(at / 4, rate), (at * 4, rate)], look=TIE)
    return line, Mark(at=(at, rate), kind="crossing", said=said, name=name, size=5)


def time_of(timed: TimedOp) -> float:
    """All calls of the op, in µs; 0 where its time is not known."""
    return timed.counted * (timed.time_us or 0.0)


def _rings(ops: Sequence[TimedOp], *, with_names: bool) -> Iterable[Mark]:
    """A ring per op, the larger the longer it takes, the longest first."""
    longest = max(map(time_of, ops)) or 1.0
    for timed in sorted(ops, key=time_of, reverse=True):
        name, taken = timed.op.name, time_of(timed)
        yield Mark(
            at=_place(timed.op.matrix, timed.op.bytes, timed.time_us or 1.0),
            kind="predicted",
            said=f"{name}: {duration(taken)}, bound by {timed.bound}",
            name=name if with_names else "",
            size=max(7.0, 22 * (taken / longest) ** 0.5),
        )


def _star(step: Step) -> Iterable[Mark]:
    matrix, moved = step.total(lambda op: op.matrix), step.total(lambda op: op.bytes)
    serial = step.step_us["serial"]
    if serial and moved and matrix:
        said = f"the whole step: {duration(serial)}"
        at = _place(matrix, moved, serial)
        yield Mark(at=at, kind="whole", said=said, name="step", size=14)


def _place(flop: float, moved: float, time_us: float) -> Point:
    """FLOP per byte, and GFLOP/s."""
    return flop / moved, flop / time_us * US_PER_S / GIGA


def _measured_places(record: OverRecord) -> Iterable[tuple[str, Point, Point]]:
    """Name, predicted and measured place of each op with known work on both sides."""
    for one in record["ops"]:
        if one["by"] != "flops" or not all((*one["flops"], *one["bytes"], one["ratio"])):
            continue
        (best, taken), (moved, crossed) = one["flops"], one["bytes"]
        calls, seen = one["calls"]
        name = f"{one['model'][0]} {significant(one['ratio'], 2)}×"
        yield (
            name,
            _place(best, moved, one["predicted_us"] / calls),
            _place(taken, crossed, one["measured_us"] / seen),
        )


def request_figure(found: Request, measured: MeasuredRequest) -> Figure | None:
    """A star for each phase at its intensity, and what was measured below it."""
    stars = [(name, one, _in(one, one.serial_us)) for name, one in phases(found) if one.bytes]
    if not stars:
        return None
    marks, ties = [], []
    for name, one, place in stars:
        at = significant(one.intensity)
        said = f"{name}, {at} FLOP/B"
        marks.append(Mark(at=place, kind="whole", said=said, name=f"{name}, {at}", size=14))
        taken = _measured_us(name, one, found, measured)
        if taken:
            reached, said = _in(one, taken), f"{name}, measured"
            marks.append(Mark(at=reached, kind="measured", said=said, name=said, size=12))
            ties.append(Curve(points=[place, reached], look=TIE))
    alt = (
        f"Prefill and decode on the roofline of {found.part.name}, whose ridge is "
        f"{significant(ridge_of(found.peaks))} FLOP/B; the sentences above have their values."
    )
    peaks = found.peaks.peaks
    ends = (peaks[MEMORY], peaks[COMPUTE])
    return _chart("request", alt, ends, marks, ties, [mark.at for mark in marks])


def phases(found: Request) -> Iterator[tuple[str, PhaseOfRequest]]:
    """Prefill, and decode where there is one."""
    yield "prefill", found.prefill
    if found.decode is not None:
        yield "decode", found.decode


def _in(one: PhaseOfRequest, taken_us: float) -> Point:
    """FLOP per byte, and GFLOP/s in this time."""
    return one.intensity or 0.0, one.flops / taken_us * US_PER_S / GIGA


def _measured_us(
    name: str, one: PhaseOfRequest, found: Request, measured: MeasuredRequest
) -> float | None:
    """The measured time of the phase; decode makes all tokens but the first."""
    if name == "prefill":
        return measured.ttft_ms and measured.ttft_ms * KILO
    return measured.tpot_ms and measured.tpot_ms * KILO * (found.output - 1)
