"""A comparison as its page draws it: the document of the API, with words, colours and roofs."""

from collections.abc import Mapping, Sequence
from typing import Any

from roofline.analysis.short_names import short_name
from roofline.compare.attribution import TERMS
from roofline.compare.changes import Comparison, Side
from roofline.exports.comparison import comparison_record
from roofline.exports.comparison_subjects import marked_rows
from roofline.exports.comparison_words import TIER_LABELS, per_of, term_label
from roofline.model.compute import ComputeUnit
from roofline.model.memory import MemoryLevel
from roofline.model.units import GIGA, US_PER_S
from roofline.presentation.palette import COMPUTE_STYLE, LEVEL_STYLES, LineStyle, category_styles

Record = dict[str, Any]

_PER_US = GIGA / US_PER_S  # FLOP/us in a GFLOP/s, bytes/us in a GB/s
_COMPUTE = "compute"


def comparison_page(found: Comparison) -> Record:
    """`comparison_record` with `page`: what only a drawing needs."""
    record = comparison_record(found)
    return {**record, "page": _page(found, record)}


def _page(found: Comparison, record: Mapping[str, Any]) -> Record:
    a, b = found.peaks
    return {
        "per": per_of(found),
        "sides": marked_rows(found),
        "terms": [{"id": name, "label": term_label(found, name)} for name in TERMS],
        "tiers": [{"id": tier, "label": label} for tier, label in TIER_LABELS.items()],
        "styles": _styles([one["category"] for one in record["categories"]]),
        "bounds": {name: _bound(name) for name in _bounds(record)},
        "roofs": {"a": _roofs(a, found.sides[0]), "b": _roofs(b, found.sides[1])},
        "short_names": _short_names(record),
    }


def _short_names(record: Mapping[str, Any]) -> dict[str, str]:
    """What a chart has room for, by whole name; names that are short already are left out."""
    names = {one[side] for one in record["ops"] for side in ("a", "b")}
    names |= {one["name"] for only in ("only_a", "only_b") for one in record[only]}
    names |= {name for one in record["groups"] for side in ("a", "b") for name in one[side]}
    short = {name: short_name(name).text for name in sorted(names)}
    return {name: text for name, text in short.items() if text != name}


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


def _roofs(peaks: Mapping[str, float], sides: Sequence[Side]) -> Record:
    """The highest compute peak in use, GFLOP/s, and that of the main memory, GB/s; null: unknown.

    A unit that binds an operation is in use: its points must not lie above the only flat roof.
    `compute` names the unit where it is not the device's main one.
    """
    units = {name: peak for name, peak in peaks.items() if name in {*ComputeUnit}}
    compute = peaks.get(_COMPUTE, max(units.values(), default=0.0))
    bound = {one.bound for one in sides}
    above = {name: peak for name, peak in units.items() if name in bound and peak > compute}
    highest = max(above, key=above.__getitem__, default=None)
    mains = [level for level in MemoryLevel if level.is_main and peaks.get(level.value, 0.0) > 0]
    main = next(iter(mains), None)
    return {
        "gflops": (above[highest] if highest else compute) / _PER_US or None,
        "compute": ComputeUnit(highest).label if highest else None,
        "gbs": None if main is None else peaks[main.value] / _PER_US,
        "memory": None if main is None else main.label,
    }
