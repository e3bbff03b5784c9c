"""The bundled profiles: what lies in `sample_profiles/<format>/`, offered on the home page.

A file there is one sample; a folder is one sample of several hosts or profilers. `samples.toml`
beside the formats may give each a title and a description: `["<format>/<name>"]`, and name another
one `beside` it, for a comparison. `sights.json` has what the home page shows before one is opened.
"""

import hashlib
import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

_CATALOGUE, _SIGHTS = "samples.toml", "sights.json"
SHOWN_AT_FIRST = 6
"""Samples that the home page shows without a click."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """The first sentence of a sample, and its "Time to gain" as an `svg` element."""

    headline: str
    picture: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One bundled profile; `name` is its address, `files` its hosts in order.

    It is compared with the sample named `beside`, where there is one.
    """

    name: str
    title: str
    description: str
    files: tuple[Path, ...]
    beside: str = ""
    sight: Sight | None = None

    @property
    def size_bytes(self) -> int:
        """Bytes of all its files."""
        return sum(file.stat().st_size for file in self.files)


@lru_cache(maxsize=4)
def find_samples(folder: Path) -> tuple[Sample, ...]:
    """Every sample below `folder`, in the catalogue's order, others after it by name."""
    catalogue = _read_catalogue(folder / _CATALOGUE)
    sights = _read_sights(folder / _SIGHTS)
    entries = [
        entry
        for format_folder in sorted(path for path in folder.glob("*") if path.is_dir())
        for entry in sorted(format_folder.iterdir())
        if entry.is_dir() or entry.suffix.lower() not in {".md", ".toml", ".txt"}
    ]
    names = list(catalogue)
    found = [_sample(entry, catalogue.get(_key(entry), {}), sights) for entry in entries]
    order = {name: number for number, name in enumerate(names)}
    ranked = sorted(zip(found, entries, strict=True), key=lambda pair: order.get(_key(pair[1]), 99))
    return tuple(sample for sample, _ in ranked if sample.files)


@lru_cache(maxsize=64)
def sample_key(sample: Sample) -> str:
    """Identifies the sample and its content: a changed sample is another profile."""
    digest = hashlib.sha256()
    for file in sample.files:
        digest.update(file.read_bytes())
    return f"{sample.name}:{digest.hexdigest()[:16]}"


def _key(entry: Path) -> str:
    return f"{entry.parent.name}/{entry.name}"


def _sample(entry: Path, about: Mapping[str, Any], sights: Mapping[str, Sight]) -> Sample:
    stem = entry.name.split(".")[0]
    name = f"{entry.parent.name}-{stem}"
    files = tuple(sorted(entry.iterdir())) if entry.is_dir() else (entry,)
    return Sample(
        name=name,
        title=str(about.get("title", stem.replace("_", " ").replace("-", " "))),
        description=str(about.get("description", "")),
        files=tuple(file for file in files if file.is_file() and file.suffix.lower() != ".md"),
        beside=str(about.get("beside", "")),
        sight=sights.get(name),
    )


def _read_catalogue(path: Path) -> dict[str, Mapping[str, Any]]:
    """The catalogue's entry of each sample, by format and file, in its order."""
    return tomllib.loads(path.read_text("utf-8")) if path.is_file() else {}


def _read_sights(path: Path) -> dict[str, Sight]:
    found = json.loads(path.read_bytes()) if path.is_file() else {}
    return {name: Sight(**one) for name, one in found.items()}
