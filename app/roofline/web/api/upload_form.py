"""OpenAPI's words on a form that uploads files."""

from collections.abc import Mapping
from typing import Any


def upload_form(
    files: str, fields: Mapping[str, Mapping[str, Any]] | None = None
) -> dict[str, Any]:
    """The `openapi_extra` of a route with `files`, in its words, in fields named `file`.

    `fields` are the schemas of further fields of the form, by name.
    """
    several = {
        "type": "array",
        "items": {"type": "string", "format": "binary"},
        "description": files,
    }
    properties = {"file": several, **(fields or {})}
    schema = {"type": "object", "required": ["file"], "properties": properties}
    content = {"multipart/form-data": {"schema": schema}}
    return {"requestBody": {"required": True, "content": content}}
