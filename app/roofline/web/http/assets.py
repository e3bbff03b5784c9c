"""Templates and static files: from a source checkout or from an installed wheel.

Static files are read once at start, compressed when they are first asked for, and served from
memory under `/static/<build>/…`, where `<build>` is a digest of them all: modules import each other
relatively and so stay under one immutable prefix, and a changed file changes every address.
"""

import hashlib
import mimetypes
import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path

from fastapi import Request, Response
from starlette.exceptions import HTTPException

from roofline.web.http import bundles
from roofline.web.http.encodings import accepts, best_encoding, packed

IMMUTABLE = "public, max-age=31536000, immutable"
_ZSTD_LEVEL = 19  # of files, which are compressed once
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
        *(f"js/app/{name}.js" for name in ("run", "run-link", "run-delete", "run-follow")),
    ),
    "js/app/home.bundle.js": ("js/ui/theme.js", "js/app/home.js"),
    "css/home.bundle.css": tuple(
        f"css/{name}.css" for name in ("tokens", "base", "jobs", "working", "home", "narrow")
    ),
    "css/compare.bundle.css": tuple(
        f"css/{name}.css"
        for name in ("tokens", "base", "page", "working", "gain", "compare", "narrow")
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
            form = packed(self.content, encoding, zstd_level=_ZSTD_LEVEL)
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
        join = bundles.script if name.endswith(".js") else bundles.styles
        return join(parts, lambda part: self._files[part].content.decode()).encode()

    def content(self, name: str) -> str:
        """The text of a file or a bundle."""
        return (self._files.get(name) or self._bundles[name]).content.decode()

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

    def response(self, request: Request, build: str, name: str) -> Response:
        """Answers a request for `name`; another build's address is served but not kept."""
        asset = self._files.get(name) or self._bundles.get(name)
        if asset is None:
            raise HTTPException(404)
        headers = {
            "cache-control": IMMUTABLE if build == self.build else "no-cache",
            "vary": "accept-encoding",
        }
        encoding = "br" if asset.forms.get("br") and accepts(request, "br") else ""
        encoding = encoding or best_encoding(request)
        packed = asset.packed_in(encoding)
        headers["etag"] = f'"{asset.etag}{f"-{encoding}" if packed else ""}"'
        if matches(request, headers["etag"]):
            return Response(status_code=304, headers=headers)
        if packed:
            headers["content-encoding"] = encoding
        return Response(packed or asset.content, headers=headers, media_type=asset.media_type)


def matches(request: Request, etag: str) -> bool:
    """True if the client already holds this `etag`."""
    held = request.headers.get("if-none-match", "")
    if not held:
        return False
    return held.strip() == "*" or etag in {
        one.strip().removeprefix("W/") for one in held.split(",")
    }


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
