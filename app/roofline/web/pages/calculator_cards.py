"""The answer of the calculator: an estimate as sentences, bars, plots and tables."""

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
    NETWORK,
    VECTOR,
    Estimate,
    estimate,
)
from roofline.estimate.variants import Tiling, batch_threshold, tiling_of, unfused
from roofline.model.units import GIGA, US_PER_S
from roofline.presentation.plots import Drawing, Plot, axis_of, powers
from roofline.presentation.quantities import (
    amount,
    count,
    duration,
    flop_rate,
    percent,
    significant,
)
from roofline.presentation.sentences import Number, Segment, Sentence, say
from roofline.web.pages import calculator_views as views
from roofline.web.pages.pieces import pieces
from roofline.web.pages.roof_lines import draw_roofs, size_tick

OTHERS = ("h100-sxm", "b200", "mi300x", "a100-80-sxm", "tpu-v5e", "tpu-v5p", "tpu-v6e")
_LINES = 8  # looks of lines in the style sheet
_SWEPT = (1.0, 1e6)
_SAMPLES = 61


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
        css=_css(found.bound),
        boxes=tuple(_boxes(found)),
        tensors=tuple(_tensors(found)),
        all_bytes=amount(sum(_moved(found).values()), "B"),
        bytes_note="Each tensor crosses the memory once: a lower bound."
        if found.work.tensors
        else "What each device sends, in one direction.",
        roofline=_roofline(found, measured) if found.flop else None,
        clocks=tuple(_clocks(found, measured)),
        facts_title=facts_title,
        facts=facts,
        sizes=_sizes(form, found, others),
        sizes_title=f"From how many {form.form.unit} is it bound by arithmetic?",
        devices=tuple(_device(form, one, number, found, kept) for number, one in enumerate(others)),
        batch_title="B*" if form.op == "matmul" else "",
        notes=found.notes,
        is_measured=bool(measured.time_us),
    )


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


def _short_bound(found: Estimate) -> str:
    if found.bound is None:
        return "not known"
    return found.peaks[MEMORY].label if found.bound == MEMORY else found.bound


def _css(bound: str | None) -> str:
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


# ------------------------------------------------------------------------------------ roofline


def _roofline(found: Estimate, measured: Measured) -> Plot | None:
    unit = found.peaks.get(COMPUTE) or found.peaks.get(VECTOR)
    corner = ridge(found)
    if unit is None or not unit.value or corner is None or found.attainable_gflops is None:
        return None
    at = found.flop / found.work.memory_bytes
    best = found.attainable_gflops * GIGA
    reached = found.flop / measured.time_us * US_PER_S if measured.time_us else None
    rates = [best, best / 8, unit.value, *([reached] if reached else [])]
    drawing = Drawing(axis_of([at, corner, at / 3, corner * 3]), axis_of(rates))
    memory = found.peaks[MEMORY]
    bandwidth = amount(memory.value, "B/s")
    draw_roofs(drawing, unit.value, corner, f"{memory.label} {bandwidth}", apart_from=at)
    if reached:
        drawing.curve([(at, best), (at, reached)], "tie")
        drawing.mark((at, reached), "measured", f"measured {duration(measured.time_us)}", 7)
        drawing.label((at, reached), f"{duration(measured.time_us)} measured", dx=12, dy=4)
    drawing.mark((at, best), "predicted", f"predicted {duration(found.t_min_us)}", 8)
    _name_best(drawing, (at, best), f"{duration(found.t_min_us)} at best", is_flat=at > corner)
    return drawing.plot(
        title=f"Roofline of {found.part.name}: {bound_word(found)}, "
        f"{duration(found.t_min_us)} at best",
        x_title=f"FLOP per byte of {memory.label}",
        x_text=lambda value: significant(value, 1),
        y_text=lambda value: flop_rate(value / GIGA, 1),
        split=corner,
    )


def _name_best(drawing: Drawing, place: tuple[float, float], text: str, *, is_flat: bool) -> None:
    """Below the ring on a flat roof, right of it on a slope: clear of the slope on phones, too."""
    if is_flat:
        drawing.label(place, text, dy=26, anchor="middle", css="strong")
    else:
        drawing.label(place, text, dx=12, dy=20, css="strong")


# -------------------------------------------------------------------------------------- clocks


def _clocks(found: Estimate, measured: Measured) -> Iterable[views.BarView]:
    rows: list[tuple[str, float | None, str, str]] = [
        (found.peaks[name].label, time, _css(name), found.peaks[name].source)
        if name != LATENCY
        else ("latency", time, _css(name), "")
        for name, time in found.time_us.items()
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


def _sizes(form: Filled, found: Estimate, others: Sequence[Estimate]) -> Plot | None:
    """FLOP per byte over the swept field, a ridge per device; `None` without FLOPs or peaks."""
    ridges = [(_corner(one), one) for one in others[:_LINES]]
    known = [corner for corner, _ in ridges if corner]
    if not form.form.swept or not found.flop or not known:
        return None
    samples = _samples(form, min(known) / _BELOW_RIDGE)
    drawing = Drawing(
        axis_of(value for value, _ in samples), axis_of([*(at for _, at in samples), *known])
    )
    for number, (corner, one) in enumerate(ridges):
        if corner:
            drawing.curve([(drawing.x.low, corner), (drawing.x.high, corner)], f"line-{number}")
            _crossing(drawing, form, corner, f"{one.part.name}: ")
    drawing.curve(samples, "intensity")
    _here(drawing, form)
    return drawing.plot(
        title=f"FLOP per byte over {form.form.unit}, with the ridge of each device",
        x_title=form.form.unit,
        x_text=size_tick,
        y_text=lambda value: significant(value, 1),
    )


_BELOW_RIDGE = 50.0


def _samples(form: Filled, least: float) -> list[tuple[float, float]]:
    """Values of the swept field with their intensities, from `least` FLOP per byte on."""
    values = dict.fromkeys(float(round(value)) for value in powers(*_SWEPT, _SAMPLES))
    found = [(value, at) for value in values if (at := intensity(form, value))]
    return [one for one in found if one[1] >= least] or found


def _crossing(drawing: Drawing, form: Filled, corner: float, name: str) -> None:
    least = crossing(form, corner)
    if least is not None:
        drawing.mark((least, corner), "crossing", f"{name}{count(least)} {form.form.unit}", 4)


def _here(drawing: Drawing, form: Filled) -> None:
    """A line at the size that was chosen."""
    text = form.values[form.form.swept]
    here = float(text) if text.replace(".", "", 1).isdigit() else 0.0
    if here > 0:
        drawing.curve([(here, drawing.y.low), (here, drawing.y.high)], "here")
        drawing.label((here, drawing.y.high), count(here), dx=6, dy=12, css="here")


def _device(
    form: Filled, one: Estimate, number: int, chosen: Estimate, kept: Mapping[str, str]
) -> views.OtherDeviceView:
    corner = _corner(one)
    least = crossing(form, corner) if form.form.swept and corner else None
    query = {"op": form.op, **form.values, **kept, "device": one.part.id}
    return views.OtherDeviceView(
        name=one.part.name,
        url="/calculator?" + urlencode({key: value for key, value in query.items() if value}),
        line=f"line-{number}" if number < _LINES else "",
        ridge=significant(corner),
        batch=_batch(one, corner),
        crossing=_crossing_text(form, corner, least),
        time=duration(one.t_min_us),
        bound=_short_bound(one),
        css=_css(one.bound),
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
