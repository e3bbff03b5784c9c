"""A comparison as its page draws it: the document of the API, with words, colours and roofs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from roofline.compare.attribution import TERMS
from roofline.compare.changes import WAIT, Comparison, Place, PlaceChange
from roofline.exports.acceptance import checks_of
from roofline.exports.comparison import (
    check_record,
    checks_tell,
    comparison_record,
    how_sure,
    place_rows,
)
from roofline.exports.comparison_subjects import marked_rows
from roofline.exports.comparison_words import (
    NOTES,
    TIER_LABELS,
    change_verdict,
    per_of,
    place_name,
    side_names,
    sign,
    term_label,
)
from roofline.figures.figure import six_digits
from roofline.figures.gain import Block
from roofline.figures.gain_pair import Axis, Pair, blocks_of, gain_pair_figure, pair_pictures
from roofline.model.compute import ComputeUnit
from roofline.model.memory import MemoryLevel
from roofline.presentation.goal_numbers import Scale, whole_percent
from roofline.presentation.json_text import to_json
from roofline.presentation.palette import COMPUTE_STYLE, LEVEL_STYLES, LineStyle, category_styles
from roofline.presentation.quantities import duration
from roofline.presentation.words import ceiling_token

Record = dict[str, Any]


def comparison_page(found: Comparison) -> Record:
    """`comparison_record` with `page`: what only a drawing needs."""
    record = comparison_record(found)
    return {**record, "page": _page(found, record)}


def comparison_frame(found: Comparison) -> Record:
    """What the page says before any script runs: sentences, rows, and what lies in its folds."""
    verdict = change_verdict(found)
    heads, rows = place_rows(found)
    return {
        "unit": found.unit,
        "longest_us": max(found.a_us, found.b_us),
        "is_comparable": found.is_comparable,
        "state": verdict.state,
        **{name: getattr(verdict, name) for name in ("headline", "largest", "lead", "split")},
        **_strips(found),
        "place_heads": heads,
        "places": rows,
        "terms": [*_term_bars(found)],
        "sure": how_sure(found),
        "facts": marked_rows(found),
        "differing": [asdict(one) for one in found.differences if one.a != one.b],
        "same": [asdict(one) for one in found.differences if one.a == one.b and one.a],
        "captures": [
            ", ".join(duration(us) for us in one.time_us)
            for one in (found.captures_a, found.captures_b)
        ],
        "checks": [check_record(one) for one in checks_of(found)] if checks_tell(found) else [],
        "notes": [NOTES[code] for code in found.notes],
        "op_count": len(found.ops) + len(found.groups) + len(found.only_a) + len(found.only_b),
    }


_WAIT_TOKENS = {
    "idle": "--ink-3",
    "transfers": LEVEL_STYLES[MemoryLevel.HOST].token,
    "communication": "--roof-ici",
}


def _strips(found: Comparison) -> Record:
    """The time of both as one figure, and each strip as a picture that is there before it."""
    longest_us = max(found.a_us, found.b_us)
    if not longest_us > 0:
        return {"figure": None, "pictures": ()}
    scale, pairs = Scale.of(longest_us), [_pair(one) for one in found.places]
    a, b = (name.removeprefix("the ") for name in side_names(found))
    alt = f"The time of {a} above that of {b}, by module; the table below has the same numbers."
    axis = Axis(scale.unit, scale.us, longest_us)
    figure = six_digits(gain_pair_figure(pairs, (a, b), axis, alt))
    return {"figure": to_json(figure).decode(), "pictures": pair_pictures(pairs, axis)}


def _pair(one: PlaceChange) -> Pair:
    change = f"{sign(one.change_us)}{duration(abs(one.change_us))}" if one.change_us else "0"
    shares = one.a.roof_ratio, one.b.roof_ratio
    of_roof = ["–" if share is None else whole_percent(share) for share in shares]
    lines = [f"{duration(one.a.time_us)} → {duration(one.b.time_us)}: {change}"]
    if one.kind != WAIT:
        lines.append(f"of the roof: {' → '.join(of_roof)}")
    return Pair(place_name(one), change, _blocks(one, one.a), _blocks(one, one.b), tuple(lines))


def _blocks(one: PlaceChange, side: Place) -> tuple[Block, ...]:
    is_wait = one.kind == WAIT
    token = _WAIT_TOKENS.get(one.name, "--ink-3") if is_wait else ceiling_token(side.bound)
    time = (side.time_us, side.needed_us, side.judged_us)
    return blocks_of(token, *time, wait=one.name if is_wait else "")


def _term_bars(found: Comparison) -> Iterator[Record]:
    """The terms that print, the largest help first: label, amount, and its share of the largest."""
    largest = max((abs(us) for us in found.terms.values()), default=0.0)
    for name in sorted(TERMS, key=lambda name: found.terms[name]):
        us = found.terms[name]
        if abs(us) >= _LEAST_TERM * largest > 0:
            yield {
                "label": term_label(found, name),
                "change": f"{sign(us)}{duration(abs(us))}",
                "share": abs(us) / largest,
                "is_more": us > 0,
            }


_LEAST_TERM = 0.001


def _page(found: Comparison, record: Mapping[str, Any]) -> Record:
    return {
        "per": per_of(found),
        "terms": [{"id": name, "label": term_label(found, name)} for name in TERMS],
        "tiers": [{"id": tier, "label": label} for tier, label in TIER_LABELS.items()],
        "styles": _styles([one["category"] for one in record["categories"]]),
        "bounds": {name: _bound(name) for name in _bounds(record)},
    }


def _styles(categories: Sequence[str]) -> dict[str, Record]:
    """Colour and shape of each category, in the order of the document: the largest change first."""
    styles = zip(categories, category_styles(categories), strict=True)
    return {
        name: {"name": name, "token": style.token, "symbol": style.symbol} for name, style in styles
    }


def _bounds(record: Mapping[str, Any]) -> list[str]:
    """Every resource that binds an operation of either run, each once."""
    sides = [one[side] for one in record["ops"] for side in ("a_side", "b_side")]
    sides += [*record["only_a"], *record["only_b"]]
    sides += [side for one in record["groups"] for side in (*one["a_sides"], *one["b_sides"])]
    return sorted({side["bound_by"] for side in sides if side["bound_by"] is not None})


def _bound(name: str) -> Record:
    """Label, glyph and colour of a resource: a compute unit, a memory or a link."""
    if name in {*MemoryLevel}:
        level = MemoryLevel(name)
        return _drawn(level.label, "link" if level.is_link else "slanted", LEVEL_STYLES[level])
    label = ComputeUnit(name).label if name in {*ComputeUnit} else name
    return _drawn(label, "flat", COMPUTE_STYLE)


def _drawn(label: str, kind: str, style: LineStyle) -> Record:
    return {"label": label, "kind": kind, "token": style.token, "dash": style.dash}
