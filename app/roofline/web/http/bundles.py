"""Modules and style sheets of a page as one file each, made when a server first needs them.

A page of sixty modules is sixty requests. The sources stay as they are: there is no step between
editing one and seeing it, since a bundle is made again when a file changes. Only the form of module
that Prettier and `tests/js/folders.test.js` leave in `static/js` is understood, and all else raises
`ValueError`: named imports, exports in front of declarations, and templates within a line, so that
indents can be left out.
"""

import posixpath
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

Read = Callable[[str], str]
"""The text of a file by its name, such as `js/app/main.js`."""

_IMPORT = re.compile(r'^import\s(?:\{([^}]*)\}\sfrom\s)?"(\.{1,2}/[^"]+)";[^\S\n]*$', re.M)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const)\b\*? ?([\w$]+))", re.M)
_DECLARED = re.compile(r"^export (?:async )?(?:function\*?|class|const) ([\w$]+)", re.M)
_LEFT = re.compile(r"^(?:import|export)\b.*$", re.M)
# Comments on lines of their own; those behind code are few, and may stand in a text.
_COMMENTS = re.compile(r"^[^\S\n]*(?:/\*\*?(?:[^*]|\*(?!/))*\*/[^\S\n]*|//.*)\n", re.M)
_STRINGS = re.compile(r""""(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'""")
_INDENTS = re.compile(r"^[^\S\n]+", re.M)
_STYLE_COMMENTS = re.compile(r"/\*.*?\*/", re.S)
_INDENTS_AND_EMPTY_LINES = re.compile(r"^\s+", re.M)


@dataclass(frozen=True, slots=True)
class _Module:
    """A module: what it imports, as pairs of a name and the clause, and its body."""

    imports: tuple[tuple[str, str], ...]
    exports: tuple[str, ...]
    body: str


def script(entries: Sequence[str], read: Read) -> str:
    """One module that does what `entries` and all that they import do, each once, in order."""
    modules: dict[str, _Module] = {}
    ordered = [name for entry in entries for name in _visit(entry, read, modules, ())]
    numbers = {name: number for number, name in enumerate(ordered)}
    return "".join(_written(name, modules[name], numbers) for name in ordered)


def styles(names: Sequence[str], read: Read) -> str:
    """Style sheets in their order, without comments; addresses in them must have one folder."""
    folders = {posixpath.dirname(name) for name in names}
    if len(folders) > 1:
        raise ValueError(f"Style sheets of one bundle lie in one folder, not in {sorted(folders)}.")
    rules = _STYLE_COMMENTS.sub("", "".join(map(read, names)))
    return _INDENTS_AND_EMPTY_LINES.sub("", rules)


def _visit(
    name: str, read: Read, modules: dict[str, _Module], path: tuple[str, ...]
) -> Iterator[str]:
    """Names of modules that were not visited before, those that others need first."""
    if name in path:
        raise ValueError(f"Modules import each other: {' → '.join([*path, name])}.")
    if name in modules:
        return
    module = _parsed(name, read(name))
    for other, _ in module.imports:
        yield from _visit(other, read, modules, (*path, name))
    modules[name] = module
    yield name


def _parsed(name: str, text: str) -> _Module:
    folder = posixpath.dirname(name)
    text = _COMMENTS.sub("", text)
    imports = tuple(
        (posixpath.normpath(f"{folder}/{found[2]}"), found[1] or "")
        for found in _IMPORT.finditer(text)
    )
    exports = tuple(_DECLARED.findall(text))
    body = _EXPORT.sub("", _IMPORT.sub("", text))
    left = _LEFT.search(body)
    if left:
        raise ValueError(f"{name} has an import or export that cannot be bundled: {left[0]}")
    for line in body.splitlines():
        if _STRINGS.sub("", line).count("`") % 2:
            raise ValueError(f"{name} has a template over several lines: {line.strip()}")
    return _Module(imports=imports, exports=exports, body=_INDENTS.sub("", body))


def _written(name: str, module: _Module, numbers: dict[str, int]) -> str:
    """A module as a function that is called once, and returns what it exports."""
    needs = "".join(
        f"const{{{_clause(clause)}}}=m{numbers[other]};"
        for other, clause in module.imports
        if clause
    )
    body = f"{needs}\n{module.body.strip()}\n"
    if not module.exports:
        return f"(()=>{{{body}}})();\n"
    return f"const m{numbers[name]}=(()=>{{{body}return{{{','.join(module.exports)}}}}})();\n"


def _clause(clause: str) -> str:
    """`a, b as c` of an import as the pattern `a,b:c`."""
    names = (" ".join(one.split()) for one in clause.split(",") if one.strip())
    return ",".join(name.replace(" as ", ":") for name in names)
