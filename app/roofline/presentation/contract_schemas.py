"""The declared documents as JSON Schema: for /openapi.json, and for the types of the browser."""

from collections.abc import Mapping, Sequence
from inspect import cleandoc
from types import NoneType, UnionType
from typing import (
    Any,
    Literal,
    NotRequired,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from roofline.presentation.contract import DOCUMENTS
from roofline.presentation.facts_and_view import Document, is_in, is_of_ops_in, is_of_view_in

Schema = dict[str, Any]

PLACE = "#/components/schemas/"
_SIMPLE = {str: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null"}


def schemas() -> dict[str, Schema]:
    """Every declared document and the parts of documents, by name; no other keys are allowed."""
    named: dict[str, Schema] = {}
    for document in DOCUMENTS.values():
        _schema(document, named)
    named["Facts"] = _part("What was measured, whatever the peaks.", Document.FACTS, named)
    named["View"] = _part("What follows from the chosen peaks.", Document.VIEW, named)
    return named


def open_schemas(documents: Sequence[type]) -> dict[str, Schema]:
    """Documents that may have more keys than are declared, and their parts, by name."""
    named: dict[str, Schema] = {}
    for document in documents:
        _schema(document, named)
    return {name: {**schema, "additionalProperties": True} for name, schema in named.items()}


def _part(description: str, document: Document, named: Mapping[str, Schema]) -> Schema:
    """The keys of the page that `document` has, with parts of its ops and of its views."""
    whole = named["SentPage"]
    properties = {key: one for key, one in whole["properties"].items() if is_in(document, key)}
    views = named["SentView"]["properties"]
    of_view = {key: one for key, one in views.items() if is_of_view_in(document, key)}
    of_ops = named["Ops"]["properties"].items()
    states = {infeed: _closed(of_view, list(of_view)) for infeed in ("in", "out")}
    properties["ops"] = _closed({k: one for k, one in of_ops if is_of_ops_in(document, k)}, [])
    properties["views"] = _closed(states, [])
    required = [key for key in whole["required"] if key in properties]
    return {"description": description, **_closed(properties, required)}


def _schema(kind: Any, named: dict[str, Schema]) -> Schema:
    """The schema of one type; typed dictionaries are added to `named`."""
    if is_typeddict(kind):
        if kind.__name__ not in named:
            named[kind.__name__] = {}  # a part of itself would end here
            named[kind.__name__] |= _object(kind, named)
        return {"$ref": f"{PLACE}{kind.__name__}"}
    if kind in _SIMPLE:
        return {"type": _SIMPLE[kind]}
    origin, args = get_origin(kind), get_args(kind)
    if origin is NotRequired:
        return _schema(args[0], named)
    if origin is Literal:
        return {"enum": list(args)}
    if origin in (Union, UnionType):
        return {"anyOf": [_schema(one, named) for one in args]}
    if origin in (list, tuple):
        return {"type": "array", "items": _schema(args[0], named)}
    if origin in (dict, Mapping) and get_origin(args[0]) is Literal:
        keys = get_args(args[0])
        return _closed({key: _schema(args[1], named) for key in keys}, list(keys))
    if origin in (dict, Mapping):
        return {"type": "object", "additionalProperties": _schema(args[1], named)}
    return {}


def _object(kind: Any, named: dict[str, Schema]) -> Schema:
    hints = get_type_hints(kind, include_extras=True)
    required = [name for name, hint in hints.items() if get_origin(hint) is not NotRequired]
    properties = {name: _schema(hint, named) for name, hint in hints.items()}
    return {"description": cleandoc(kind.__doc__ or ""), **_closed(properties, required)}


def _closed(properties: Mapping[str, Schema], required: list[str]) -> Schema:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": required,
        "additionalProperties": False,
    }
