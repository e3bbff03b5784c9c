"""A comparison for people and their tools: JSON, text and Markdown.

Keys carry units; `null` is "not known", 0 is a real zero.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from roofline.advice.ledger import Entry, document_of
from roofline.compare.attribution import TERMS
from roofline.compare.changes import (
    CATEGORY,
    OPERATION,
    Captures,
    Comparison,
    GroupChange,
    OnlyOp,
    OpChange,
    PlaceChange,
    Side,
)
from roofline.compare.sides import MEMORIES
from roofline.exports.acceptance import Check, CheckState, checks_of
from roofline.exports.certainty import certainty_of_change
from roofline.exports.comparison_subjects import subject_records, subject_rows
from roofline.exports.comparison_words import (
    CHECK_LABELS,
    NOTES,
    STATE_LABELS,
    TERMINAL_NOTES,
    TIER_LABELS,
    change_verdict,
    everywhere,
    per_of,
    place_name,
    side_names,
    sign,
    term_label,
    where,
)
from roofline.exports.ledger import measured_lines
from roofline.model.environment import LABELS
from roofline.model.plain_data import taken
from roofline.presentation.goal_numbers import Scale, whole_percent
from roofline.presentation.json_text import to_json
from roofline.presentation.quantities import duration, percent
from roofline.presentation.sentences import Sentence, plain_text
from roofline.presentation.text_table import cut, named, plain, spaced, table, wrapped

Record = dict[str, Any]

OPS_SHOWN = 20
_NAME_WIDTH = 44
_VERSIONS = frozenset(LABELS.values())
_BECAME = " → "
_SIDES = ("", "A", "B")
_IN_ROWS = {"closeness": "use", "regrouped": "fused"}
"""Terms that a row of a table says in a word of its own."""
_LEAST_SHOWN_US = 0.0005  # shown as 0.00 otherwise
_LEAST_PLACE = 0.001  # of the time: smaller rows are summed up
_LINES = ("headline", "largest", "lead", "split")
_UNKNOWN = "–"
OF_ROOF = "Of the roof"
SPLIT = "How the change was split"
TRUSTED = "Can the model be trusted here?"


def comparison_record(found: Comparison) -> Record:
    """The document of `roofline compare --format json` and of the API."""
    verdict = change_verdict(found)
    return {
        **taken(found, "unit", "a_us", "b_us", "change_us"),
        "subjects": subject_records(found),
        "terms": dict(found.terms),
        "matched": dict(found.matched),
        "ops": [_op(one) for one in found.ops],
        "only_a": [_only(one) for one in found.only_a],
        "only_b": [_only(one) for one in found.only_b],
        "groups": [_group(one) for one in found.groups],
        "verdict": {
            "state": verdict.state,
            **{name: _written(getattr(verdict, name)) for name in _LINES},
            **{f"{name}_segments": getattr(verdict, name) for name in _LINES},
        },
        "places": [_place(one) for one in found.places],
        "comparable": found.is_comparable,
        "notes": [{"code": code, "message": NOTES[code]} for code in found.notes],
        "categories": _categories(found),
        "peaks": {side: _peaks(peaks) for side, peaks in zip("ab", found.peaks, strict=True)},
        "main_memory": found.main_memory,
        "checks": [check_record(one) for one in checks_of(found)],
        "captures": {"a": _captures(found.captures_a), "b": _captures(found.captures_b)},
        "tested": None if found.tested is None else asdict(found.tested),
        "differences": [
            {"name": one.name, "a": one.a, "b": one.b, "is_same": one.a == one.b}
            for one in found.differences
        ],
    }


def _place(one: PlaceChange) -> Record:
    """A row of the change by module; `kind` is module, category, wait or unnamed."""
    return {
        "kind": one.kind,
        "name": place_name(one),
        "is_new": one.is_new,
        "is_gone": one.is_gone,
        "around": one.around or None,
        **taken(one, "copies", "source", "library", "noise_us"),
        "a_us": one.a.time_us,
        "b_us": one.b.time_us,
        "change_us": one.change_us,
        "a_roof_ratio": one.a.roof_ratio,
        "b_roof_ratio": one.b.roof_ratio,
    }


def check_record(one: Check) -> Record:
    """A check of the model, with its numbers."""
    return {
        "id": one.id,
        "label": CHECK_LABELS[one.id],
        "state": one.state.value,
        "state_label": STATE_LABELS[one.state],
        "said": _written(one.said),
        **one.numbers,
    }


def comparison_to_json(found: Comparison) -> bytes:
    """`comparison_record` as UTF-8."""
    return to_json(comparison_record(found))


@dataclass(frozen=True, slots=True, kw_only=True)
class Detail:
    """What a text has beside modules: each operation, and how the change was split and checked."""

    has_ops: bool = False
    has_terms: bool = False


def render_comparison(
    found: Comparison,
    output_format: str,
    measured: Sequence[Entry] = (),
    detail: Detail = Detail(),
) -> bytes:
    """`found` as `text`, `json` or `markdown`; `measured` are accepted findings of A."""
    lines = measured_lines(measured)
    match output_format:
        case "json":
            told = {"ledger": [document_of(one) for one in measured]} if measured else {}
            return to_json(comparison_record(found) | told) + b"\n"
        case "markdown":
            rest = "".join(f"- {markdown_plain(one)}\n" for one in lines)
            rest = f"\n### Predicted against measured\n\n{rest}" if rest else ""
            return (comparison_to_markdown(found, detail) + rest).encode("utf-8", "replace")
        case _:
            rest = "\n".join(["\nPredicted against measured", *lines, ""]) if lines else ""
            return (comparison_to_text(found, detail) + spaced(rest)).encode("utf-8", "replace")


def _op(one: OpChange) -> Record:
    return {
        "a": one.a.names[0],
        "b": one.b.names[0],
        "tier": str(one.tier),
        "change_us": one.change_us,
        "terms": dict(one.terms),
        "a_names": list(one.a.names),
        "b_names": list(one.b.names),
        "category": one.category,
        "path": one.path,
        "a_side": _side(one.a),
        "b_side": _side(one.b),
    }


def _side(side: Side) -> Record:
    return {
        "time_us": side.time_us,
        "calls": side.calls,
        "flop_per_call": side.flop,
        "bytes_per_call": side.bytes,
        "main_memory_bytes_per_call": side.main_bytes,
        "roofline_efficiency_ratio": side.efficiency,
        "bound_by": side.bound,
        "source": side.source,
        "library": side.library,
    }


def _only(one: OnlyOp) -> Record:
    name = one.side.names[0]
    return {"name": name, "category": one.category, "path": one.path, **_side(one.side)}


def _group(one: GroupChange) -> Record:
    return {
        "scope": one.scope,
        "a": [side.names[0] for side in one.a],
        "b": [side.names[0] for side in one.b],
        "category": one.category,
        "change_us": one.change_us,
        "terms": dict(one.terms),
        "a_sides": [_side(side) for side in one.a],
        "b_sides": [_side(side) for side in one.b],
    }


def _peaks(peaks: Mapping[str, float]) -> Record:
    """Peaks of the device by resource: FLOP/us of compute units, bytes/us of memories."""
    return {
        "flop_per_us": {name: peak for name, peak in peaks.items() if name not in MEMORIES},
        "bytes_per_us": {name: peak for name, peak in peaks.items() if name in MEMORIES},
    }


def _categories(found: Comparison) -> list[Record]:
    """The change of time by category, the largest first; idle and the like are terms alone."""
    changes: dict[str, float] = {}
    pairs = [(one.category, one.change_us) for one in found.ops]
    pairs += [(one.category, one.change_us) for one in found.groups]
    pairs += [(one.category, one.side.time_us) for one in found.only_b]
    pairs += [(one.category, -one.side.time_us) for one in found.only_a]
    for category, change in pairs:
        changes[category] = changes.get(category, 0.0) + change
    order = sorted(changes, key=lambda category: (-abs(changes[category]), category))
    return [{"category": category, "change_us": changes[category]} for category in order]


def _captures(captures: Captures) -> Record:
    return {
        "labels": list(captures.labels),
        "time_us": list(captures.time_us),
        "chosen": captures.chosen,
        "middle_half_us": None if captures.spread_us is None else list(captures.spread_us),
    }


def _written(sentence: Sentence) -> str:
    return plain(spaced(plain_text(sentence))).strip()


# ------------------------------------------------------------------------------------------- text


def comparison_to_text(found: Comparison, detail: Detail = Detail()) -> str:
    """The report for a terminal, at most 120 columns wide."""
    verdict = change_verdict(found)
    said = (f"{_written(verdict.headline)}.", _written(verdict.largest), _written(verdict.lead))
    lines = [line for one in said for line in wrapped(one)]
    sections = ["\n".join(lines), _subjects(found)]
    sections += [table(*_places(found), left={0, 5}), _differences(found)]
    if detail.has_ops:
        sections += [table(*rows, left={0, 1}) for rows in _op_tables(found) if rows[1]]
    if detail.has_terms:
        split = wrapped(_written(verdict.split))
        sections.append("\n".join([SPLIT, *split, "", table(*_term_rows(found), left={0})]))
        sections.append("\n".join(wrapped(f"How sure: {how_sure(found)}")))
        sections.append(_listed(TRUSTED, [f"  {one}" for one in check_lines(found)]))
    told = [TERMINAL_NOTES[code] for code in found.notes if code != "few-captures"]  # as above
    sections.append(_listed("Notes", [f"  i {one}" for one in told]))
    return "\n\n".join(section for section in sections if section) + "\n"


def _listed(head: str, lines: Sequence[str]) -> str:
    rows = [row for one in lines for row in wrapped(one, indent="    ")]
    return "\n".join([head, *rows]) if rows else ""


def comparison_to_markdown(found: Comparison, detail: Detail = Detail()) -> str:
    """The report for a pull request: the same, as Markdown tables."""
    verdict = change_verdict(found)
    sections = [
        f"### {markdown_plain(_written(verdict.headline))} (certain: {certainty_of_change(found)})",
        markdown_plain(_written(verdict.largest)),
        markdown_plain(_written(verdict.lead)),
    ]
    sides = subject_rows(found)
    sections += [markdown_table(_SIDES, sides)] if sides else []
    sections += [markdown_table(*_places(found)), markdown_plain(_differences(found))]
    if detail.has_ops:
        sections += [markdown_table(*rows) for rows in _op_tables(found) if rows[1]]
    if detail.has_terms:
        sections += [f"#### {SPLIT}", markdown_plain(_written(verdict.split))]
        sections += [markdown_table(*_term_rows(found)), f"How sure: {how_sure(found)}"]
        sections.append("\n".join(f"- {markdown_plain(said)}" for said in check_lines(found)))
    sections += [f"- {markdown_plain(TERMINAL_NOTES[code])}" for code in found.notes]
    return "\n\n".join(section for section in sections if section) + "\n"


def _places(found: Comparison) -> tuple[Sequence[str], list[Sequence[str]]]:
    """The change by module, with the user's line of each and the line of the library it calls."""
    heads, rows = place_rows(found)
    lines = [cut(where(found, one), 36) for one in shown_places(found)]
    lines += [""] * (len(rows) - len(lines))
    named_rows: list[Sequence[str]] = [(*row, line) for row, line in zip(rows, lines, strict=True)]
    return (*heads, "Where"), named_rows


def explanation(found: Comparison, most: int) -> list[str]:
    """The largest change in a sentence, then the next ones by module, a line each."""
    first = _written(change_verdict(found).largest)
    rows = [one for one in found.places[1:most] if one.beyond_us >= _LEAST_SHOWN_US]
    return [first or "Nothing changed.", *(_place_line(found, one) for one in rows)]


def _place_line(found: Comparison, one: PlaceChange) -> str:
    state = " is new" if one.is_new else " is gone" if one.is_gone else ""
    line = where(found, one)
    said = f"{place_name(one)}{state}{everywhere(one) if state else ''}"
    return plain(f"{said}: {_change(one.change_us)}{f' ({line})' if line else ''}")


def check_lines(found: Comparison) -> list[str]:
    """The checks of the model, a line each; none where no check could be made."""
    return [
        f"{CHECK_LABELS[one.id]}: {STATE_LABELS[one.state]}. {_written(one.said)}"
        for one in checks_of(found)
        if checks_tell(found)
    ]


def checks_tell(found: Comparison) -> bool:
    """True where at least one check of the model holds or does not."""
    return any(one.state in {CheckState.HELD, CheckState.BROKEN} for one in checks_of(found))


def place_rows(found: Comparison) -> tuple[Sequence[str], list[Sequence[str]]]:
    """Heads and rows of the change by module; the last row sums up those that are left out."""
    scale = Scale.of(max(found.a_us, found.b_us))
    names = [one.removeprefix("the ") for one in side_names(found)]
    kinds = {one.kind for one in found.places}
    by = next((one.capitalize() for one in (CATEGORY, OPERATION) if one in kinds), "Module")
    shown = shown_places(found)
    rows: list[Sequence[str]] = [
        _place_row(place_name(one), (one.a.time_us, one.b.time_us), scale, one) for one in shown
    ]
    rest = [one for one in found.places if one not in shown]
    if rest:
        times = sum(one.a.time_us for one in rest), sum(one.b.time_us for one in rest)
        rows.append(_place_row(f"{len(rest)} more", times, scale))
    return (by, f"{names[0]}, {scale.unit}", f"{names[1]}, {scale.unit}", "Change", OF_ROOF), rows


def shown_places(found: Comparison) -> list[PlaceChange]:
    """The rows of the change by module that are not summed up."""
    least = _LEAST_PLACE * max(found.a_us, found.b_us)
    return [one for one in found.places if max(one.a.time_us, one.b.time_us) >= least]


def _place_row(
    name: str, times: tuple[float, float], scale: Scale, one: PlaceChange | None = None
) -> Sequence[str]:
    """A row; times have one digit more than the headline, so that small changes are seen."""
    finer = scale._replace(decimals=scale.decimals + 1)
    change = times[1] - times[0]
    said = finer.number(abs(change))
    moved = f"{sign(change)}{said}" if float(said.replace(",", "")) else "0"
    ratios = [] if one is None else [one.a.roof_ratio, one.b.roof_ratio]
    known = [_UNKNOWN if ratio is None else spaced(whole_percent(ratio)) for ratio in ratios]
    of_roof = _BECAME.join(known) if any(ratio is not None for ratio in ratios) else ""
    return (cut(name, _NAME_WIDTH), finer.number(times[0]), finer.number(times[1]), moved, of_roof)


def how_sure(found: Comparison) -> str:
    """Share of the time by tier of matching, in one line."""
    return ", ".join(
        f"{TIER_LABELS[tier]} {spaced(percent(share))}" for tier, share in found.matched.items()
    )


def _subjects(found: Comparison) -> str:
    """What both sides are of, a fact a line."""
    rows = [(name, cut(spaced(a), 40), cut(spaced(b), 40)) for name, a, b in subject_rows(found)]
    return table(_SIDES, rows, left={0, 1, 2}) if rows else ""


def _differences(found: Comparison) -> str:
    """The differences between the captures, in one line each."""
    unlike = [one for one in found.differences if one.a != one.b]
    if not unlike:
        if any(one.name in _VERSIONS and one.a for one in found.differences):
            return "Device, peaks and versions are the same."
        return "Device and peaks are the same; the files say no versions."
    return "\n".join(f"{one.name}: {_known(one.a)} → {_known(one.b)}" for one in unlike)


def _known(text: str) -> str:
    return plain(text) or "not known"


def _term_rows(found: Comparison) -> tuple[Sequence[str], list[Sequence[str]]]:
    shown = [name for name in TERMS if abs(found.terms[name]) >= _LEAST_SHOWN_US]
    shown.sort(key=lambda name: found.terms[name])
    rows: list[Sequence[str]] = [("A", spaced(duration(found.a_us)))]
    rows += [(term_label(found, name), _change(found.terms[name])) for name in shown]
    rows.append(("B", spaced(duration(found.b_us))))
    return (f"Time {per_of(found)}", "per core"), rows


def _op_tables(found: Comparison) -> list[tuple[Sequence[str], list[Sequence[str]]]]:
    """Heads and rows: changed operations, groups, only in A, only in B."""
    changed = sorted(
        (one for one in found.ops if one.beyond_us >= _LEAST_SHOWN_US),
        key=lambda one: -one.beyond_us,
    )
    heads = ("Operation", "Tier", "A", "B", "Change", "Terms")
    rows: list[Sequence[str]] = [
        (_name(one), str(one.tier), _time(one.a), _time(one.b), _change(one.change_us), _said(one))
        for one in changed[:OPS_SHOWN]
    ]
    groups: list[Sequence[str]] = [
        (
            cut(one.scope, _NAME_WIDTH),
            f"{len(one.a)} → {len(one.b)}",
            spaced(duration(sum(side.time_us for side in one.a))),
            spaced(duration(sum(side.time_us for side in one.b))),
            _change(one.change_us),
        )
        for one in found.groups[:OPS_SHOWN]
    ]
    return [
        (heads, rows),
        (("Group", "Operations", "A", "B", "Change"), groups),
        _only_rows("Only in A", found.only_a),
        _only_rows("Only in B", found.only_b),
    ]


def _only_rows(head: str, only: Sequence[OnlyOp]) -> tuple[Sequence[str], list[Sequence[str]]]:
    shown = [one for one in only if one.side.time_us >= _LEAST_SHOWN_US][:OPS_SHOWN]
    rows: list[Sequence[str]] = [
        (named(one.side.names[0], _NAME_WIDTH), cut(one.side.source, 30), _time(one.side))
        for one in shown
    ]
    return (head, "Source", "Time"), rows


def _name(one: OpChange) -> str:
    """Both names where they differ; the number of twins where it is a class."""
    a, b = one.a.names[0], one.b.names[0]
    counts = len(one.a.names), len(one.b.names)
    if counts == (1, 1):
        half = (_NAME_WIDTH - len(_BECAME)) // 2
        return named(a, _NAME_WIDTH) if a == b else f"{named(a, half)}{_BECAME}{named(b, half)}"
    twins = f" and twins, {counts[0]} → {counts[1]}"
    return named(a, _NAME_WIDTH - len(twins)) + twins


def _said(one: OpChange) -> str:
    """The terms that matter for this operation, as words."""
    least = max(_LEAST_SHOWN_US, 0.02 * abs(one.change_us))
    large = [(name, value) for name, value in one.terms.items() if abs(value) >= least]
    large.sort(key=lambda item: -abs(item[1]))
    return ", ".join(f"{_IN_ROWS.get(name, name)} {_change(value)}" for name, value in large[:2])


def _time(side: Side) -> str:
    return spaced(duration(side.time_us))


def _change(us: float) -> str:
    return "0" if us == 0 else f"{sign(us)}{spaced(duration(abs(us)))}"


def markdown_plain(text: str) -> str:
    """`text` with the marks of Markdown and HTML made plain: names come from strangers."""
    for mark in "\\`*_|[]#":
        text = text.replace(mark, f"\\{mark}")
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def markdown_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in GitHub's Markdown."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)


def _cell(text: str) -> str:
    return text if text == "---" else markdown_plain(text)
