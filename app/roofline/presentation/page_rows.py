"""The page data of one view, by column: its ops, and the points of its program."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

Page = Mapping[str, Any]
Column = Sequence[Any]

JOINED = "joined"
"""The x axis on which every memory level of an op is a point."""

RATE = "flop_rate_gflops"
SHARE = "self_share_ratio"
TIME = "width_us"
EFFICIENCY = "roofline_efficiency_ratio"
NOT_SHOWN = "not_shown"


class Rows:
    """Ops in the order in which the view lists them; columns are as long as `len(self)`."""

    def __init__(self, page: Page, infeed: str = "in") -> None:
        self.page = page
        self._view = page["views"][infeed]
        self._shared = page["ops"]["columns"]
        self._ops: Sequence[int] = self._view["op"]

    @property
    def ops(self) -> Sequence[int]:
        """Of each row its place among the ops of the page."""
        return self._ops

    def __len__(self) -> int:
        return len(self._ops)

    def column(self, name: str) -> Column:
        """Values per op, `None` where one is missing; all of them for an unknown name."""
        own, shared = self._view["columns"].get(name), self._shared.get(name)
        if own is not None:
            return list(own)
        return [None] * len(self) if shared is None else [shared[op] for op in self._ops]

    def names(self, part: str) -> Column:
        """Of each op the `part` of its name: `short`, `chips`."""
        values = self.page["ops"]["names"][part]
        return [values[op] for op in self._ops]

    def numbers(self, name: str) -> list[float]:
        """As `column`, with 0 for what is missing: for comparisons that need a number."""
        return [value or 0.0 for value in self.column(name)]

    @property
    def main_axis(self) -> Mapping[str, str]:
        """The x axis of one memory: the main one, where its bytes are known."""
        axes: Sequence[Mapping[str, str]] = self.page["x_axes"]
        return next((one for one in axes if one["id"] != JOINED), axes[0])

    def column_of_axis(self, axis: str) -> str:
        """The column of an x axis by its id; of an unknown one that of the first."""
        axes = self.page["x_axes"]
        column: str = next((one for one in axes if one["id"] == axis), axes[0])["column"]
        return column

    @cached_property
    def program(self) -> list[dict[str, Any]]:
        """The program's points: totals, the average, phases, steps."""
        sent = self._view["program"]
        columns = sent["columns"].items()
        return [{name: column[row] for name, column in columns} for row in range(sent["count"])]

    @property
    def verdict(self) -> Mapping[str, Any]:
        """Headline and lead, as segments."""
        verdict: Mapping[str, Any] = self._view["verdict"]
        return verdict

    @property
    def beyond(self) -> Mapping[str, Any] | None:
        """Ops that the page does not list."""
        beyond: Mapping[str, Any] | None = self._view.get("beyond")
        return beyond

    @cached_property
    def categories(self) -> list[Mapping[str, Any]]:
        """The category of each op."""
        known = self.page["categories"]
        return [known[index] for index in self.column("category")]

    @cached_property
    def bounds(self) -> list[Mapping[str, Any]]:
        """The bound of each op."""
        known = self.page["bounds"]
        return [known[index] for index in self.column("bound_by")]

    @cached_property
    def shares(self) -> list[float]:
        """Share of the time of each op."""
        return self.numbers(SHARE)

    @cached_property
    def is_unheld(self) -> list[bool]:
        """Whether the op's FLOPs ran on a unit without a known peak."""
        if not self.page["units"]:
            return [False] * len(self)
        pairs = zip(self.column("compute_unit"), self.numbers(RATE), strict=True)
        return [unit is None and rate > 0 for unit, rate in pairs]
