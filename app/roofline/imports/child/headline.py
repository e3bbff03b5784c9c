"""The line of a profile in lists, read from its page data so that list and page never disagree."""

from typing import Any

from roofline.presentation.ceiling_words import ceiling_token, ceiling_words
from roofline.presentation.sentences import plain_text
from roofline.storage.records import Found, Summary


def found_in(page: dict[str, Any]) -> Found:
    """The findings of an import: format, summary and hosts of the page data."""
    return Found(
        format=page["profile"]["format"],
        summary=_summary(page),
        hosts=_hosts(page["profile"]["files"]),
    )


def _summary(page: dict[str, Any]) -> Summary:
    device, view = page["device"], page["views"]["in"]
    subject, lines = dict(page["subject"]), view["verdict"]
    del subject["parts"]
    ceiling = subject["ceiling"]
    costs = page["ops"]["columns"]["cost"]
    return Summary(
        device=device["name"],
        device_kind=device["kind"],
        core_count=device["cores"],
        core_word=device["core_word"],
        host_count=device["hosts"],
        op_count=sum(cost != "idle" for cost in costs) + view["beyond"]["ops"],
        bound_by=ceiling_words(ceiling) if ceiling else None,
        bound_kind=_kind(page, ceiling) if ceiling else None,
        bound_token=ceiling_token(ceiling) if ceiling else None,
        efficiency_ratio=subject["roof_ratio"],
        subject=subject,
        headline=plain_text(lines["headline"]),
        lines={"headline": lines["headline"], "do_first": lines["do_first"]},
    )


def _kind(page: dict[str, Any], ceiling: str) -> str:
    """How a roofline draws a ceiling: memories and links as slanted lines."""
    return "slanted" if any(one["id"] == ceiling for one in page["levels"]) else "flat"


def _hosts(files: list[dict[str, Any]]) -> dict[str, str]:
    """Host names by file name, where both are known and the file's name is the only one."""
    names = [file["name"] for file in files]
    return {
        file["name"]: file["host"]
        for file in files
        if file["host"] and names.count(file["name"]) == 1
    }
