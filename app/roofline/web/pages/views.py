"""The input of each template: one typed view object per page, named `view`. Data only.

| template       | view          |
|----------------|---------------|
| `home.html`    | `HomeView`    |
| `profile.html` | `ProfileView` of `offline.views` |
| `compare.html` | `CompareView` of `offline.views` |
| `series.html`  | `SeriesView`  |
| `calculator.html` | `CalculatorView` of `offline.calculator_views` |
| `model.html`   | `ModelView` of `offline.calculator_views` |
| `_op_cost.html` | `OpCostView` of `costs` |
| `explore.html` | `ExploreView` |
| `limits.html`  | `LimitList`   |
| `error.html`   | `ErrorView`   |
| `api.html`     | `ApiView`     |
| `login.html`   | `LoginView`   |
| `login_oidc.html` | `OidcLoginView` |
| `tokens.html`  | `TokensView`  |
| `trash.html`   | `TrashView`   |

Every template also sees `who` (`WhoView`), `static_url("js/app/main.js")` (the address under this
build's immutable prefix, so that modules import each other relatively) and `version`.
Text comes from strangers: autoescape is on, and no view holds markup. Numbers are raw; the browser
formats them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from roofline.exports.run_page import Preview
from roofline.figures.figure import Figure
from roofline.presentation.charts.cost_figures import Look
from roofline.presentation.first_view import summary
from roofline.storage.records import Manifest
from roofline.storage.run_records import Run
from roofline.web.api.tokens import TokenBody
from roofline.web.api.trash import TrashedBody, TrashedRunBody
from roofline.web.bodies import SampleBody
from roofline.web.offline.calculator_views import ChoiceView, FieldView, LinkView
from roofline.web.offline.views import ErrorBody, Piece, TagView


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginView:
    """The log-in form; `next` is the path to go to afterwards."""

    next: str
    name: str = ""
    is_refused: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class OidcLoginView:
    """The log-in by a sign-in provider; `leave_url` is where a session with it ends."""

    next: str
    provider: str
    problem: ErrorBody | None = None
    leave_url: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TokensView:
    """The tokens of one person, or of all for an administrator."""

    tokens: tuple[TokenBody, ...]
    can_make: bool
    is_admin: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TrashView:
    """The trash that this person may restore; it stays in the trash for `kept_days`."""

    profiles: tuple[TrashedBody, ...]
    runs: tuple[TrashedRunBody, ...]
    kept_days: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedProfile:
    """One row of the home list: what is stored, the path of its page, and how to call people.

    `share` of the roof (`is_part_known`: of the known part of its work) and `idle` are `None` where
    they are not known. `saving` is that of the first finding, `do_first` its title or a sentence.
    """

    manifest: Manifest
    url: str
    tags: tuple[TagView, ...]
    uploader: str  # empty when unknown
    headline: tuple[summary.Piece, ...]
    saving: summary.Piece | None
    do_first: str
    share: summary.Piece | None
    idle: summary.Piece | None
    is_part_known: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderView:
    """A tag as a folder of the home page: how many profiles have it."""

    tag: TagView
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ListHead:
    """A header of the list; `url` sorts by it and is empty where nothing does,
    `direction` is empty where it is not sorted so."""

    key: str
    label: str
    url: str
    direction: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ListView:
    """One page of the list on the home page, and the paths of the pages beside it.

    `query` and `tag` are what the list is narrowed to; `first` counts from 1.
    """

    profiles: tuple[ListedProfile, ...]
    total: int
    first: int
    query: str
    tag: str
    folders: tuple[FolderView, ...]  # to narrow by, the fullest first
    everywhere: int  # profiles of all folders together
    earlier_url: str | None
    later_url: str | None
    heads: tuple[ListHead, ...]
    sort: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedRun:
    """A run of many hosts as one row of the list; `preview` is `None` before hosts were read."""

    run: Run
    url: str
    preview: Preview | None
    uploader: str  # empty when unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class RunListView:
    """One page of the runs on the home page, which stand above the newest profiles."""

    runs: tuple[ListedRun, ...] = ()
    total: int = 0
    first: int = 1
    earlier_url: str | None = None
    later_url: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundRunView:
    """A run that the watch found: what `POST /api/v1/runs` takes, with its facts in words."""

    address: str
    name: str
    hosts: str
    size: str
    newest_at: str
    is_complete: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundRunsView:
    """The newest runs that were found and not imported, and how many `more` there are."""

    shown: tuple[FoundRunView, ...] = ()
    more: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedUploadView:
    """An upload of this person that failed; `retry_url` is empty where another try cannot help."""

    title: str
    url: str
    message: str
    retry_url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HomeView:
    """The home page. `upload_url` takes the multipart POST; `origin` is this server's address.

    `wants_token` is true where tools must send the shared token. `joined` is the id and the title
    of the profile to which files are added, if any.
    """

    joined: tuple[str, str] | None
    list: ListView
    runs: RunListView
    found: FoundRunsView
    failed: tuple[FailedUploadView, ...]
    samples: tuple[SampleBody, ...]
    samples_shown: int
    upload_url: str
    origin: str
    max_upload_bytes: int
    max_files: int
    kept_days: float | None  # age at which profiles are deleted; None: kept for ever
    wants_token: bool
    has_trash: bool
    captures: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PartnerView:
    """A profile to compare with, in a list: where choosing it leads, and why it is likely."""

    title: str
    device: str
    created_at: str
    reason: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChooseView:
    """The page on which a run is chosen to compare with; `to` is a comparison that it joins, `rest`
    the other keys of the address.
    """

    profile_id: str
    title: str
    query: str
    to: str
    rest: tuple[tuple[str, str], ...]
    series_url: str
    partners: tuple[PartnerView, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesRow:
    """A run of a series; numbers are written out, `before_url` compares with the run before;
    `done` has findings with what they promised and saved."""

    title: str
    created_at: str
    device: str
    gate: str
    gate_tone: str
    url: str
    before_url: str
    time: str
    floor: str
    of_the_roof: str
    known: str
    roof: str
    done: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesMark:
    """A run's mark at the gate, and what its card says; `compare_url` is empty for the first."""

    id: str
    url: str
    compare_url: str
    sign: str
    gate: str
    gate_tone: str
    said: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesChangeView:
    """A lasting change of time in words, and the comparison of the runs on both sides."""

    words: str
    compare_url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesView:
    """Runs of one title or tag, the newest first; `runs` are their marks at the
    gate, the oldest first; `figure` is what the chart draws, as JSON.

    The gate's rules for one run are at `check_url` with `run`.
    """

    name: str
    by: str
    headline: str
    per: str
    rows: tuple[SeriesRow, ...]
    runs: tuple[SeriesMark, ...]
    changes: tuple[SeriesChangeView, ...]
    figure: str
    check_url: str
    total: int
    unread: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiView:
    """The API reference: the OpenAPI document, and this server's address for examples."""

    openapi: Mapping[str, Any]
    origin: str


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
