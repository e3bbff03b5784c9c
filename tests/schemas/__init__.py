"""Published schemas for what we write; README.md has sources and licences."""

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import zstandard

FOLDER = Path(__file__).parent
# Of SARIF, for a language such as "en-GB": the second half is not a regular expression.
_BROKEN = "|^[a-zA-Z]{2}-[a-zA-Z]{2}]?$"


def schema_errors(name: str, document: object) -> list[str]:
    """What `document` breaks of the schema `name`, by place; empty where it is valid."""
    text = zstandard.decompress((FOLDER / f"{name}.json.zst").read_bytes()).decode()
    schema: dict[str, Any] = json.loads(text.replace(_BROKEN, ""))
    found = jsonschema_rs.validator_for(schema).iter_errors(document)
    return [f"{'/'.join(map(str, one.instance_path))}: {one.message[:200]}" for one in found]
