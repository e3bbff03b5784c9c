"""The answer of the calculator: an estimate as sentences, bars, plots and tables."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from urllib.parse import urlencode

from roofline.errors import BadViewError
from roofline.estimate.document import ridge
from roofline.estimate.forms import Filled, crossing, intensity
from roofline.estimate.on_device import (
    COMPUTE,
    EXP,
    LATENCY,
    LINK,
    MEMORY,
    VECTOR,
    Estimate,
    estimate,
)
from roofline.estimate.variants import Tiling, batch_threshold, tiling_of, unfused
from roofline.exports.cost_charts import bound_word, estimate_figure
from roofline.figures.figure import Figure
from roofline.presentation.charts.cost_figures import (
    LOOKS,
    PLAIN,
    CostChart,
    Curve,
    Mark,
    range_of,
    size_tick,
)
from roofline.presentation.charts.roof_traces import plain_tick
from roofline.presentation.quantities import (
    amount,
    count,
    duration,
    percent,
    significant,
)
from roofline.presentation.sentences import Number, Segment, Sentence, say
from roofline.web.offline import calculator_views as views
from roofline.web.offline.views import pieces

OTHERS = ("h100-sxm", "b200", "mi300x", "a100-80-sxm", "tpu-v5e", "tpu-v5p", "tpu-v6e")
_DECADES, _PER_DECADE = 6, 10  # sizes of which the chart has intensities


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The op as measured; `None` where no profile tells. `time_us` and work are per call."""

    time_us: float | None = None
    calls: float | None = None
    flop: float | None = None
    bytes: float | None = None


def cost(form: Filled, device: str, measured: Measured, kept: Mapping[str, str]) -> views.CostView:
    """The answer for the form on the part `device`; `BadViewError` for what cannot be read.

    `kept` are further keys of the address, for links to other devices.
    """
    form.check_sizes()
    found = estimate(form.op, form.shape, device, form.options)
    others = tuple(_others(form, found))
    tiles = tiling_of(found)
    facts_title, facts = _facts(found, tiles, measured)
    return views.CostView(
        headline=pieces(_headline(found, measured)),
        lead=pieces(_lead(form, found, measured)),
        css=css_of(found.bound),
        boxes=tuple(_boxes(found)),
        tensors=tuple(_tensors(found)),
        all_bytes=amount(sum(_moved(found).values()), "B"),
        bytes_note="Each tensor crosses the memory once: a lower bound."
        if found.work.tensors
        else "What each device sends, in one direction.",
        roofline=estimate_figure(found, measured.time_us),
        clocks=tuple(_clocks(found, measured)),
        facts_title=facts_title,
        facts=facts,
        levels=tuple(_levels(found)),
        levels_note=_LEVELS_NOTE,
        sizes=_sizes(form, found, others),
        sizes_title=f"From how many {form.form.unit} is it bound by arithmetic?",
        devices=tuple(_device(form, one, number, found, kept) for number, one in enumerate(others)),
        batch_title="B*" if form.op == "matmul" else "",
        notes=found.notes,
        is_measured=bool(measured.time_us),
    )


def positive(values: Mapping[str, str], key: str) -> float | None:
    """A number above 0; `None` for all else."""
    try:
        value = float(values.get(key, ""))
    except ValueError:
        return None
    return value if 0 < value < math.inf else None


# -------------------------------------------------------------------------------- the sentence


def _headline(found: Estimate, measured: Measured) -> Sentence:
    if found.t_min_us is None or found.bound is None:
        return say("cost_unknown", device=found.part.name)
    bound = Segment(kind="bound", text=bound_word(found), token="")
    best = Number(found.t_min_us, "time_us")
    said = say("cost_bound", bound=bound, device=found.part.name, time=best)
    if measured.time_us:
        said = said + say("cost_measured", time=Number(measured.time_us, "time_us"))
    return said


def _short_bound(found: Estimate) -> str:
    if found.bound is None:
        return "not known"
    return found.peaks[MEMORY].label if found.bound == MEMORY else found.bound


def css_of(bound: str | None) -> str:
    """The class of the bound's colour."""
    return f"by-{bound}" if bound else ""


def _lead(form: Filled, found: Estimate, measured: Measured) -> Sentence:
    return [
        *_work(found),
        *_threshold(form, found),
        *_fused(found),
        *_against(found, measured),
    ]


def _work(found: Estimate) -> Sentence:
    moved = sum(_moved(found).values())
    if not found.flop:
        return say("cost_moves", moved=amount(moved, "B"))
    memory = found.work.memory_bytes
    at = Number(found.flop / memory, "flop_per_byte")
    work = {"work": amount(found.flop, "FLOP"), "moved": amount(memory, "B")}
    corner = ridge(found)
    if corner is None:
        return say("cost_work_only", **work, intensity=at)
    return say("cost_work", **work, intensity=at, ridge=Number(corner, "flop_per_byte"))


def _threshold(form: Filled, found: Estimate) -> Sentence:
    corner = _corner(found)
    if not form.form.swept or corner is None:
        return []
    least = crossing(form, corner)
    if least is None:
        return say("cost_never", unit=form.form.unit)
    return say("cost_from", size=count(least), unit=form.form.unit)


def _corner(found: Estimate) -> float | None:
    """FLOP per byte at which all arithmetic of the op takes as long as its bytes: less than the
    ridge where the vector or exponential unit takes longer than the products."""
    corner, times = _ridge(found), found.known_us
    known = [times[name] for name in (COMPUTE, VECTOR, EXP) if times.get(name)]
    return corner * known[0] / max(known) if corner and known else corner


def _ridge(found: Estimate) -> float | None:
    """The ridge of what the op is drawn against: of a link where it uses one."""
    unit, link = found.peaks.get(COMPUTE), found.peaks.get(LINK)
    if unit is not None and link is not None:
        return unit.value / link.value if unit.value and link.value else None
    return ridge(found)


def _fused(found: Estimate) -> Sentence:
    apart = unfused(found)
    if apart is None or apart.time_us is None or apart.speed_up is None:
        return []
    return say(
        "cost_fused", time=Number(apart.time_us, "time_us"), ratio=Number(apart.speed_up, "number")
    )


_BELOW = 0.97  # nearer to the bound than rounding and clocks explain


def _against(found: Estimate, measured: Measured) -> Sentence:
    least, taken = found.t_min_us, measured.time_us
    if not least or not taken:
        return []
    if taken < _BELOW * least:
        return say("cost_below")
    said = say("cost_reaches", share=Number(least / taken, "ratio"))
    if not measured.calls or taken <= least:
        return said
    saving = Number((taken - least) * measured.calls, "time_us")
    return said + say("cost_saves", count=Number(measured.calls, "count"), saving=saving)


# --------------------------------------------------------------------------------------- bytes


def _moved(found: Estimate) -> Mapping[str, float]:
    if found.work.tensors:
        return {name: size for name, size in found.work.tensors.items() if size}
    return {"on the link": found.work.link_bytes}


def _tensors(found: Estimate) -> Iterable[views.TensorView]:
    moved = _moved(found)
    total = sum(moved.values()) or 1.0
    starts = [0.0, *accumulate(moved.values())]
    for number, ((name, size), start) in enumerate(zip(moved.items(), starts, strict=False)):
        yield views.TensorView(
            name=name,
            moved=amount(size, "B"),
            share_text=percent(size / total),
            left=100 * start / total,
            share=100 * size / total,
            css=f"tensor-{number}",
        )


_DRAWING = (100.0, 60.0)
_GAP = 2.0
_LEAST = 1.5


def _boxes(found: Estimate) -> Iterable[views.BoxView]:
    """The three matrices of a product, to scale: A left of the result, B above it."""
    if found.op not in ("matmul", "distributed-matmul"):
        return
    m, k, n = found.shape[-3:]
    scale = min((_DRAWING[0] - _GAP) / (k + n), (_DRAWING[1] - _GAP) / (k + m))
    high, deep, wide = (max(_LEAST, size * scale) for size in (m, k, n))
    left = (_DRAWING[0] - deep - wide - _GAP) / 2
    across, down = left + deep + _GAP, deep + _GAP
    yield views.BoxView(x=left, y=down, width=deep, height=high, css="tensor-0")
    yield views.BoxView(x=across, y=0, width=wide, height=deep, css="tensor-1")
    yield views.BoxView(x=across, y=down, width=wide, height=high, css="tensor-2")


# -------------------------------------------------------------------------------------- clocks


def _clocks(found: Estimate, measured: Measured) -> Iterable[views.BarView]:
    rows: list[tuple[str, float | None, str, str]] = [
        (
            LATENCY if name == LATENCY else found.peaks[name].label,
            time,
            css_of(name),
            found.peaks[name].source,
        )
        for name, time in found.time_us.items()
        if time != 0  # of a level that this op does not use
    ]
    if len(rows) > 1:
        rows += [
            ("All at once", found.t_min_us, "sum", ""),
            ("One after the other", found.t_max_us, "sum", ""),
        ]
    if measured.time_us:
        rows.append(("Measured", measured.time_us, "taken", ""))
    longest = max((time for _, time, _, _ in rows if time), default=1.0)
    for title, time, css, source in rows:
        share = 100 * (time or 0.0) / longest
        yield views.BarView(title=title, time=duration(time), share=share, css=css, source=source)


def _facts(
    found: Estimate, tiles: Tiling | None, measured: Measured
) -> tuple[str, tuple[views.FactView, ...]]:
    rows = [*_tile_facts(found, tiles), *_counted(found, measured)]
    title = "Tiles and waves" if tiles else "Counted ÷ predicted"
    return title, tuple(views.FactView(name=name, value=value) for name, value in rows)


_LEVELS_NOTE = (
    "All levels work at once, and the longest counts; the latency comes on top. Bytes are those of "
    "one device, along an axis those of its busiest link."
)


def _levels(found: Estimate) -> Iterable[tuple[str, ...]]:
    """What a collective sends inside a domain and over the network, or along each axis."""
    for one in found.collective.levels if found.collective else ():
        ring = "" if one.wrap is None else ", a ring" if one.wrap else ", a line"
        sent = amount(one.bytes, "B")
        rate = "–" if one.rate is None else f"{amount(one.rate, 'B')}/s"
        yield f"{one.name}{ring}", count(one.ranks), sent, rate, duration(one.us)


def _tile_facts(found: Estimate, tiles: Tiling | None) -> Iterable[tuple[str, str]]:
    if tiles is None:
        return
    across, down = tiles.grid
    yield "Tiles", f"{count(across)} × {count(down)} = {count(tiles.count)}"
    if tiles.waves is not None:
        yield f"Waves on {tiles.processors} processors", significant(tiles.waves)
        yield "Used of the last wave", percent(tiles.last_wave_ratio)
        yield "Lost to the last wave", percent(tiles.tail_ratio)
    yield "Padding", percent(tiles.padding_ratio)
    yield "Bytes that tiles load", amount(tiles.bytes, "B")
    yield "FLOP per byte of these", significant(found.flop / tiles.bytes)


def _counted(found: Estimate, measured: Measured) -> Iterable[tuple[str, str]]:
    if measured.flop and found.flop:
        yield "Counted FLOPs ÷ these", significant(measured.flop / found.flop)
    if measured.bytes and found.work.memory_bytes:
        yield "Counted bytes ÷ these", significant(measured.bytes / found.work.memory_bytes)


# --------------------------------------------------------------------------------- other sizes


def _others(form: Filled, found: Estimate) -> Iterable[Estimate]:
    """The estimate on the chosen part, then on others of several makers."""
    yield found
    for part in OTHERS:
        if part == found.part.id:
            continue
        try:
            yield estimate(form.op, form.shape, part, form.options)
        except BadViewError:  # what one part cannot do says nothing about the others
            continue


def _sizes(form: Filled, found: Estimate, others: Sequence[Estimate]) -> Figure | None:
    """FLOP per byte over the swept field, a ridge per device; `None` without FLOPs or peaks."""
    ridges = [(corner, one) for one in others[: len(LOOKS)] if (corner := _corner(one))]
    if not form.form.swept or not found.flop or not ridges:
        return None
    samples = _samples(form, min(corner for corner, _ in ridges) / _BELOW_RIDGE)
    first, last = samples[0][0], samples[-1][0]
    looks = {one.part.id: look for one, look in zip(others, LOOKS, strict=False)}
    return CostChart(
        id="sizes",
        alt=f"FLOP per byte over {form.form.unit}, with the ridge of each device; the table beside "
        "it has the same values.",
        x=range_of(value for value, _ in samples),
        y=range_of([*(at for _, at in samples), *(corner for corner, _ in ridges)]),
        x_title=form.form.unit,
        x_text=size_tick,
        y_text=plain_tick,
        curves=[
            *(
                Curve(points=[(first, corner), (last, corner)], look=looks[one.part.id])
                for corner, one in ridges
            ),
            Curve(points=samples, look=PLAIN),
        ],
        marks=[
            Mark(
                at=(least, corner),
                kind="crossing",
                said=f"{one.part.name}: {count(least)} {form.form.unit}",
                size=8,
            )
            for corner, one in ridges
            if (least := crossing(form, corner)) is not None
        ],
        here=positive(form.values, form.form.swept),
    ).figure()


_BELOW_RIDGE = 50.0


def _samples(form: Filled, least: float) -> list[tuple[float, float]]:
    """Values of the swept field with their intensities, from `least` FLOP per byte on."""
    values = {float(round(10.0 ** (k / _PER_DECADE))) for k in range(_DECADES * _PER_DECADE + 1)}
    found = [(value, at) for value in sorted(values) if (at := intensity(form, value))]
    return [one for one in found if one[1] >= least] or found


def _device(
    form: Filled, one: Estimate, number: int, chosen: Estimate, kept: Mapping[str, str]
) -> views.OtherDeviceView:
    corner = _corner(one)
    least = crossing(form, corner) if form.form.swept and corner else None
    query = {"op": form.op, **form.values, **kept, "device": one.part.id}
    return views.OtherDeviceView(
        name=one.part.name,
        url="/calculator?" + urlencode({key: value for key, value in query.items() if value}),
        line=LOOKS[number] if number < len(LOOKS) else None,
        ridge=significant(_ridge(one)),
        batch=_batch(one, corner),
        crossing=_crossing_text(form, corner, least),
        time=duration(one.t_min_us),
        bound=_short_bound(one),
        css=css_of(one.bound),
        is_chosen=one is chosen,
    )


def _batch(one: Estimate, corner: float | None) -> str:
    if one.op != "matmul" or not corner:
        return ""
    return significant(batch_threshold(corner, 1.0, one.element_bytes[1]))


def _crossing_text(form: Filled, corner: float | None, least: int | None) -> str:
    if not form.form.swept or not corner:
        return "–"
    return "never" if least is None else count(least)
