"""The OpenAPI document as this server behaves: every error in our shape, also those of FastAPI.

FastAPI documents 422 and its own shape for values it cannot take; this server answers 400, with a
message and what to do. Access is checked before any route, so every operation has 401 and 403. The
documents of a page have their declared schemas.
"""

from typing import Any

_ERROR = {"application/json": {"schema": {"$ref": "#/components/schemas/ErrorBody"}}}
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
}
"""What the routes answer whose documents are declared."""

_THEIRS = ("HTTPValidationError", "ValidationError")


def corrected(document: dict[str, Any]) -> dict[str, Any]:
    """`document` in place, with the errors that this server gives."""
    for path in document["paths"].values():
        for operation in path.values():
            _correct(operation["responses"])
    # Declarations load NumPy, which a server needs for nothing else, and few ask for this document.
    from roofline.presentation.contract_schemas import PLACE, schemas

    parts = document["components"]["schemas"]
    for name in _THEIRS:
        parts.pop(name, None)
    parts |= schemas()
    for path, name in _DOCUMENTS.items():
        answer = document["paths"][path]["get"]["responses"]["200"]
        answer["content"] = {"application/json": {"schema": {"$ref": f"{PLACE}{name}"}}}
    document["components"]["securitySchemes"] = {
        "token": {"type": "http", "scheme": "bearer", "description": "In mode `token`."}
    }
    document["security"] = [{}, {"token": []}]
    return document


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
