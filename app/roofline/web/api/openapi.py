"""The OpenAPI document as this server behaves: every error in our shape, also those of FastAPI.

FastAPI documents 422 and its own shape for values it cannot take; this server answers 400, with a
message and what to do. Access is checked before any route, so every operation has 401 and 403. The
documents of a page have their declared schemas.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from roofline.web.http.errors import PROBLEM

_ERROR = {PROBLEM: {"schema": {"$ref": "#/components/schemas/ErrorBody"}}}
_EVERYWHERE = {
    "400": "A value cannot be used.",
    "401": "The request is not signed in.",
    "403": "The user may not do this.",
    "503": "The store cannot be reached now.",
}
_DOCUMENTS = {
    "/api/v1/profiles/{profile_id}/page": "SentPage",
    "/api/v1/profiles/{profile_id}/facts": "Facts",
    "/api/v1/profiles/{profile_id}/view": "View",
    "/api/v1/profiles/{profile_id}/ops/{index}": "OpDetails",
    "/api/v1/profiles/{profile_id}/roofline": "Roofline",
    "/api/v1/compare": "RunComparison",
}
"""What the routes answer whose documents are declared."""
_OBJECT = {"type": "object", "additionalProperties": True}
_TEXTS = {"type": "object", "additionalProperties": {"type": "string"}}
_OTHERS = {"/api/v1/profiles/{profile_id}/xprof": {"type": "array", "items": _OBJECT}}

_PARAMETERS = {
    "capture_id": "A capture, by the `id` that it was answered with.",
    "category": "Operations of this category alone.",
    "device": "Profiles of this device alone, by the name that a list shows.",
    "fit": "The range of the axes: of 99 % of the time, or of all operations.",
    "form": "The format of the picture.",
    "gray": "Shapes and shades instead of colours.",
    "index": "The number of an operation in the profile's list, from 0.",
    "limit": "How many to answer with, at most.",
    "link_id": "A share link, as their list says.",
    "machine_id": "A measurement, by the `id` that a list says.",
    "name": "The name that the series, the sample or the runs have.",
    "note_id": "A note, as their list says.",
    "offset": "How many to leave out first; `total` counts all.",
    "op": "The operation of this name alone.",
    "prec": "The number format whose compute roofs are drawn.",
    "profile_id": "A profile, by the `id` that its upload was answered with.",
    "rev": "The `rev` of the profile's state: the answer never changes then.",
    "roofs": "The roofs that bind (`auto`), all, or none.",
    "run_id": "A run, by the `id` that it was answered with.",
    "size": "Points grow with time, or are all equal.",
    "style": "For a column of a paper, for a slide, or as on the page.",
    "tag": "Profiles with this tag alone.",
    "tensors": "The tensors that are stored in another number format.",
    "token": "The last part of a share link.",
    "token_id": "A token, as their list says.",
    "usual": "The usual parts beside the `device`s that are asked for.",
    "x": "The memory level whose bytes the intensity counts; `bottleneck`: each op's own.",
    "y": "The achieved rate, or its share of the op's nearest roof.",
}
"""Descriptions of the parameters that their routes do not describe."""

_RFC_9457 = {
    "title": {"type": "string", "description": "The phrase of the status."},
    "status": {"type": "integer", "description": "The status of the answer."},
    "detail": {"type": "string", "description": "What is wrong; `message` says the same."},
}
EXAMPLES = Path(__file__).with_name("examples.json")
"""Real answers, shortened, by the operation's id; `python -m tests.tools.examples` writes them."""

_THEIRS = ("HTTPValidationError", "ValidationError")


def corrected(document: dict[str, Any]) -> dict[str, Any]:
    """`document` in place, with the errors that this server gives."""
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            operation["operationId"] = _operation_id(operation["operationId"], path, method)
            for parameter in operation.get("parameters", ()):
                parameter.setdefault("description", _PARAMETERS.get(parameter["name"], ""))
            _correct(operation["responses"])
    # Declarations load NumPy, which a server needs for nothing else, and few ask for this document.
    from roofline.exports.documents import DOCUMENTS
    from roofline.presentation.contract_schemas import PLACE, open_schemas, schemas

    parts = document["components"]["schemas"]
    for name in _THEIRS:
        parts.pop(name, None)
    for name in ("ErrorBody", "UploadErrorBody"):
        parts[name]["properties"] = _RFC_9457 | parts[name]["properties"]
        parts[name]["required"] += list(_RFC_9457)
    parts |= open_schemas(DOCUMENTS) | schemas()
    parts["View"]["properties"] |= {"advice": _OBJECT, "pieces": _TEXTS}
    parts["View"]["required"] += ["advice", "pieces"]
    examples = orjson.loads(EXAMPLES.read_bytes())
    for path, operations in document["paths"].items():
        own = path.replace("/l/{token}", "/api/v1/profiles/{profile_id}")
        for operation in operations.values():
            for content in _contents(operation):
                if own in _DOCUMENTS and "$ref" not in content["schema"]:
                    content["schema"] = {"$ref": f"{PLACE}{_DOCUMENTS[own]}"}
                content["schema"] = content["schema"] or _OTHERS.get(own, _OBJECT)
                name = operation["operationId"].removeprefix("shared_")
                if name in examples:
                    content["example"] = examples[name]
    document["components"]["securitySchemes"] = {
        "token": {"type": "http", "scheme": "bearer", "description": "In mode `token`."}
    }
    document["security"] = [{}, {"token": []}]
    return document


def _contents(operation: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """What `operation` answers as JSON where it succeeds."""
    for status, answer in operation["responses"].items():
        content = answer.get("content", {}).get("application/json")
        if status.startswith("2") and content is not None:
            yield content


def _operation_id(given: str, path: str, method: str) -> str:
    """The route's own name, without the path and the method that FastAPI appends."""
    name = given.removesuffix(re.sub(r"\W", "_", f"{path}_{method}"))
    return f"shared_{name}" if path.startswith("/l/") else name


def _correct(responses: dict[str, Any]) -> None:
    if _THEIRS[0] in str(responses.get("422", "")):
        del responses["422"]
    for status, description in _EVERYWHERE.items():
        responses.setdefault(status, {"description": description, "content": _ERROR})
    for response in responses.values():
        # FastAPI gives errors the media type of the route, but ours are always JSON.
        if "ErrorBody" in str(response.get("content")):
            response["content"] = _ERROR
    for status in sorted(responses):
        responses[status] = responses.pop(status)
