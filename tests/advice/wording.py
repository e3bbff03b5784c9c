"""Which of a rule's texts a finding says: tests assert ids and slots, the golden file sentences."""

import re
from collections.abc import Mapping
from typing import Any

from roofline.advice.rule import Form
from roofline.advice.rules import RULES

_SLOT = re.compile(r"\{\w+(?:\|[^}]*)?\}")


def forms_of(finding: Mapping[str, Any], part: str = "title") -> set[str]:
    """The forms of the rule whose `title`, `why` or `try` the finding has; "" is the rule's own."""
    rule, field = RULES[finding["rule"]], "try_" if part == "try" else part
    forms = {"": Form(rule.title, rule.why, rule.try_), **rule.forms}
    return {
        name
        for name, form in forms.items()
        if getattr(form, field) and _fits(getattr(form, field), finding[part])
    }


def _fits(template: str, text: str) -> bool:
    """True for a filled template; a reason may be followed by the next limit."""
    pattern = ".*".join(re.escape(piece) for piece in _SLOT.split(template))
    return re.match(pattern, text) is not None
