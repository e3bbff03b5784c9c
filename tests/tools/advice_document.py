"""The tables of rules and thresholds in docs/advice.md, written from the rules themselves.

`python -m tests.tools.golden_words` writes them, beside the golden file of the rules' sentences.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from roofline.advice.cures import CURES
from roofline.advice.rules import RULES

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "advice.md"
_TABLES = re.compile(r"(?<=<!-- rules -->\n).*(?=\n<!-- end of rules -->)", re.DOTALL)


def written() -> str:
    """The document with the tables of today's rules."""
    tables = "\n".join((*_rules(), "", *_cures(), "", *_thresholds()))
    return _TABLES.sub(lambda _: tables, DOCUMENT.read_text("utf-8"))


def _rules() -> Iterator[str]:
    yield "| rule | holds when | says | formula |"
    yield "|---|---|---|---|"
    for rule in RULES.values():
        values = {limit.name: f"{limit.value:.10g}" for limit in rule.thresholds}
        title = re.sub(r"\{(\w+)\}", "…", rule.title)
        formula = f"`{rule.formula.text}`" if rule.formula else ""
        source = f"[{rule.id}]({rule.source})" if rule.source else rule.id
        yield f"| {source} | {rule.when.format(**values)} | {title} | {formula} |"


def _cures() -> Iterator[str]:
    yield "| rule, form | stack | what to try | to copy |"
    yield "|---|---|---|---|"
    for key, of in CURES.items():
        for stack, (text, snippet) in of.items():
            code = "<br>".join(f"`{line.strip()}`" for line in snippet.splitlines())
            yield f"| {key} | {stack or 'any'} | {text} | {code} |"


def _thresholds() -> Iterator[str]:
    yield "| threshold | value | compared with | rules |"
    yield "|---|---|---|---|"
    every = {limit for rule in RULES.values() for limit in rule.thresholds}
    for limit in sorted(every):
        rules = ", ".join(name for name, rule in RULES.items() if limit in rule.thresholds)
        yield f"| {limit.name} | {limit.value:.10g} | {limit.meaning} | {rules} |"
