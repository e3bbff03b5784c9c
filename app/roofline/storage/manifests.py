"""Profiles of the releases before the database: one JSON file each, `profiles/<id>.json`.

At the first start they become rows, all in one transaction, and their folder is renamed; raw files
and results stay where they are, so every link keeps working.
"""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import orjson
from sqlalchemy import Connection

from roofline.model.plain_data import taken
from roofline.storage import statements
from roofline.storage.database import Database, insert_new
from roofline.storage.durable import sync_directory
from roofline.storage.records import READY, Manifest, ProfileId, StoredFile, Summary
from roofline.storage.search_text import write_search_text
from roofline.storage.tables import profile

FOLDER = "profiles"
DONE_FOLDER = "profiles.imported"
_SCHEMA = 1


def import_manifests(root: Path, database: Database) -> tuple[Path, ...]:
    """Takes over what lies in `root`; the manifests that cannot be read, which stay there."""
    folder = root / FOLDER
    read = {path: _read_manifest(path) for path in sorted(folder.glob("*.json"))}
    found = [manifest for manifest in read.values() if manifest is not None]
    if found:
        with database.write() as connection:
            for manifest in sorted(found, key=lambda one: one.created_at):
                _insert(connection, manifest)
    _put_aside(root, [path for path, manifest in read.items() if manifest is not None])
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()
    return tuple(path for path, manifest in read.items() if manifest is None)


def _insert(connection: Connection, manifest: Manifest) -> None:
    """Adds a manifest as a ready profile, unless a start that was cut off did so before."""
    summary = manifest.summary
    row = {
        "state": READY,
        **taken(manifest, "id", "title", "created_at", "sample", "format"),
        **taken(summary, "device", "bound_by", "efficiency_ratio"),
        "summary": orjson.dumps(asdict(summary)).decode(),
    }
    if connection.execute(insert_new(connection, profile).values(row)).rowcount == 1:
        statements.add_files(connection, manifest.id, manifest.files)
        write_search_text(connection, manifest.id)


def _put_aside(root: Path, paths: list[Path]) -> None:
    if not paths:
        return
    done = root / DONE_FOLDER
    done.mkdir(mode=0o700, exist_ok=True)
    for path in paths:
        path.rename(done / path.name)
    sync_directory(done)
    sync_directory(root / FOLDER)


def _read_manifest(path: Path) -> Manifest | None:
    try:
        return _from_json(orjson.loads(path.read_bytes()))
    except (OSError, orjson.JSONDecodeError, KeyError, TypeError):
        return None


def _from_json(data: Mapping[str, Any]) -> Manifest:
    """The manifest of `data`; `KeyError` or `TypeError` if it is of another schema or damaged."""
    if data["schema"] != _SCHEMA:
        raise TypeError(f"schema {data['schema']} is not {_SCHEMA}")
    return Manifest(
        id=ProfileId(data["id"]),
        title=data["title"],
        created_at=data["created_at"],
        format=data["format"],
        files=tuple(StoredFile(**file) for file in data["files"]),
        summary=Summary(**data["summary"]),
        sample=data["sample"],
    )
