"""Functions, methods and classes that nothing in the product uses: `make lint` fails on one.

    python -m tests.tools.unused

vulture reads the package without its tests, as a function that only a test calls is not used. Names
in the tables of commands, in templates and of `import roofline` count as used. The list below has
functions that only a library or a notebook calls. Fields of records are left out: they leave the
process as JSON.
"""

import re
import sys
from pathlib import Path

from vulture import Vulture

import roofline
from roofline.cli.main import COMMANDS
from roofline.web import commands as server

ROOT = Path(__file__).resolve().parents[2]
KINDS = {"class", "function", "method", "property"}
# FastAPI calls routes; pydantic calls validators.
DECORATORS = ["@*router.*", "@*app.*", "@api.*", "@pages.*", "@model_validator"]
_JINJA = re.compile(r"\{[{%](.*?)[%}]\}", re.DOTALL)
CALLED_BY = {
    "_repr_html_": "notebooks",
    "widget": "notebooks",
    "__getattr__": "Python, of a module",
    "__dir__": "Python, of a module",
    "pytest_addoption": "pytest, of a plug-in",
}


def unused() -> list[str]:
    """Place and name of each, and of each name in the list that is used or gone."""
    vulture = Vulture(ignore_decorators=DECORATORS)
    vulture.scavenge([str(ROOT / "app" / "roofline")], exclude=["*_pb2.py"])
    # Vulture would take these names as patterns, and match each definition with each of them.
    by_name = _used_by_name()
    found = [
        item for item in vulture.get_unused_code() if item.typ in KINDS and item.name not in by_name
    ]
    names = {item.name for item in found}
    return [
        *(
            f"{item.filename}:{item.first_lineno}: nothing uses the {item.typ} {item.name}"
            for item in found
            if item.name not in CALLED_BY
        ),
        *(f"{name} is used, or gone: take it off the list" for name in CALLED_BY.keys() - names),
    ]


def _used_by_name() -> set[str]:
    """Names in the tables of commands, and in what templates compute."""
    targets = [target for _, target in (*COMMANDS.values(), *server.COMMANDS.values())]
    words: set[str] = set()
    for path in (ROOT / "templates").rglob("*.html"):
        for code in _JINJA.findall(path.read_text("utf-8")):
            words.update(re.findall(r"[a-z_]\w+", code))
    commands = (target.partition(":")[2] for target in targets)
    return {*commands, *roofline.__all__, *words}


if __name__ == "__main__":
    lines = unused()
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    sys.exit(1 if lines else 0)
