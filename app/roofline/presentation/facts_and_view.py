"""Which part of the page data was measured, and which follows from the peaks: declared here.

`facts` are the same under every device; `view` is what peaks change, another document for each
choice of peaks. A key that is not named here belongs to the view; a column says so itself. A test
compares the facts of every profile at hand under every part of the catalogue.
"""

from collections.abc import Sequence
from enum import StrEnum
from functools import cache
from typing import Any

Json = dict[str, Any]


class Document(StrEnum):
    """A document about a profile. `PAGE` is both others in one, with what only it has."""

    FACTS = "facts"
    VIEW = "view"
    PAGE = "page"

    def has(self, is_fact: bool) -> bool:
        """True if it has what is the same under every device (`is_fact`), or what is not."""
        return self is Document.PAGE or is_fact is (self is Document.FACTS)


_FACTS = frozenset({"profile", "words", "categories", "hosts", "timeline"})
_IN_BOTH = frozenset({"schema", "ops", "views"})
_FACTS_OF_OPS = frozenset({"count", "groups", "names"})
_PAGE_OF_OPS = frozenset({"predictions", "awaited"})
"""For programs that compute other views themselves, as the page did."""

_FACTS_OF_VIEWS = frozenset({"op", "total_time_per_core_us", "known_time_ratio", "beyond"})


@cache
def _fact_columns() -> frozenset[str]:
    from roofline.presentation.op_columns import OP_COLUMNS  # loads slowly

    return frozenset(column.id for column in OP_COLUMNS if column.is_fact)


def is_in(document: Document, key: str) -> bool:
    """True for a key of the page data that `document` has."""
    return key in _IN_BOTH or document.has(key in _FACTS)


def is_of_ops_in(document: Document, key: str) -> bool:
    """The same for a key of `ops`."""
    if key in _PAGE_OF_OPS:
        return document is Document.PAGE
    return key == "columns" or document.has(key in _FACTS_OF_OPS)


def is_of_view_in(document: Document, key: str) -> bool:
    """The same for a key of one state of infeed and outfeed."""
    return key == "columns" or document.has(key in _FACTS_OF_VIEWS)


def _columns_of(document: Document, columns: Json) -> Json:
    facts = _fact_columns()
    return {id: cells for id, cells in columns.items() if document.has(id in facts)}


def part_of_page(page: Json, document: Document, infeeds: Sequence[str] = ("in", "out")) -> Json:
    """The keys of `document` in page data, for these states of infeed and outfeed."""
    found = {key: value for key, value in page.items() if is_in(document, key)}
    ops = {key: value for key, value in page["ops"].items() if is_of_ops_in(document, key)}
    ops["columns"] = _columns_of(document, ops["columns"])
    return {
        **found,
        "ops": ops,
        "views": {infeed: _of_view(page["views"][infeed], document) for infeed in infeeds},
    }


def _of_view(view: Json, document: Document) -> Json:
    found = {key: value for key, value in view.items() if is_of_view_in(document, key)}
    return {**found, "columns": _columns_of(document, found["columns"])}


def joined(facts: Json, view: Json, infeed: str) -> Json:
    """The page data of both documents, with one state of infeed and outfeed; as the browser does.

    Keys and columns are those of the facts, then those of the view.
    """
    of_facts, of_view = facts["views"][infeed], view["views"][infeed]
    columns = {**of_facts["columns"], **of_view["columns"]}
    ops = {**facts["ops"]["columns"], **view["ops"]["columns"]}
    return {
        **facts,
        **view,
        "ops": {**facts["ops"], **view["ops"], "columns": ops},
        "views": {infeed: {**of_facts, **of_view, "columns": columns}},
    }
