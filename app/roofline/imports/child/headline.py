"""The line of a profile in lists, read from its page data so that list and page never disagree."""

from typing import Any

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
    total = {name: column[0] for name, column in view["program"]["columns"].items()}
    at = total.get("bound_by")
    bound = page["bounds"][at] if at is not None else {}
    costs = page["ops"]["columns"]["cost"]
    return Summary(
        device=device["name"],
        device_kind=device["kind"],
        core_count=device["cores"],
        core_word=device["core_word"],
        host_count=device["hosts"],
        op_count=sum(cost != "idle" for cost in costs) + view["beyond"]["ops"],
        bound_by=bound.get("label"),
        bound_kind=bound.get("kind"),
        bound_token=bound.get("token"),
        efficiency_ratio=total.get("roofline_efficiency_ratio"),
    )


def _hosts(files: list[dict[str, Any]]) -> dict[str, str]:
    """Host names by file name, where both are known and the file's name is the only one."""
    names = [file["name"] for file in files]
    return {
        file["name"]: file["host"]
        for file in files
        if file["host"] and names.count(file["name"]) == 1
    }
