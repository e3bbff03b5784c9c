"""Every rule of advice, ordered by id: a `Rule` in any module of this folder is collected here."""

from collections.abc import Mapping
from importlib import import_module
from pkgutil import iter_modules

from roofline.advice.rule import Rule


def _collected() -> dict[str, Rule]:
    """The rules by id; `ValueError` where two have the same one."""
    rules: dict[str, Rule] = {}
    # `source_closure` knows this call: results depend on every module of the folder.
    for module in iter_modules(__path__, f"{__name__}."):
        for rule in vars(import_module(module.name)).values():
            if isinstance(rule, Rule) and rules.setdefault(rule.id, rule) is not rule:
                raise ValueError(f"Two rules are called {rule.id}.")
    return {name: rules[name] for name in sorted(rules)}


RULES: Mapping[str, Rule] = _collected()
