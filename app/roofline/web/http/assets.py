"""Templates and static files: from a source checkout or from an installed wheel.

Static files are read once at start, compressed when they are first asked for, and served from
memory under `/static/<build>/…`, where `<build>` is a digest of them all: modules import each other
relatively and so stay under one immutable prefix, and a changed file changes every address.
"""

import gzip
import hashlib
import mimetypes
import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from fastapi import Request, Response
from starlette.exceptions import HTTPException

IMMUTABLE = "public, max-age=31536000, immutable"
_PACKAGE = Path(__file__).resolve().parents[2]
_TEXT = (".js", ".css", ".svg", ".json", ".html", ".txt", ".map")
_TYPES = {".js": "text/javascript", ".mjs": "text/javascript", ".svg": "image/svg+xml"}
# A static import or re-export of a module of ours, as Prettier writes it: at the start of a line.
_IMPORT = re.compile(
    rb"""^(?:import|export)\s(?:[^"';]*\sfrom\s*)?["'](\.{1,2}/[^"']+)["']""", re.M
)


def assets_dir(name: str) -> Path:
    """The folder `templates`, `static` or `sample_profiles`, wherever this package was put."""
    installed = _PACKAGE / "_assets" / name
    return installed if installed.is_dir() else _PACKAGE.parents[1] / name


@dataclass(frozen=True, kw_only=True)
class Asset:
    """One static file in memory."""

    content: bytes
    is_text: bool
    media_type: str
    etag: str
    imports: tuple[str, ...]
    """Names of the modules that this one imports statically; empty for other files."""

    @cached_property
    def packed(self) -> bytes | None:
        """Its gzip form if that is worth sending."""
        # Compressed when it is first asked for: all of them were 60 ms of every start.
        packed = gzip.compress(self.content, 9, mtime=0) if self.is_text else None
        worth = packed is not None and len(packed) < 0.9 * len(self.content)
        return packed if worth else None


class StaticFiles:
    """All static files of one build."""

    def __init__(self, files: Mapping[str, Asset]) -> None:
        self._files = files

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

    def imported(self, *names: str) -> tuple[str, ...]:
        """Addresses of all modules that `names` import, directly or not, the nearest first.

        The browser preloads them together: without the list it finds one level of imports after
        the other. A name that is not a file raises `KeyError`.
        """
        found = list(names)
        for name in found:  # grows while it is walked
            found += [other for other in self._files[name].imports if other not in found]
        return tuple(map(self.url, found[len(names) :]))

    def response(self, request: Request, build: str, name: str) -> Response:
        """Answers a request for `name`; another build's address is served but not kept."""
        asset = self._files.get(name)
        if asset is None:
            raise HTTPException(404)
        headers = {
            "cache-control": IMMUTABLE if build == self.build else "no-cache",
            "vary": "accept-encoding",
        }
        packed = asset.packed if accepts_gzip(request) else None
        headers["etag"] = f'"{asset.etag}{"-gz" if packed else ""}"'
        if matches(request, headers["etag"]):
            return Response(status_code=304, headers=headers)
        if packed:
            headers["content-encoding"] = "gzip"
        return Response(packed or asset.content, headers=headers, media_type=asset.media_type)


def accepts_gzip(request: Request) -> bool:
    """True if the client takes gzip."""
    offers = request.headers.get("accept-encoding", "").lower().split(",")
    for offer in offers:
        name, _, weight = offer.partition(";")
        if name.strip() in {"gzip", "*"}:
            return weight.replace(" ", "") not in {"q=0", "q=0.0", "q=0.00", "q=0.000"}
    return False


def matches(request: Request, etag: str) -> bool:
    """True if the client already holds this `etag`."""
    held = request.headers.get("if-none-match", "")
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
    return StaticFiles({name: _asset(path, name) for path, name in names.items()})


def _asset(path: Path, name: str) -> Asset:
    content = path.read_bytes()
    guessed = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    return Asset(
        content=content,
        is_text=path.suffix in _TEXT,
        media_type=_TYPES.get(path.suffix, guessed),
        etag=hashlib.sha256(content).hexdigest()[:32],
        imports=_imports(name, content) if path.suffix == ".js" else (),
    )


def _imports(name: str, content: bytes) -> tuple[str, ...]:
    folder = posixpath.dirname(name)
    wanted = (found.decode() for found in _IMPORT.findall(content))
    return tuple(dict.fromkeys(posixpath.normpath(f"{folder}/{one}") for one in wanted))
