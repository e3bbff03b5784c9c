"""The result of a check, for people: text and Markdown; for programs: JSON, JUnit, SARIF."""

import hashlib
import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote
from xml.sax.saxutils import escape, quoteattr

from roofline import __version__
from roofline.compare.changes import WAIT, PlaceChange
from roofline.compare.gate.check import BROKEN, INCONCLUSIVE, PASSED, Report, untested_time
from roofline.compare.gate.rules import Culprit, Result
from roofline.exports.comparison import (
    comparison_record,
    explanation,
    markdown_plain,
    markdown_table,
)
from roofline.exports.comparison_words import (
    TERMINAL_NOTES,
    everywhere,
    line_of,
    part_name,
    place_name,
)
from roofline.model.plain_data import taken
from roofline.presentation.json_text import to_json
from roofline.presentation.quantities import NARROW, SPACE, duration, percent, significant
from roofline.presentation.text_table import cut, plain, spaced, table

Record = dict[str, Any]

VERDICTS = {PASSED: "passed", BROKEN: "failed", INCONCLUSIVE: "inconclusive"}
MOST_BYTES = 60_000
"""A summary is kept below 64 kB: GitHub takes 1 MiB for all steps together."""

_SHARES = frozenset(
    {
        "unknown_cost_share",
        "largest_new_op",
        "roof_efficiency",
        "efficiency",
        "idle_share",
        "communication_share",
        "transfer_share",
        "ratio",
        "idle",
    }
)
_TIMES = frozenset({"roof_time", "step"})
_PLACES_SHOWN = 5
_HEADS = ("", "Rule", "Base", "New", "Change", "Limit")
_MARKS = {
    "passed": "ok",
    "better": "better",
    "broken": "FAIL",
    "inconclusive": "unclear",
    "accepted": "accepted",
    "untested": "not tested",
}


def report_record(report: Report) -> Record:
    """All that a check found, as JSON takes it."""
    return {
        "status": report.status,
        "verdict": VERDICTS[report.status],
        "unit": report.unit,
        "rules": [_rule(one) for one in report.results],
        "notes": list(report.notes),
        "comparison": None if report.comparison is None else comparison_record(report.comparison),
    }


def render_report(report: Report, output_format: str) -> bytes:
    """`report` as `text`, `json` or `markdown`."""
    match output_format:
        case "json":
            return to_json(report_record(report)) + b"\n"
        case "markdown":
            return report_to_markdown(report).encode("utf-8", "replace")
        case _:
            return report_to_text(report).encode("utf-8", "replace")


def report_to_text(report: Report) -> str:
    """The report for a terminal: verdict, rules, terms, operations, notes."""
    lines = [first_line(report), ""]
    rows = [_cells(one) for one in report.results]
    if rows:
        lines += [table(_HEADS, rows, left={0, 1}), ""]
    for one in _explained(report):
        lines.append(f"{one.rule}: {_said(one)}")
        lines += [f"  {culprit_line(one, culprit)}" for culprit in one.culprits]
    lines += _details(report)
    return "\n".join(lines).rstrip() + "\n"


def first_line(report: Report) -> str:
    """The verdict, and that step time was not tested where this is all that it lacks."""
    untested = untested_time(report.results)
    said = f"Check {VERDICTS[report.status]}"
    is_all = len(report.of_state("untested")) == len(report.results)
    if report.status == BROKEN or untested is None or is_all:
        return f"{said}: {_counted(report)}."
    but = ", but" if report.status == PASSED else ":"
    return f"{said}{but} time was not tested. {untested.message} {_counted(report)}."


def report_to_markdown(report: Report) -> str:
    """The same for a pull request or a step summary, below 64 kB."""
    sections = [f"### Roofline {first_line(report)[:1].lower()}{first_line(report)[1:]}"]
    rows = [_cells(one) for one in report.results]
    if rows:
        sections.append(markdown_table(_HEADS, rows))
    for one in _explained(report):
        lines = [f"- **{markdown_plain(one.rule)}**: {markdown_plain(_said(one))}"]
        lines += [f"  - {markdown_plain(culprit_line(one, each))}" for each in one.culprits]
        sections.append("\n".join(lines))
    sections += [markdown_plain(line) for line in _details(report)]
    text = "\n\n".join(section for section in sections if section)
    while len(text.encode("utf-8", "replace")) > MOST_BYTES and len(sections) > 1:
        sections = sections[:-1]
        text = "\n\n".join([*sections, "The rest is left out: the report is too long."])
    return text + "\n"


def report_words(report: Report) -> Record:
    """A report for a page: each rule's cells as texts, and lines about what grew, and where."""
    said = [
        f"{one.rule}: {plain(one.message)}"
        for one in report.results
        if one.message and one.state != "untested"
    ]
    grown = [
        f"{one.rule.removeprefix('exact.')} grew in {culprit_line(one, each)}"
        for one in report.of_state("broken") + report.of_state("accepted")
        for each in one.culprits[:1]
    ]
    compared = report.comparison
    terms = [] if compared is None else [f"Change of time: {explanation(compared, 1)[0]}"]
    return {
        "rules": [
            {
                "rule": one.rule,
                "state": one.state,
                "level": one.level,
                "base": amount(one.metric, one.base),
                "new": amount(one.metric, one.new),
                "change": _on_page(_share(one.change)),
                "limit": _on_page(one.limit),
            }
            for one in report.results
        ],
        "lines": [*said, *grown, *terms, *map(_without_options, report.notes)],
    }


def _on_page(text: str) -> str:
    """A share as pages write it: a minus sign, and a narrow space before the percent sign."""
    return text.replace("-", "−").replace("%", f"{NARROW}%")


def _without_options(note: str) -> str:
    """A note without its last sentence where that names options: a page has none."""
    sentences = note.split(". ")
    return note if " --" not in sentences[-1] else ". ".join(sentences[:-1]) + "."


def explain(report: Report, rule: str) -> str | None:
    """Formula, numbers and operations of one rule; `None` where there is no such rule."""
    names = (rule, f"exact.{rule}", f"time.{rule}")
    found = next((one for one in report.results if one.rule in names), None)
    if found is None:
        return None
    lines = [
        f"{found.rule}: {_MARKS[found.state]}",
        f"  formula   {found.formula}, per {report.unit} and core",
        f"  baseline  {_exact(found.base)}",
        f"  new       {_exact(found.new)}",
        f"  change    {_share(found.change)}",
        f"  limit     {found.limit} ({found.level})",
    ]
    if found.message:
        lines.append(f"  {found.message}")
    lines += [f"  {culprit_line(found, one)}" for one in found.culprits]
    return "\n".join(lines) + "\n"


def failing(report: Report) -> list[Result]:
    """The rules that are broken, those that fail the check first."""
    broken = report.of_state("broken")
    return sorted(broken, key=lambda one: one.level != "error")


def message_of(one: Result) -> str:
    """One line about a broken rule: numbers, limit, the operation that grew most."""
    said = f"{one.rule}: {amount(one.metric, one.base)} → {amount(one.metric, one.new)}"
    said = (
        f"{said} ({_share(one.change)}, limit {one.limit})"
        if one.base is not None
        else (f"{one.rule}: {amount(one.metric, one.new)}, limit {one.limit}")
    )
    if one.culprits:
        said = f"{said}. Most in {culprit_line(one, one.culprits[0])}"
    return plain(spaced(said))


def amount(metric: str, value: float | str | None) -> str:
    """A number, or a text, of a rule as people read it."""
    if isinstance(value, str):
        return value
    if value is None:
        return "–"
    if metric in _SHARES:
        return spaced(percent(value))
    if metric in _TIMES:
        return spaced(duration(value))
    if metric.endswith("bytes"):
        return _scaled(value, "B")
    if metric in ("flops", "recomputed_flops"):
        return _scaled(value, "FLOP")
    return spaced(significant(value))


def _scaled(value: float, unit: str) -> str:
    for factor, prefix in ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= factor:
            return spaced(f"{significant(value / factor, 4)}{SPACE}{prefix}{unit}")
    return spaced(f"{significant(value, 4)}{SPACE}{unit}")


def _rule(one: Result) -> Record:
    change = one.change if one.change is not None and math.isfinite(one.change) else None
    return {
        **taken(one, "rule", "metric", "level", "state", "base", "new"),
        "change_ratio": change,
        "limit": one.limit,
        "message": one.message,
        "formula": one.formula,
        "places": [
            {
                "name": culprit_name(each),
                "is_new": each.part.is_new,
                **taken(each, "source", "library", "amount", "key"),
            }
            for each in one.culprits
        ],
    }


def _counted(report: Report) -> str:
    counts = {state: len(report.of_state(state)) for state in _MARKS}
    words = {
        "broken": "broken",
        "inconclusive": "unclear",
        "accepted": "accepted",
        "better": "better than the baseline",
        "passed": "passed",
        "untested": "not tested",
    }
    said = [f"{counts[state]} {word}" for state, word in words.items() if counts[state]]
    return ", ".join(said) or "no rule was applied"


def _cells(one: Result) -> Sequence[str]:
    mark = _MARKS[one.state]
    if one.state == "broken" and one.level == "warn":
        mark = "warn"
    return (
        mark,
        cut(one.rule, 40),
        amount(one.metric, one.base),
        amount(one.metric, one.new),
        _share(one.change),
        one.limit,
    )


def _explained(report: Report) -> list[Result]:
    order = ("broken", "inconclusive", "accepted", "untested")
    return [one for state in order for one in report.of_state(state)]


def _said(one: Result) -> str:
    return plain(one.message) or f"the limit is {one.limit}"


def culprit_line(one: Result, culprit: Culprit) -> str:
    """What grew, by how much, at which line: the same sentence in every format."""
    line = line_of(culprit.source, culprit.library)
    where = f" ({plain(line)})" if line else ""
    return f"{culprit_name(culprit)}: +{amount(one.metric, culprit.amount)}{where}"


def culprit_name(culprit: Culprit) -> str:
    """A module with where it is new, or an operation: "oops, new in each of 3 Blocks"."""
    part = culprit.part
    if part.kind == WAIT and isinstance(part, PlaceChange):
        return place_name(part)
    new = f", new{everywhere(part)}" if part.is_new else ""
    return f"{part_name(part)}{new}"


def _details(report: Report) -> list[str]:
    lines = []
    if report.comparison is not None:
        first, *rest = explanation(report.comparison, _PLACES_SHOWN)
        lines += [f"Change of time: {first}", *(f"  {one}" for one in rest)]
        lines += [
            TERMINAL_NOTES[code] for code in report.comparison.notes if code != "few-captures"
        ]
    return [*lines, *report.notes]


def _share(change: float | None) -> str:
    if change is None:
        return ""
    if math.isinf(change):
        return "from 0"
    return f"{change * 100:+.4g}%" if change else "0%"


def _exact(value: float | str | None) -> str:
    return "not known" if value is None else f"{value!r}"


MOST_ANNOTATIONS = 9
"""GitHub shows ten annotations of a kind for a step; the tenth says how many are left."""

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_FINGERPRINT = "rooflineRule/v1"


def report_to_junit(report: Report) -> bytes:
    """One test case per rule: failed where it is broken, skipped where it was not tested."""
    cases = "".join(_case(one) for one in report.results)
    errors = [one for one in report.results if one.level == "error"]
    failed = sum(one.state == "broken" for one in errors)
    skipped = sum(one.state in ("untested", "inconclusive") for one in report.results)
    head = f'<testsuite name="roofline" tests="{len(report.results)}" failures="{failed}"'
    start = f'<?xml version="1.0" encoding="UTF-8"?>\n{head} skipped="{skipped}">'
    text = f"{start}\n{cases}</testsuite>\n"
    return text.encode("utf-8", "replace")


def _case(one: Result) -> str:
    start = f'  <testcase classname="roofline.check" name={quoteattr(plain(one.rule))}'
    said = quoteattr(message_of(one))
    if one.state == "broken" and one.level == "error":
        lines = "\n".join(culprit_line(one, each) for each in one.culprits)
        return f"{start}><failure message={said}>{escape(_xml(lines))}</failure></testcase>\n"
    if one.state in ("untested", "inconclusive"):
        return f"{start}><skipped message={quoteattr(plain(one.message))}/></testcase>\n"
    return f"{start}/>\n"


def _xml(text: str) -> str:
    """`text` without what XML 1.0 cannot say."""
    return "\n".join(plain(line) for line in text.split("\n"))


def report_to_sarif(report: Report, root: Path) -> bytes:
    """One result per broken rule and module, at its source line relative to `root`."""
    broken = failing(report)
    document = {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "Roofline",
                        "version": __version__,
                        "rules": [
                            {"id": name, "shortDescription": {"text": formula}}
                            for name, formula in {one.rule: one.formula for one in broken}.items()
                        ],
                    }
                },
                "results": [result for one in broken for result in _results(one, root)],
            }
        ],
    }
    return json.dumps(document, indent=1).encode() + b"\n"


def _results(one: Result, root: Path) -> Iterator[dict[str, object]]:
    level = "error" if one.level == "error" else "warning"
    if not one.culprits:
        yield _result(one.rule, level, message_of(one), "", "", root)
    for each in one.culprits:
        said = f"{message_of(one)}. Here: {plain(culprit_line(one, each))}"
        yield _result(one.rule, level, said, each.key, each.source, root)


def _result(
    rule: str, level: str, said: str, key: str, source: str, root: Path
) -> dict[str, object]:
    told = hashlib.sha256(f"{rule}\0{key}".encode("utf-8", "replace")).hexdigest()[:32]
    found: dict[str, object] = {
        "ruleId": rule,
        "level": level,
        "message": {"text": said},
        "partialFingerprints": {_FINGERPRINT: told},
    }
    file, line = split_source(source, root)
    if file:
        place: dict[str, object] = {"artifactLocation": {"uri": quote(file)}}
        if line:
            place["region"] = {"startLine": line}
        found["locations"] = [{"physicalLocation": place}]
    return found


def split_source(source: str, root: Path) -> tuple[str, int | None]:
    """File and line of `file:line`; the file relative to `root` where it lies below it."""
    file, colon, number = source.rpartition(":")
    line = int(number) if colon and number.isdecimal() and int(number) > 0 else None
    path = file if colon and number.isdecimal() else source
    if not path:
        return "", None
    pure = PurePosixPath(path.replace("\\", "/"))
    if pure.is_relative_to(root.as_posix()):
        return pure.relative_to(root.as_posix()).as_posix(), line
    return pure.as_posix(), line


def annotations(report: Report, root: Path) -> str:
    """GitHub's workflow commands: at most nine and "and 14 more", the worst first."""
    broken = failing(report)
    lines = [_annotation(one, root) for one in broken[:MOST_ANNOTATIONS]]
    if len(broken) > MOST_ANNOTATIONS:
        lines.append(f"::error title=Roofline::and {len(broken) - MOST_ANNOTATIONS} more")
    return "".join(f"{line}\n" for line in lines)


def _annotation(one: Result, root: Path) -> str:
    kind = "error" if one.level == "error" else "warning"
    source = one.culprits[0].source if one.culprits else ""
    file, line = split_source(source, root)
    fields = [f"title=Roofline {_property(one.rule)}"]
    if file:
        fields.insert(0, f"file={_property(file)}")
    if line:
        fields.insert(1, f"line={line}")
    return f"::{kind} {','.join(fields)}::{_data(message_of(one))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
