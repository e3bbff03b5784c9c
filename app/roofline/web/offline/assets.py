"""Templates and static files: from a source checkout or from an installed wheel.

Static files are read once at start, compressed when they are first asked for, and served from
memory under `/static/<build>/…`, where `<build>` is a digest of them all: modules import each other
relatively and so stay under one immutable prefix, and a changed file changes every address.

Modules and style sheets of a page as one file each, made when a server first needs them.

A page of sixty modules is sixty requests. The sources stay as they are: there is no step between
editing one and seeing it, since a bundle is made again when a file changes. Only the form of module
that Prettier and `tests/js/folders.test.js` leave in `static/js` is understood, and all else raises
`ValueError`: named imports, exports in front of declarations, and templates within a line, so that
indents can be left out.
"""

import gzip
import hashlib
import mimetypes
import posixpath
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path

_FILE_LEVEL = 19  # of Zstandard: files are compressed once
# Of pages, which are packed for one person: 111 kB become 20.4 kB in 0.5 ms; at 9, 18.6 in 2.1.
_PAGE_LEVEL = 3
_WORTH = 0.9  # of the size, up to which a compressed form is sent
# Files that a page needs together, as one: the order of style sheets counts.
_STYLES = (
    "tokens",
    "base",
    "page",
    "zone",
    "first-view",
    "shown-values",
    "gain",
    "op-cost",
    "profile-meta",
    "timeline",
    "working",
    "narrow",
)
_PROFILE = ("js/ui/theme.js", "js/app/main.js", "js/app/profile-meta.js")
BUNDLES = {
    "js/app/profile.bundle.js": _PROFILE,
    "js/app/profile-owner.bundle.js": (
        *_PROFILE,
        "js/app/profile-share.js",
        "js/app/advice-decisions.js",
    ),
    "js/app/compare.bundle.js": (
        "js/ui/theme.js",
        "js/app/compare.js",
        "js/app/keep-measured.js",
    ),
    "js/app/compare-waiting.bundle.js": ("js/ui/theme.js", "js/app/compare-waiting.js"),
    "js/app/run.bundle.js": (
        "js/ui/theme.js",
        *(f"js/app/{name}.js" for name in ("run", "run-link", "delete", "run-follow")),
    ),
    "js/app/costs.bundle.js": ("js/ui/theme.js", "js/app/costs.js"),
    "js/app/home.bundle.js": ("js/ui/theme.js", "js/app/home.js"),
    "css/home.bundle.css": tuple(
        f"css/{name}.css" for name in ("tokens", "base", "jobs", "working", "home", "narrow")
    ),
    "css/compare.bundle.css": tuple(
        f"css/{name}.css"
        for name in ("tokens", "base", "page", "working", "gain", "compare", "narrow")
    ),
    "css/costs.bundle.css": tuple(
        f"css/{name}.css" for name in ("tokens", "base", "page", "op-cost", "costs", "narrow")
    ),
    "css/run.bundle.css": tuple(
        f"css/{name}.css"
        for name in (
            "tokens",
            "base",
            "page",
            "working",
            "compare",
            "run",
            "profile-meta",
            "narrow",
        )
    ),
    "css/profile.bundle.css": tuple(f"css/{name}.css" for name in _STYLES),
}
_TEXT = (".js", ".css", ".svg", ".json", ".html", ".txt", ".map")
_TYPES = {".js": "text/javascript", ".mjs": "text/javascript", ".svg": "image/svg+xml"}


@dataclass(frozen=True, kw_only=True)
class Asset:
    """One static file in memory."""

    content: bytes
    is_text: bool
    media_type: str
    etag: str
    forms: dict[str, bytes | None] = field(default_factory=dict)
    """Compressed forms by encoding, as far as they were asked for; `None`: not worth sending."""

    def packed_in(self, encoding: str) -> bytes | None:
        """Its form in `encoding`, if that is worth sending: made when it is first asked for."""
        if not self.is_text or encoding == "":
            return None
        if encoding not in self.forms:
            form = packed(self.content, encoding, zstd_level=_FILE_LEVEL)
            self.forms[encoding] = form if len(form) < _WORTH * len(self.content) else None
        return self.forms[encoding]


class StaticFiles:
    """All static files of one build."""

    def __init__(self, files: Mapping[str, Asset]) -> None:
        self._files = files

    @cached_property
    def _bundles(self) -> Mapping[str, Asset]:
        """Bundles whose files are there: a folder of a test may have others."""
        return {
            name: _made(self._bundled(name, parts), name)
            for name, parts in BUNDLES.items()
            if all(part in self._files for part in parts)
        }

    def _bundled(self, name: str, parts: Sequence[str]) -> bytes:
        join = script if name.endswith(".js") else styles
        return join(parts, lambda part: self._files[part].content.decode()).encode()

    def content(self, name: str) -> str:
        """The text of a file or a bundle."""
        return (self._files.get(name) or self._bundles[name]).content.decode()

    def get(self, name: str) -> Asset | None:
        """A file or a bundle; `None` where there is none."""
        return self._files.get(name) or self._bundles.get(name)

    @cached_property
    def build(self) -> str:
        """Digest of every name and content."""
        digest = hashlib.sha256()
        for name, asset in sorted(self._files.items()):
            digest.update(f"{name}:{asset.etag};".encode())
        return digest.hexdigest()[:16]

    def url(self, name: str) -> str:
        """The address of the file `name`, such as `js/app/main.js`."""
        return f"/static/{self.build}/{name}"


def load_static(folder: Path) -> StaticFiles:
    """The static files of `folder`; read again only when one of them changes."""
    paths = tuple(sorted(path for path in folder.rglob("*") if path.is_file()))
    newest = max((path.stat().st_mtime_ns for path in paths), default=0)
    return _load(folder, paths, newest)


@lru_cache(maxsize=4)
def _load(folder: Path, paths: tuple[Path, ...], _newest: int) -> StaticFiles:
    names = {path: path.relative_to(folder).as_posix() for path in paths}
    files = {path: name for path, name in names.items() if path.suffix != ".br"}
    return StaticFiles({name: _asset(path, name) for path, name in files.items()})


def _asset(path: Path, name: str) -> Asset:
    asset = _made(path.read_bytes(), name)
    smallest = path.with_name(f"{path.name}.br")
    if smallest.is_file():
        asset.forms["br"] = smallest.read_bytes()
    return asset


def _made(content: bytes, name: str) -> Asset:
    suffix = posixpath.splitext(name)[1]
    guessed = mimetypes.guess_type(name)[0] or "application/octet-stream"
    return Asset(
        content=content,
        is_text=suffix in _TEXT,
        media_type=_TYPES.get(suffix, guessed),
        etag=hashlib.sha256(content).hexdigest()[:32],
    )


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


def packed(content: bytes, encoding: str, *, zstd_level: int = _PAGE_LEVEL) -> bytes:
    """`content` in that encoding: the same bytes for the same content."""
    if encoding == "gzip":
        # Pages in less than half of the time of 9, 6 % larger.
        return gzip.compress(content, 9 if zstd_level == _FILE_LEVEL else 4, mtime=0)
    if encoding == "zstd":
        import zstandard

        # What it returns keeps room for the worst case, often eight times its length.
        return bytes(memoryview(zstandard.ZstdCompressor(level=zstd_level).compress(content)))
    return content
