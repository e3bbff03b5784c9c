"""What an agent is told of a profile: the answer and how sure it is first, then tables.

Tables are separated by tabs, with units in the names of their columns and three digits. Names of
operations are a stranger's text: one quoted cell, never a line of ours. An answer has at most
`MOST_LETTERS` letters, about 1,500 tokens; it says how many lines are left out.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from roofline import __version__
from roofline.analysis.records import Cost
from roofline.analysis.short_names import middle_cut
from roofline.api.agents.reading import Reading, Record
from roofline.api.agents.said import numbers_said
from roofline.errors import BadViewError
from roofline.exports.advice import render_record
from roofline.exports.certainty import certainty_of_place
from roofline.exports.groups import groups_text
from roofline.presentation.grouping_choice import Grouping
from roofline.presentation.listing import in_order
from roofline.presentation.quantities import DASH, significant
from roofline.presentation.text_table import plain, spaced

MOST_LETTERS = 4_500
OPS_SHOWN = 10
LONGEST = "-width_us"
"""The order of operations by their time in the subject, the longest first."""
_MOST_OPS = 200
_NAME_LETTERS = 120
_DOUBTS, _NOTE_LETTERS = 3, 240
_FINDINGS = 3
_SAME = 1e-3  # rounding, at three digits
_OP_HEADS = ("op_id", "time_us", "share", "at", "of_roof", "gain_us", "sure", "name", "source")


def summary(reading: Reading) -> str:
    """What binds the profile, how sure that is, where its time goes, and what to do first."""
    document = reading.document
    time_us = document["subject"]["time_us"]
    parts = [
        (part, number(us), number(us / time_us if time_us else None))
        for part, us in parts_of(document["subject"]["parts"])
    ]
    findings = reading.profile.findings[:_FINDINGS]
    lines = [*head(reading), *_roofs(reading), *_points(document)]
    if parts:
        lines += ["time by part:", *tsv(("part", "us", "share"), parts)]
    if findings:
        lines += ["what would help:", *finding_rows(findings)]
    return answer(lines, _calls(reading, "top_ops", "why", "advise"), reading)


def top_ops(
    reading: Reading,
    *,
    limit: int = OPS_SHOWN,
    sort: str = LONGEST,
    where: str = "",
    offset: int = 0,
) -> str:
    """Operations in the order of a column of the CSV, the largest first behind "-". `where` is a
    part of the name.

    Raises `BadViewError` for a column that is not known.
    """
    found = [
        (key, row)
        for key, row in reading.ids.items()
        if where.lower() in row["name"].lower() and row["cost"] != Cost.IDLE
    ]
    column = sort.removeprefix("-")
    if found and column not in found[0][1]:
        raise BadViewError(
            f"“{column[:100]}” is not a column.", remedy="Columns are those of the CSV."
        )
    order = in_order([row[column] for _, row in found], is_down=sort.startswith("-"))
    shown = [found[k] for k in order[offset : offset + max(1, min(limit, _MOST_OPS))]]
    rows = [_op_cells(reading, key, row) for key, row in shown]
    lines = [
        *head(reading),
        f"operations {offset + 1} to {offset + len(shown)} of {len(found)}, by {sort}:",
        *tsv(_OP_HEADS, rows),
    ]
    calls = _calls(reading, "why")
    if shown:
        calls.insert(0, f'explain({quoted(reading.name)}, "{shown[0][0]}")')
    if offset + len(shown) < len(found):
        calls.insert(0, f"top_ops({quoted(reading.name)}, offset={offset + len(shown)})")
    return answer(lines, calls, reading)


def grouped(reading: Reading, grouping: Grouping) -> str:
    """The time of the subject by groups of its operations, as `roofline analyze --by` prints it."""
    profile = reading.profile
    text = groups_text(profile.analysis, profile.answered.answer.subject, grouping)
    lines = [spaced(plain(line)) for line in text.splitlines()]
    return answer([*head(reading), *lines], _calls(reading, "top_ops"), reading)


def explain(reading: Reading, op: str) -> str:
    """One operation by its id or name: its numbers, the formula filled in, and where it is from.

    Raises `BadViewError` where there is no such operation.
    """
    op_id, row = reading.op(op)
    sure = reading.sure[op_id]
    ceiling, ratio = row["nearest_ceiling"], number(row["nearest_ratio"])
    at = f"at {ratio} of {ceiling}" if ceiling else f"{row['nearest_class'] or 'bound not known'}"
    if why := row["nearest_why"] or row["above_roof"]:
        at += f" ({plain(str(why))})"
    facts = [
        (name, number(row[name]))
        for name in (
            "width_us", "needed_us", "gain_us", "self_share_ratio", "occurrences",
            "flop_rate_gflops", "memory_bandwidth_gibs", "operational_intensity",
            "attainable_gflops", "roofline_efficiency_ratio",
        )
    ]  # fmt: skip
    clocks = _clocks(row)
    busy = [
        (name.removeprefix("busy_").removesuffix("_ratio"), number(ratio))
        for name, ratio in row.items()
        if name.startswith("busy_") and ratio is not None
    ]
    lines = [
        f"{quoted(row['name'])} {at} (certain: {sure})",
        f"op_id {op_id} · category {quoted(row['category'])} · program {quoted(row['program'])}"
        f" · path {quoted(row['path'])} · source {quoted(_source(row))}",
        f"shapes {quoted(row.get('operands'))} → {quoted(row.get('results'))}",
        *tsv(("quantity", "value"), facts),
    ]
    if clocks:
        lines += [
            "time that its work takes at each roof, over all calls; the longest is the least time:",
            *tsv(("roof", "least_us"), [(name, number(us)) for name, us in clocks.items()]),
            *_equation(row, clocks, sure),
        ]
    if times := reading.launch_times(op_id):
        lines += [
            "single launches, percentiles of their times and of the bandwidth that they reach:",
            *tsv(("quantity", "value"), [(name, number(value)) for name, value in times.items()]),
        ]
    if busy:
        lines += ["busy shares of units, counted:", *tsv(("unit", "busy_ratio"), busy)]
    peak = row["bound_peak_origin"]
    if peak:
        lines.append(f"the peak of its roof is from: {peak}")
    return answer(lines, [f'why({quoted(reading.name)}, "{op_id}")'], reading)


def why(reading: Reading, of: str = "verdict") -> str:
    """Where a statement is from: "verdict", "flops", "bytes", "peak:hbm", a finding, an operation.

    Raises `BadViewError` for anything else.
    """
    profile, certainty = reading.document["profile"], reading.certainty
    if of == "verdict":
        said = [(cell(one.text), quoted(one.what), one.source) for one in numbers_said(reading)]
        lines = [*head(reading), *tsv(("said", "is", "from"), said), *_chain(reading)]
    elif of in ("flops", "bytes"):
        source = profile["flop_provenance" if of == "flops" else "bytes_provenance"]
        known = reading.document["verdict"]["known"]["flop" if of == "flops" else "bytes"]
        limits = [f"limit: {cell(one)}" for one in profile["limits"]]
        lines = [f"{of} are {source}, and known for {number(known)} of the busy time", *limits]
    elif of.startswith("peak:"):
        lines = [_peak(reading, of.removeprefix("peak:"))]
    elif (finding := _finding(reading, of)) is not None:
        lines = [
            f"{cell(finding['title'])} (certain: {finding['confidence']} confidence)",
            cell(finding["why"]),
            f"rule {finding['source'][0]}: {finding['formula'] or 'no formula'},"
            f" {finding['source'][1]}",
            f"to check: {cell(finding['how_to_verify'])}",
        ]
    else:
        return explain(reading, of)
    if certainty.settle:
        lines.append(f"what would settle it: {cell(certainty.settle)}")
    return answer(lines, _calls(reading, "top_ops", "advise"), reading)


def advise(reading: Reading, *, limit: int = 5) -> str:
    """What would help, as `roofline advise --format markdown` says it."""
    found = render_record(reading.profile.answered.advice, "markdown", max(1, limit)).decode()
    return fitted(found)


def head(reading: Reading) -> list[str]:
    """The sentence and how sure it is, what it is of, and what is in doubt."""
    document, certainty = reading.document, reading.certainty
    subject = document["subject"]
    lines = [
        f"{cell(reading.profile.sentence, None)} (certain: {certainty.in_words})",
        f"of {cell(subject['label'])} (of={subject['of']}) · {cell(document['device']['name'])}",
    ]
    if certainty.doubts:
        doubts = " | ".join(cell(one) for one in certainty.doubts[:_DOUBTS])
        lines.append(f"doubt: {doubts}")
    return lines


def answer(lines: Iterable[str], calls: Sequence[str], reading: Reading | None = None) -> str:
    """`lines` within `MOST_LETTERS`, the calls that say more, and where the numbers are from."""
    foot = [f"next: {' | '.join(calls)}"] if calls else []
    foot += [_provenance(reading)] if reading else []
    left = MOST_LETTERS - sum(len(line) + 1 for line in foot)
    every = list(lines)
    kept: list[str] = []
    for line in every:
        left -= len(line) + 1
        if left < _NAME_LETTERS:
            kept.append(f"cut: {len(every) - len(kept)} more lines; ask for less at a time")
            break
        kept.append(line)
    return "\n".join([*kept, *foot, ""])


def fitted(text: str) -> str:
    """The text of a command, cut where it is longer than an answer."""
    return text if len(text) <= MOST_LETTERS else answer(text.splitlines(), [])


def of_rows(sentence: str, certain: str, rows: Sequence[Record]) -> str:
    """A result that is calculated or published: its sentence, and a table of its rows."""
    first = f"{cell(sentence, None)} (certain: {certain})" if certain else cell(sentence, None)
    cells = [
        [quoted(one) if isinstance(one, str) else number(one) for one in row.values()]
        for row in rows
    ]
    return answer([first, *tsv([*rows[0]] if rows else [], cells)], [])


def tsv(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A table, one line a row, cells separated by tabs."""
    return ["\t".join(row) for row in (heads, *rows)]


def quoted(text: str | None) -> str:
    """A stranger's text as one cell: quoted, in one line, at most 120 letters; "-" for none."""
    if not text:
        return "-"
    return '"' + cell(middle_cut(cell(text, None), _NAME_LETTERS)).replace('"', "'") + '"'


def cell(text: str, most: int | None = _NOTE_LETTERS) -> str:
    """Text in one line, without what controls a terminal or turns the direction of writing."""
    line = plain(" ".join(spaced(text).split()))
    return line if most is None else middle_cut(line, most)


def number(value: float | int | None) -> str:
    """Three digits without thousands, or "-" for what is not known."""
    shown = significant(value).replace(",", "")
    return "-" if shown == DASH else shown


def finding_rows(findings: Sequence[Record]) -> list[str]:
    """Findings as a table: what each saves beside those before it, and how sure that is."""
    heads = ("finding", "saving_us", "least_us", "most_us", "sure", "title")
    rows = []
    for one in findings:
        known = one["predicted"] if one["in_plan"] else None
        low, high = known["range_us"] if known else (None, None)
        saving = number(known and known["saving_us"])
        sure = f"{one['confidence']} confidence"
        rows.append(
            (quoted(one["id"]), saving, number(low), number(high), sure, quoted(one["title"]))
        )
    return tsv(heads, rows)


def _calls(reading: Reading, *tools: str) -> list[str]:
    return [f"{tool}({quoted(reading.name)})" for tool in tools]


def parts_of(parts: Mapping[str, Any]) -> Iterable[tuple[str, float]]:
    """The parts of the time that are not empty; those of links by name."""
    for name, us in parts.items():
        if isinstance(us, Mapping):
            yield from ((f"{name}.{link}", one) for link, one in us.items() if one)
        elif us:
            yield name, us


def _roofs(reading: Reading) -> list[str]:
    """The roofs that operations are held against, and those that are not looked up."""
    held = {row["nearest_ceiling"] for row in reading.rows}
    held |= {key for row in reading.rows for key in _clocks(row)}
    rows = [
        (name, f"{number(roof.peak)} {roof.unit}", roof.origin)
        for name, roof in reading.roofs.items()
        if name in held or roof.origin != "catalogue"
    ]
    return ["roofs, per core:", *tsv(("roof", "peak", "from"), rows)] if rows else []


def _clocks(row: Record) -> Mapping[str, float]:
    """The time that an operation's work takes at each roof, in us."""
    return {
        name.removesuffix("_clock_us"): us
        for name, us in row.items()
        if name.endswith("_clock_us") and us
    }


def _points(document: Record) -> list[str]:
    names = ("total_time_us", "flop_rate_gflops", "memory_bandwidth_gibs", "operational_intensity")
    rows = [
        (quoted(one["label"]), *(number(one[name]) for name in names))
        for one in document["program_points"]
        if one["scope"] != "step"
    ]
    return ["program, over all cores:", *tsv(("point", *names), rows)] if rows else []


def _op_cells(reading: Reading, op_id: str, row: Record) -> Sequence[str]:
    time_us, of_us = row["width_us"], reading.document["subject"]["time_us"]
    share = time_us / of_us if time_us is not None and of_us else None
    mark = "!" if row["above_roof"] else ""
    return (
        op_id, number(time_us), number(share), _at(row),
        f"{number(row['nearest_ratio'])}{mark}", number(row["gain_us"]), reading.sure[op_id],
        quoted(row["name"]), quoted(_source(row)),
    )  # fmt: skip


def _at(row: Record) -> str:
    """What an operation is held against, or why it waits; the class of those without either."""
    part = row["part"]
    is_work = part in (None, "work")
    return row["nearest_ceiling"] or row["nearest_class"] or "-" if is_work else str(part)


def _source(row: Record) -> str:
    line = f":{row['source_line']}" if row["source_line"] else ""
    return f"{row['source_file']}{line}" if row["source_file"] else ""


def _equation(row: Record, clocks: Mapping[str, float], sure: str) -> Iterable[str]:
    """The share of the roof by the work, filled in; nothing where it is not this quotient, as of
    calls that only hold others, or of transfers beside the work."""
    ratio, self_us = row["roofline_efficiency_ratio"], row["self_time_us"]
    longest = max(clocks.values())
    if ratio and self_us and math.isclose(longest / self_us, ratio, rel_tol=_SAME):
        filled = f"{number(longest)} ÷ {number(self_us)} = {number(ratio)}"
        yield f"share by its work = least_us ÷ self_time_us = {filled} (certain: {sure})"


def _chain(reading: Reading) -> Iterable[str]:
    """From the file to the sentence, a link a line."""
    analysis, verdict = reading.profile.analysis, reading.profile.answered.answer.verdict
    profile = reading.document["profile"]
    yield f"file: {cell(profile['format'])}"
    yield f"work: FLOPs {profile['flop_provenance']}, bytes {profile['bytes_provenance']}"
    yield from (f"limit: {cell(one)}" for one in profile["limits"])
    for place in (verdict, verdict.then):
        if place is None:
            continue
        at = " and ".join(one for one in (place.ceiling, *place.also) if one)
        yield (
            f"class {place.kind}{f' at {at}' if at else ''}: share {number(place.ratio)}"
            f"{', ' + cell(place.why) if place.why else ''}"
            f" (certain: {certainty_of_place(analysis, place)})"
        )
    yield from _roofs(reading)
    yield from (f"note: {cell(one['message'])}" for one in reading.document["diagnostics"])


def _peak(reading: Reading, wanted: str) -> str:
    roof = reading.roofs.get(wanted)
    if roof is None:
        known = ", ".join(reading.roofs) or "none"
        raise BadViewError(f"There is no roof “{wanted[:100]}”.", remedy=f"Roofs: {known}.")
    source = cell(roof.source)
    return f"{wanted}: {number(roof.peak)} {roof.unit} per core, from: {roof.origin} ({source})"


def _finding(reading: Reading, wanted: str) -> Record | None:
    return next((one for one in reading.profile.findings if one["id"] == wanted), None)


def _provenance(reading: Reading) -> str:
    profile = reading.document["profile"]
    digest = f" profile=sha256:{reading.digest[:12]}" if reading.digest else ""
    return (
        f"flops={profile['flop_provenance']} bytes={profile['bytes_provenance']}"
        f" roofline={__version__}{digest}"
    )
