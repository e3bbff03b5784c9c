"""The groups that ops belong to, for the tree that the browser sums up and sorts itself."""

from typing import Any

from roofline.analysis.records import I64, RooflineAnalysis
from roofline.model.categories import is_container
from roofline.presentation.grouping import Key, op_keys

# The browser knows the other ones from columns of their own; what binds an op depends on the peaks.
_SENT = ("path", "source", "kernel", "dtype", "phase")


def page_groups(analysis: RooflineAnalysis, listed: I64) -> dict[str, Any]:
    """`names`, and one entry per dimension: for each listed op places in `names`, outermost first.

    `containers` are the ops whose work is that of others in the list.
    """
    rows = listed.tolist()
    places: dict[str, int] = {}

    def place(key: Key) -> list[int]:
        return [places.setdefault(name, len(places)) for name in key]

    keys = {by: op_keys(analysis, by) for by in _SENT}
    found = {by: [place(all_keys[op]) for op in rows] for by, all_keys in keys.items()}
    return {
        "names": list(places),
        "containers": [k for k, op in enumerate(rows) if is_container(analysis.ops.category[op])],
        **found,
    }
