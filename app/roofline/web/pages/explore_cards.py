"""The page of exploring: the form, the answer, the chart and the table of devices.

It is loaded with the first request: most servers answer others first.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import orjson

from roofline.compare.run import Run
from roofline.devices import catalogue
from roofline.devices.parts import Part
from roofline.devices.table import read_prices
from roofline.errors import BadViewError
from roofline.exports.comparison_words import PER
from roofline.exports.number_formats import (
    Formats,
    formats_record,
    link_words,
    state_words,
    with_formats,
)
from roofline.exports.on_parts import dollars_per_million
from roofline.figures.figure import Figure
from roofline.library.comparing import StoredRun, read_run
from roofline.model.units import GIGA, US_PER_S
from roofline.presentation.charts.cost_figures import (
    LOOKS,
    LOWERED,
    TIE,
    CostChart,
    Curve,
    Look,
    Mark,
    Point,
    range_of,
    roof_chart,
    roof_pair,
)
from roofline.presentation.other_devices import usual_parts
from roofline.presentation.quantities import (
    amount,
    count,
    duration,
    flop_rate,
    percent,
    significant,
)
from roofline.presentation.sentences import Number, Sentence, say
from roofline.web.offline.calculator_views import ChoiceView, FieldView, LinkView
from roofline.web.offline.views import error_body, pieces
from roofline.web.pages.views import ChainView, ChangedOpView, ExploreView, OnPartView

_MOST_DRAWN = 4
_DRAWN_AT_FIRST = 2
_MOST_OPS = 20
_MOST_ARROWS = 6
_COMMUNICATION = (0.2, 0.4, 0.6)
_LONGEST_NAME = 40
_X_TITLE = "FLOP per byte of the main memory"
_STORED = ("fp8", "int8", "int4:g128", "int4:g32", "nvfp4", "mxfp4", "bf16", "fp32")
_LEFT = {"": "as they are", "0.5": "half", "0.25": "a quarter", "0.1": "a tenth"}
_COMPUTED = ("fp8", "int8", "fp4", "bf16", "fp16", "tf32")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    run: Run
    given: Mapping[str, str]
    beside: Sequence[str] | None
    chains: Sequence[Mapping[str, Any]]
    on_parts: "OnParts"


OnParts = Callable[[Sequence[str]], Mapping[str, Any]]
"""The subject on its own device, the parts named and the usual ones: `RangeResults.on_parts`."""


def explore_view(
    stored: StoredRun,
    advice: bytes,
    given: Mapping[str, str],
    beside: Sequence[str] | None,
    on_parts: OnParts,
) -> ExploreView:
    """The page as the address fills it in; `beside` are the parts drawn, `None` for the usual."""
    chains = orjson.loads(advice)["fusions"]
    run = read_run(stored)
    asked = _Asked(run=run, given=given, beside=beside, chains=chains, on_parts=on_parts)
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
    drawn = _drawn(asked)
    own = _own(asked.run)
    prices = read_prices(view.prices)
    found = asked.on_parts([name for name in drawn if name not in own])
    looks = dict(zip(drawn, LOOKS, strict=False))
    lines = [{**found["here"], "id": "".join(own)}, *found["devices"], *found["usual"]]
    return replace(
        view,
        headline=pieces(_headline(asked.run, record)),
        lead=pieces(_lead(record)),
        ops=tuple(map(_op, record["ops"][:_MOST_OPS])) if record else (),
        parts=tuple(_on_part(one, looks.get(one["id"]), prices) for one in lines),
        best_heads=tuple(one["name"] for one in (found["here"], *found["devices"])),
        best=tuple(_best_rates(found)),
        chains=tuple(map(_chain, asked.chains)),
        fusion=_fusion(asked.run, asked.chains),
        communication=_communication(asked.run),
        has_prices=bool(prices),
        roofline=_roofline(
            asked.run, [part for id in drawn if (part := catalogue.find(id))], looks
        ),
    )


def _record(asked: _Asked) -> dict[str, Any] | None:
    """The answer for the formats of the address; `None` where none is chosen."""
    given = asked.given
    link_bytes = given.get("link_bytes") or None
    if not (given.get("storage") or given.get("compute") or link_bytes):
        return None
    formats = Formats(
        storage=given.get("storage") or None,
        tensors=given.get("tensors") or "auto",
        compute=given.get("compute") or None,
        category=given.get("category", ""),
        op=given.get("op", ""),
        link_bytes=None if link_bytes is None else _share(link_bytes),
    )
    return formats_record(with_formats(asked.run, formats))


def _share(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0  # no share: refused as such


# ------------------------------------------------------------------------------------------ form


def _fields(asked: _Asked) -> Sequence[FieldView]:
    known = {"": "as they are"} | {name: name for name in _STORED}
    computed = {"": "as they are"} | {name: name for name in _COMPUTED}
    categories = sorted(set(asked.run.text("category")))
    kinds = {"": "all operations"} | {name: name for name in categories if name}
    which = {
        "auto": "weights and activations",
        "weights": "weights of products",
        "all": "all tensors",
    }
    choices = {
        "storage": ("Stored in", known),
        "tensors": ("Which", which),
        "compute": ("Products computed in", computed),
        "category": ("Category", kinds),
        "link_bytes": ("Bytes over links", _LEFT),
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


def _usual(run: Run) -> list[str]:
    return [part.id for part in usual_parts(catalogue.find(run.facts.get("Device", "")))]


def _drawn(asked: _Asked) -> list[str]:
    """The parts whose roofs are drawn: the profile's own, then those chosen."""
    names = _usual(asked.run)[:_DRAWN_AT_FIRST] if asked.beside is None else asked.beside
    chosen = (part.id for name in names if (part := catalogue.find(name)))
    return list(dict.fromkeys((*_own(asked.run), *chosen)))[:_MOST_DRAWN]


def _others(asked: _Asked) -> list[ChoiceView]:
    drawn, own = _drawn(asked), _own(asked.run)
    names = dict.fromkeys((*drawn, *_usual(asked.run)))
    found: list[Part] = [part for name in names if (part := catalogue.find(name))]
    return [
        ChoiceView(
            id=part.id,
            name=part.name,
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
    links = link_words(record)
    over_links = say("explore_state", words=links) if links else []
    if record["unknown_share"] is None:
        return over_links
    moved, bound = record["bytes"], record["memory_bound_share"]
    rows = record["rows_from_which_arithmetic_binds"]
    said: Sentence = [*over_links]
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
    said += say("explore_kept", rest=Number(record["unknown_share"] or 0.0, "ratio"))
    words = state_words(record)
    return said + (say("explore_state", words=words) if words else [])


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


def _fusion(run: Run, chains: Sequence[Mapping[str, Any]]) -> Figure | None:
    """Where each chain is and where one kernel would be, joined by a line, under the own roof."""
    flops, gbs = run.peaks.get("compute", 0.0), run.peaks.get(run.main_memory, 0.0)
    ends = [_ends(one) for one in chains[:_MOST_ARROWS]]
    drawn = [(one, pair) for one, pair in zip(chains, ends, strict=False) if pair is not None]
    if not (flops and gbs and drawn):
        return None
    marks: list[Mark] = []
    for one, (now, then) in drawn:
        name, was = one["what"], duration(one["now_us"])
        best = f"{name}, one kernel: {duration(one['after_us'])}"
        short = name[:_LONGEST_NAME]
        marks.append(Mark(at=now, kind="measured", said=f"{name}, as it ran: {was}", size=12))
        marks.append(Mark(at=then, kind="predicted", said=best, name=short, size=12))
    return roof_chart(
        "fusion",
        "Chains as they ran, and as one kernel; the table below has the same values.",
        roof_pair(run.main_memory.upper(), gbs * US_PER_S / GIGA, flops * US_PER_S / GIGA),
        x_title=_X_TITLE,
        around=[mark.at for mark in marks],
        curves=[Curve(points=pair, look=TIE) for _, pair in drawn],
        marks=marks,
    ).figure()


def _ends(one: Mapping[str, Any]) -> tuple[Point, Point] | None:
    """Intensity and GFLOP/s of both ends; `None` without FLOPs or bytes."""
    x, y = one["flop_per_byte"], one["gflops"]
    if not all((x["now"], x["after"], y["now"], y["after"])):
        return None
    return (x["now"], y["now"]), (x["after"], y["after"])


def _on_part(one: Mapping[str, Any], line: Look | None, prices: Mapping[str, float]) -> OnPartView:
    dollars = dollars_per_million(one["time_us"], prices.get(one["id"]))
    return OnPartView(
        name=one["name"],
        line=line,
        texts=tuple(one["texts"]),
        dollars=significant(dollars),
    )


def _best_rates(found: Mapping[str, Any]) -> Iterable[tuple[str, ...]]:
    """The name of each of the longest operations, and its best rate on each device drawn."""
    columns = [one["best"] for one in (found["here"], *found["devices"])]
    return zip(found["ops"], *columns, strict=True)


def _roofline(run: Run, found: Sequence[Part], looks: Mapping[str, Look]) -> Figure | None:
    """The roofs of the parts drawn, and the program on each: its best rate at its intensity."""
    drawn = [(one, *_peaks(one)) for one in found]
    roofs = [(one, flops, gbs) for one, flops, gbs in drawn if flops and gbs]
    if not roofs:
        return None
    at = run.intensity
    corners = [flops / gbs for _, flops, gbs in roofs]
    low, high = min(corners) / 30, max(corners) * 3
    marks = [mark for one, _, _ in roofs for mark in _best(one, looks[one.id], at)]
    lowered = _lowered(*roofs[0][1:], low, high) if roofs[0][0].id in _own(run) else ()
    return CostChart(
        id="devices",
        alt="Roofs of several devices, and the best rate of this program on each; the table below "
        "has the same values.",
        x=range_of([low, high, *(mark.at[0] for mark in marks)]),
        y=range_of(
            [low * roofs[0][2], *(flops * 1.5 for _, flops, _ in roofs), *(m.at[1] for m in marks)]
        ),
        x_title=_X_TITLE,
        curves=[
            *lowered,
            *(
                Curve(
                    points=_roof((flops, gbs), low, high),
                    look=looks[one.id],
                )
                for one, flops, gbs in roofs
            ),
        ],
        marks=marks,
    ).figure()


def _roof(peaks: Point, low: float, high: float) -> list[Point]:
    """A roof of GFLOP/s and GB/s, beyond both ends of the axis from `low` to `high`."""
    flops, gbs = peaks
    return [(low / 10, low / 10 * gbs), (flops / gbs, flops), (high * 10, flops)]


def _lowered(flops: float, gbs: float, low: float, high: float) -> Iterable[Curve]:
    """The own roof where exposed communication takes a part of the time."""
    for share in _COMMUNICATION:
        left = 1 - share
        yield Curve(points=_roof((left * flops, left * gbs), low, high), look=LOWERED)


def _best(part: Part, look: Look, at: float | None) -> Iterable[Mark]:
    flops, gbs = _peaks(part)
    if at:
        rate = min(flops, at * gbs)
        said = f"{part.name}: at best {flop_rate(rate)}, {percent(rate / flops)}"
        yield Mark(at=(at, rate), kind="predicted", said=said, size=12, token=look.token)


def _peaks(part: Part) -> tuple[float, float]:
    """GFLOP/s of the main unit and GB/s of the main memory; 0 where it is not known."""
    compute = part.compute()
    main = next((one.gbs for one in part.memory() if one.level.is_main), 0.0)
    return (compute[0].gflops if compute else 0.0), main
