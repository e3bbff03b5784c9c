"""The input of `explore.html`. Texts are written out."""

from dataclasses import dataclass

from roofline.figures.figure import Figure
from roofline.presentation.charts.cost_figures import Look
from roofline.web.offline.calculator_views import FieldView, LinkView
from roofline.web.offline.model_views import ChoiceView
from roofline.web.offline.views import ErrorBody, Piece


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedOpView:
    """An operation with the chosen formats."""

    name: str
    category: str
    now: str
    then: str
    bound: str
    limited_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainView:
    """A chain of operations that could be one kernel."""

    what: str
    ops: str
    names: str
    now: str
    then: str
    saves: str
    moved: str
    moved_then: str
    limited_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OnPartView:
    """The subject on one part; `line` is the look of its roof in the chart, `None` without one.

    `texts` are the cells of `presentation.other_devices`.
    """

    name: str
    line: Look | None
    texts: tuple[str, ...]
    dollars: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ExploreView:
    """The page of a profile with other number formats and on other parts."""

    run: LinkView
    profile_id: str
    fields: tuple[FieldView, ...]
    others: tuple[ChoiceView, ...]
    prices: str
    error: ErrorBody | None = None
    headline: tuple[Piece, ...] = ()
    lead: tuple[Piece, ...] = ()
    ops: tuple[ChangedOpView, ...] = ()
    parts: tuple[OnPartView, ...] = ()
    best_heads: tuple[str, ...] = ()
    best: tuple[tuple[str, ...], ...] = ()
    chains: tuple[ChainView, ...] = ()
    fusion: Figure | None = None
    communication: str = ""
    has_prices: bool = False
    roofline: Figure | None = None
