"""The printed formula of each rule against its function, on the rule's own cases."""

import ast
import re
from collections.abc import Mapping

import pytest

from roofline.advice.cures import CURES
from roofline.advice.formula import Case, Formula
from roofline.advice.rules import RULES
from tests.tools.advice_document import DOCUMENT, written

_CASES = [
    pytest.param(rule.formula, case, id=f"{rule.id}-{place}")
    for rule in RULES.values()
    if rule.formula
    for place, case in enumerate(rule.cases)
]
_COMPARED = re.compile(r"[<>≤≥]")


def evaluated(formula: str, values: Mapping[str, float]) -> float:
    """What a printed formula gives: later clauses define its names, or are conditions."""
    first, *others = _clauses(formula)
    known = dict(values)
    for clause in others:
        if name := re.fullmatch(r"(\S+) (?:= (.*)|([\d.]+))", clause):
            known.setdefault(name[1], _value(name[2] or name[3], known))
    for clause in (first, *others):
        parsed = _parsed(clause.rpartition(" = ")[2], known)
        if _COMPARED.search(clause) and not re.search("[^ -~≤≥]|[a-zA-Z]", parsed):
            assert eval(parsed.replace("≤", "<=").replace("≥", ">=")), f"{clause}: {values}"
    return _value(_COMPARED.split(first.partition(" = ")[2] or first)[0], known)


def _clauses(formula: str) -> list[str]:
    """The parts between commas and semicolons that stand outside of parentheses."""
    clauses = [""]
    for sign in formula:
        is_outside = clauses[-1].count("(") == clauses[-1].count(")")
        if sign in ",;" and is_outside:
            clauses.append("")
        else:
            clauses[-1] += sign
    return [clause.strip() for clause in clauses]


def _value(text: str, values: Mapping[str, float]) -> float:
    return float(eval(_parsed(text, values)))


def _parsed(text: str, values: Mapping[str, float]) -> str:
    """The text as Python: names by their values, "2 T" and "η T" as products."""
    for name in sorted(values, key=len, reverse=True):
        text = re.sub(rf"(?<![\w']){re.escape(name)}(?![\w'])", f"({values[name]!r})", text)
    for sign, python in {"×": "*", "÷": "/", "^": "**"}.items():
        text = text.replace(sign, python)
    return re.sub(r"(?<=[\d)])\s(?=\()", " * ", text)


@pytest.mark.parametrize(("formula", "case"), _CASES)
def test_a_printed_formula_is_the_one_that_is_computed(formula: Formula, case: Case) -> None:
    assert evaluated(formula.text, case.values) == pytest.approx(case.gives)
    assert formula.gives(*case.values.values()) == pytest.approx(case.gives)


def test_every_rule_with_a_finding_has_a_formula_with_cases_a_source_and_words() -> None:
    for rule in RULES.values():
        if rule.finds is not None:
            assert rule.formula and rule.cases and rule.source.startswith("https://"), rule.id
            assert rule.title and rule.why and CURES[rule.id][""].text, rule.id


_COMMANDS = ("export ", "ncu ", "vllm ", "VLLM_", "python -m ", "rocprof-compute ", "roofline ")


@pytest.mark.parametrize("key", CURES)
def test_a_cure_is_for_every_stack_and_its_code_can_be_copied(key: str) -> None:
    assert key.split()[0] in RULES and CURES[key][""].text
    for stack, (_, snippet) in CURES[key].items():
        if stack in {"torch", "jax", "tpu", "triton"} and not snippet.startswith(_COMMANDS):
            code = f"{snippet}\ndef _(): ..." if snippet.startswith("@") else snippet
            ast.parse(code.replace("…", "..."))


def test_the_document_has_the_tables_of_the_rules() -> None:
    """Written by `python -m tests.tools.golden_words`."""
    assert DOCUMENT.read_text("utf-8") == written()
