"""The page of exploring: the form, the answer, the chart and the table of devices.

It is loaded with the first request: most servers answer others first.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import orjson

from roofline.compare.run import Run
from roofline.devices import catalogue
from roofline.devices.parts import Part
from roofline.errors import BadViewError
from roofline.exports.comparison_words import PER
from roofline.exports.number_formats import Formats, formats_record, with_formats
from roofline.exports.on_parts import OnPart, intensity_of
from roofline.library.comparing import StoredRun, on_parts_of, read_run
from roofline.model.units import GIGA, US_PER_S
from roofline.presentation.plots import Drawing, Plot, axis_of
from roofline.presentation.quantities import (
    amount,
    bandwidth,
    count,
    duration,
    flop_rate,
    percent,
    significant,
)
from roofline.presentation.sentences import Number, Sentence, say
from roofline.web.http.errors import error_body
from roofline.web.pages.calculator_views import FactView, FieldView, LinkView
from roofline.web.pages.explore_views import ChainView, ChangedOpView, ExploreView, OnPartView
from roofline.web.pages.model_views import ChoiceView
from roofline.web.pages.pieces import pieces
from roofline.web.pages.roof_lines import draw_roofs

_BESIDE = ("h100-sxm", "h200", "b200", "mi300x", "a100-80-sxm", "tpu-v5e", "tpu-v5p", "tpu-v6e")
_MOST_DRAWN = 4  # looks of lines in the style sheet
_MOST_OPS = 20
_MOST_ARROWS = 6
_COMMUNICATION = (0.2, 0.4, 0.6)
_LONGEST_NAME = 40
_STORED = ("fp8", "int8", "int4:g128", "int4:g32", "nvfp4", "mxfp4", "bf16", "fp32")
_COMPUTED = ("fp8", "int8", "fp4", "bf16", "fp16", "tf32")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    run: Run
    given: Mapping[str, str]
    beside: Sequence[str]
    chains: Sequence[Mapping[str, Any]]


def explore_view(
    stored: StoredRun, advice: bytes, given: Mapping[str, str], beside: Sequence[str]
) -> ExploreView:
    """The page as the address fills it in; `beside` are the parts whose roofs are drawn."""
    chains = orjson.loads(advice)["fusions"]
    asked = _Asked(run=read_run(stored), given=given, beside=beside, chains=chains)
    profile_id = given["of"]
    empty = ExploreView(
        run=LinkView(title=stored.title, url=f"/p/{profile_id}"),
        profile_id=profile_id,
        fields=tuple(_fields(asked)),
        others=tuple(_others(asked)),
        prices=given.get("prices", ""),
    )
    try:
        return _answered(empty, asked)
    except BadViewError as fault:
        return replace(empty, error=error_body(fault))


def _answered(view: ExploreView, asked: _Asked) -> ExploreView:
    record = _record(asked)
    names = dict.fromkeys((*_own(asked.run), *_drawn(asked), *_BESIDE))
    found = on_parts_of(asked.run, tuple(names), view.prices)
    lines = {part: f"line-{number + 1}" for number, part in enumerate(_drawn(asked))}
    return replace(
        view,
        headline=pieces(_headline(asked.run, record)),
        lead=pieces(_lead(record)),
        ops=tuple(map(_op, record["ops"][:_MOST_OPS])) if record else (),
        parts=tuple(_on_part(one, lines.get(one.part.id, "")) for one in found),
        chains=tuple(map(_chain, asked.chains)),
        fusion=_fusion(asked.run, asked.chains),
        communication=_communication(asked.run),
        has_prices=any(one.dollars for one in found),
        roofline=_roofline(asked.run, [one for one in found if one.part.id in lines], lines),
    )


def _record(asked: _Asked) -> dict[str, Any] | None:
    """The answer for the formats of the address; `None` where none is chosen."""
    given = asked.given
    if not (given.get("storage") or given.get("compute")):
        return None
    formats = Formats(
        storage=given.get("storage") or None,
        tensors=given.get("tensors") or "all",
        compute=given.get("compute") or None,
        category=given.get("category", ""),
        op=given.get("op", ""),
    )
    return formats_record(with_formats(asked.run, formats))


# ------------------------------------------------------------------------------------------ form


def _fields(asked: _Asked) -> Sequence[FieldView]:
    known = {"": "as they are"} | {name: name for name in _STORED}
    computed = {"": "as they are"} | {name: name for name in _COMPUTED}
    categories = sorted(set(asked.run.text("category")))
    kinds = {"": "all operations"} | {name: name for name in categories if name}
    which = {"all": "all tensors", "weights": "weights of products"}
    choices = {
        "storage": ("Stored in", known),
        "tensors": ("Which", which),
        "compute": ("Products computed in", computed),
        "category": ("Category", kinds),
    }
    return (
        *(_select(key, label, words, asked.given) for key, (label, words) in choices.items()),
        FieldView(key="op", label="Name contains", kind="text", value=asked.given.get("op", "")),
    )


def _select(key: str, label: str, words: Mapping[str, str], given: Mapping[str, str]) -> FieldView:
    value = given.get(key, next(iter(words)))
    offered = dict(words) if value in words else {**words, value: value}
    return FieldView(key=key, label=label, kind="text", value=value, choices=tuple(offered.items()))


def _own(run: Run) -> Sequence[str]:
    part = catalogue.find(run.facts.get("Device", ""))
    return () if part is None else (part.id,)


def _drawn(asked: _Asked) -> list[str]:
    """The parts whose roofs are drawn: the profile's own, then those chosen."""
    chosen = (part.id for name in asked.beside if (part := catalogue.find(name)))
    return list(dict.fromkeys((*_own(asked.run), *chosen)))[:_MOST_DRAWN]


def _others(asked: _Asked) -> list[ChoiceView]:
    drawn, own = _drawn(asked), _own(asked.run)
    found: list[Part] = [part for name in _BESIDE if (part := catalogue.find(name))]
    return [
        ChoiceView(
            id=part.id,
            name=part.name,
            line=f"line-{drawn.index(part.id) + 1}" if part.id in drawn else "",
            is_chosen=part.id in drawn,
        )
        for part in found
        if part.id not in own
    ]


# ---------------------------------------------------------------------------------------- answer


def _headline(run: Run, record: Mapping[str, Any] | None) -> Sentence:
    unit = next(iter(run.units))
    total = Number(run.units[unit].total_us, "time_us")
    if record is None:
        return say("explore_as_it_ran", total=total, per=PER[unit])
    return say(
        "explore_changed",
        total=total,
        per=PER[unit],
        time=Number(record["after_us"], "time_us"),
        saving=Number(record["saving_us"], "time_us"),
    )


def _lead(record: Mapping[str, Any] | None) -> Sentence:
    if record is None:
        return say("explore_choose")
    moved, bound = record["bytes"], record["memory_bound_share"]
    rows = record["rows_from_which_arithmetic_binds"]
    said: Sentence = []
    if moved["now"] and bound["now"] is not None and bound["after"] is not None:
        said += say(
            "explore_moved",
            share=Number(moved["after"] / moved["now"], "ratio"),
            known=Number(bound["after"], "ratio"),
            before=Number(bound["now"], "ratio"),
        )
    if rows:
        now, then = significant(rows["now"]), significant(rows["after"])
        said += say("explore_rows", size=then, least_batch=now)
    return said + say("explore_kept", rest=Number(record["unknown_share"] or 0.0, "ratio"))


def _op(one: Mapping[str, Any]) -> ChangedOpView:
    return ChangedOpView(
        name=one["name"],
        category=one["category"],
        now=duration(one["now_us"]),
        then=duration(one["after_us"]),
        bound=one["bound"] or "–",
        limited_by=one["limited_by"] or "–",
    )


def _communication(run: Run) -> str:
    """The share of the time in exposed communication."""
    times = run.units[next(iter(run.units))]
    exposed = times.parts.get("communication", 0.0)
    return percent(exposed / times.total_us) if times.total_us else ""


def _chain(one: Mapping[str, Any]) -> ChainView:
    return ChainView(
        what=one["what"],
        ops=count(len(one["ops"])),
        names=", ".join(one["op_names"]),
        now=duration(one["now_us"]),
        then=duration(one["after_us"]),
        saves=duration(one["saving_us"]),
        moved=amount(one["bytes"]["now"], "B"),
        moved_then=amount(one["bytes"]["after"], "B"),
        limited_by=one["limited_by"],
    )


def _fusion(run: Run, chains: Sequence[Mapping[str, Any]]) -> Plot | None:
    """Where each chain is and where one kernel would be, joined by a line, under the own roof."""
    flops, gbs = run.peaks.get("compute", 0.0), run.peaks.get(run.main_memory, 0.0)
    ends = [_ends(one) for one in chains[:_MOST_ARROWS]]
    drawn = [(one, pair) for one, pair in zip(chains, ends, strict=False) if pair is not None]
    if not (flops and gbs and drawn):
        return None
    corner, peak = flops / gbs, flops * US_PER_S
    xs = [x for _, pair in drawn for x, _ in pair]
    ys = [y for _, pair in drawn for _, y in pair]
    drawing = Drawing(axis_of([*xs, corner * 2]), axis_of([*ys, peak]))
    name = f"{run.main_memory.upper()} {amount(gbs * US_PER_S, 'B/s')}"
    draw_roofs(drawing, peak, corner, name, apart_from=xs[-1])
    for one, (now, then) in drawn:
        drawing.curve([now, then], "tie")
        drawing.mark(now, "measured", f"{one['what']}, as it ran: {duration(one['now_us'])}", 6)
        drawing.mark(
            then, "predicted", f"{one['what']}, one kernel: {duration(one['after_us'])}", 6
        )
        drawing.label(then, one["what"][:_LONGEST_NAME], dx=10, dy=-8)
    return drawing.plot(
        title="Chains as they ran, and as one kernel",
        x_title="FLOP per byte of the main memory",
        x_text=lambda value: significant(value, 1),
        y_text=lambda value: flop_rate(value / GIGA, 1),
    )


def _ends(one: Mapping[str, Any]) -> tuple[tuple[float, float], tuple[float, float]] | None:
    """Intensity and FLOP/s of both ends; `None` without FLOPs or bytes."""
    x, y = one["flop_per_byte"], one["gflops"]
    if not all((x["now"], x["after"], y["now"], y["after"])):
        return None
    return (x["now"], y["now"] * GIGA), (x["after"], y["after"] * GIGA)


def _on_part(one: OnPart, line: str) -> OnPartView:
    first = next((each.rows for each in one.ridges if each.rows is not None), None)
    return OnPartView(
        name=one.part.name,
        line=line,
        ridges=tuple(
            FactView(name=each.label, value=f"{significant(each.flop_per_byte)} FLOP/B")
            for each in one.ridges
        ),
        rows=significant(first),
        links=", ".join(f"{each.level.label} {bandwidth(each.gbs)}" for each in one.part.links()),
        least=duration(one.least_us),
        rate=flop_rate(one.gflops),
        peak=percent(one.peak_ratio),
        memory=percent(one.memory_bound_share),
        dollars=significant(one.dollars),
    )


def _roofline(run: Run, found: Sequence[OnPart], lines: Mapping[str, str]) -> Plot | None:
    """The roofs of the parts drawn, and the program on each: its best rate at its intensity."""
    drawn = [(one, *_peaks(one.part)) for one in found]
    roofs = [(one, flops, gbs) for one, flops, gbs in drawn if flops and gbs]
    at = intensity_of(run)
    if not roofs:
        return None
    rates = [one.gflops * GIGA for one, _, _ in roofs if one.gflops]
    corners = [flops / gbs for _, flops, gbs in roofs]
    xs = [*corners, max(corners) * 3, min(corners) / 30, *([at] if at else [])]
    ys = [*(flops * GIGA for _, flops, _ in roofs), *rates, min(corners) / 30 * roofs[0][2] * GIGA]
    drawing = Drawing(axis_of(xs), axis_of(ys))
    if roofs[0][0].part.id in _own(run):
        _lowered(drawing, roofs[0][1] * GIGA, roofs[0][2] * GIGA)
    for one, flops, gbs in roofs:
        _draw(drawing, one, lines[one.part.id], (flops, gbs), at)
    return drawing.plot(
        title="Roofs of several devices, and the best rate of this program on each",
        x_title="FLOP per byte of the main memory",
        x_text=lambda value: significant(value, 1),
        y_text=lambda value: flop_rate(value / GIGA, 1),
    )


def _lowered(drawing: Drawing, flops: float, gbs: float) -> None:
    """The own roof where exposed communication takes a part of the time."""
    for share in _COMMUNICATION:
        peak, corner = (1 - share) * flops, flops / gbs
        low, high = drawing.x.low, drawing.x.high
        drawing.curve([(low, low * gbs * (1 - share)), (corner, peak), (high, peak)], "flat tenth")


def _draw(
    drawing: Drawing, one: OnPart, line: str, peaks: tuple[float, float], at: float | None
) -> None:
    flops, gbs = peaks[0] * GIGA, peaks[1] * GIGA
    corner = flops / gbs
    low, high = drawing.x.low, drawing.x.high
    drawing.curve([(low, low * gbs), (corner, flops), (high, flops)], line)
    said = f"{one.part.name}: ridge at {significant(corner)} FLOP/B"
    drawing.mark((corner, flops), f"ridge {line}", said, 3.5)
    if at and one.gflops:
        best = f"{one.part.name}: at best {flop_rate(one.gflops)}, {percent(one.peak_ratio)}"
        drawing.mark((at, one.gflops * GIGA), f"predicted {line}", best, 6)


def _peaks(part: Part) -> tuple[float, float]:
    """GFLOP/s of the main unit and GB/s of the main memory; 0 where it is not known."""
    compute = part.compute()
    main = next((one.gbs for one in part.memory() if one.level.is_main), 0.0)
    return (compute[0].gflops if compute else 0.0), main
