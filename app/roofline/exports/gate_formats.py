"""The result of a check, for the tools of CI: JUnit, SARIF 2.1.0, GitHub's annotations."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from urllib.parse import quote
from xml.sax.saxutils import escape, quoteattr

from roofline import __version__
from roofline.compare.gate.check import Report
from roofline.compare.gate.rules import Result
from roofline.exports.gate import culprit_line, failing, message_of
from roofline.presentation.text_table import plain

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
