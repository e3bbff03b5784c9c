"""Which of a rule's texts a finding says: tests assert ids and slots, the golden file sentences."""

import re
from collections.abc import Mapping
from typing import Any

from roofline.advice.cures import CURES
from roofline.advice.rule import Form
from roofline.advice.rules import RULES

_SLOT = re.compile(r"\{\w+(?:\|[^}]*)?\}")


def forms_of(finding: Mapping[str, Any], part: str = "title") -> set[str]:
    """The forms of the rule whose `title`, `why` or `try` the finding has; "" is the rule's own."""
    rule, said = RULES[finding["rule"]], finding[part]
    if part == "try":
        named = [(*key.split(), "")[:2] for key in CURES if key.split()[0] == rule.id]
        cures = {form: CURES[f"{rule.id} {form}".strip()].values() for _, form in named}
        return {form for form, of in cures.items() if any(_fits(one.text, said) for one in of)}
    forms = {"": Form(rule.title, rule.why), **rule.forms}
    return {
        name
        for name, form in forms.items()
        if getattr(form, part) and _fits(getattr(form, part), said)
    }


def _fits(template: str, text: str) -> bool:
    """True for a filled template; a reason may be followed by the next limit."""
    pattern = ".*".join(re.escape(piece) for piece in _SLOT.split(template))
    return re.match(pattern, text) is not None
