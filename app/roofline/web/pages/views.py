"""The input of each template: one typed view object per page, named `view`. Data only.

| template       | view          |
|----------------|---------------|
| `home.html`    | `HomeView`    |
| `profile.html` | `ProfileView` |
| `compare.html` | `CompareView` |
| `series.html`  | `SeriesView`  |
| `calculator.html` | `CalculatorView` of `calculator_views` |
| `model.html`   | `ModelView` of `model_views` |
| `_op_cost.html` | `OpCostView` of `op_cost` |
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

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

import orjson

from roofline.exports.run_page import Preview
from roofline.presentation.first_view import summary
from roofline.presentation.first_view.view import FirstView
from roofline.storage.records import Manifest
from roofline.storage.run_records import Run
from roofline.web.api.notes import NoteBody
from roofline.web.api.tokens import TokenBody
from roofline.web.api.trash import TrashedBody, TrashedRunBody
from roofline.web.bodies import ComputedBody, ProgressBody, SampleBody
from roofline.web.http.errors import ErrorBody


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
    tags: tuple["TagView", ...]
    uploader: str  # empty when unknown
    headline: tuple[summary.Piece, ...]
    saving: summary.Piece | None
    do_first: str
    share: summary.Piece | None
    idle: summary.Piece | None
    is_part_known: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TagView:
    """A tag, and the path of the list of profiles that have it."""

    name: str
    url: str


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


class Shown:
    """Results on a page, read when a template asks for them. Those of the same `name` are the same;
    without one they are not to be kept."""

    def __init__(
        self,
        name: str,
        first: Callable[[], FirstView | None],
        advice: Callable[[], Mapping[str, Any] | None],
    ) -> None:
        self.name = name
        self._first, self._advice = first, advice

    def __repr__(self) -> str:
        return self.name

    @cached_property
    def first(self) -> FirstView | None:
        """See `ProfileView.first`."""
        return self._first()

    @cached_property
    def advice(self) -> Mapping[str, Any] | None:
        """See `ProfileView.advice`."""
        return self._advice()


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileView:
    """The page of one profile, in the three states `importing`, `ready` and `failed`.

    Addresses are paths on this server. The page's script reads `facts_url`, `view_url`,
    `parts_url`, and `cards_url` with the advice; to all but the first it appends
    peaks. `description` is one line for link previews. `progress` is set while importing, `failure`
    when failed, and `can_retry` where the files are kept and are not what was wrong.

    `part` says of what the numbers are, in sentences, where that is not the whole capture;
    `whole_url` is the page of the whole, and `whole_label` what its link says.

    `max_upload_bytes` and `max_files` limit a second run that is dropped on the page.
    `shown` is there when ready.
    """

    id: str
    title: str
    state: str
    description: str
    status_url: str
    facts_url: str
    view_url: str
    parts_url: str
    cards_url: str
    roofline_url: str
    csv_url: str
    xprof_csv_url: str
    figures_url: str
    report_url: str  # of the page as one file; empty where there is none
    ops_url: str  # append "/{index}", and then `ops_query`
    ops_query: str
    part: str
    whole_url: str
    whole_label: str
    source_url: str
    delete_url: str
    progress: ProgressBody | None
    failure: ErrorBody | None
    can_retry: bool
    file_names: tuple[str, ...]
    size_bytes: int
    about: "AboutView | None"
    shown: "Shown | None"
    may_change: bool
    max_upload_bytes: int
    max_files: int
    trash_days: float = 0.0  # for which a deleted profile can be restored
    devices_url: str = "/api/v1/devices"
    is_own: bool = False  # the one who looks has uploaded it
    is_shared: bool = False  # opened by a share link
    is_file: bool = False  # the page is one file, without a server
    has_devices: bool = False  # such a file can show other devices
    made_from: str = ""  # the address on a server that such a file was made of
    is_by_other_peaks: bool = False  # drawn by the peaks in its address, not the profile's own
    is_without_infeed: bool = False  # its script asks for the view without infeed and outfeed
    notes: tuple[NoteBody, ...] = ()  # on single points

    @property
    def advice(self) -> Mapping[str, Any] | None:
        """Advice with the keys of `exports.advice`; `None` while there is none."""
        return None if self.shown is None else self.shown.advice

    @property
    def first(self) -> FirstView | None:
        """The part that the page shows before its script has run.

        `None` until the profile is ready, and where its data are damaged.
        """
        return None if self.shown is None else self.shown.first

    @property
    def preload_url(self) -> str:
        """The view that its script asks for first; empty under other peaks, which it reads."""
        if self.is_by_other_peaks:
            return ""
        ends = f"{'&' if '?' in self.view_url else '?'}infeed=out"
        return f"{self.view_url}{ends}" if self.is_without_infeed else self.view_url

    @property
    def frame(self) -> str:
        """All that the page shows, by name, once it is ready: see `Templates.page`."""
        return "" if self.shown is None or not self.shown.name else repr(self)

    @property
    def notes_json(self) -> str:
        """The notes for the page's script."""
        return orjson.dumps([asdict(one) for one in self.notes]).decode()


@dataclass(frozen=True, slots=True, kw_only=True)
class AboutView:
    """People's words about a ready profile. Times are ISO 8601 in UTC; `None` is never."""

    note: str
    tags: tuple[TagView, ...]
    uploader: str
    created_at: str
    expires_at: str | None
    pinned: bool
    visibility: str
    computed_by: ComputedBody | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunView:
    """A run of a comparison; `state` is importing, ready or failed, `message` why it failed."""

    id: str
    title: str
    state: str
    url: str
    status_url: str
    message: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SideView:
    """One side of a comparison: its letter, and its captures."""

    letter: str
    runs: tuple[RunView, ...]

    @property
    def title(self) -> str:
        """The title of the first capture, and how many more there are."""
        more = len(self.runs) - 1
        return self.runs[0].title + (f" and {more} more" if more else "")


Piece = tuple[str, str]
"""Kind of a piece of a sentence (plain, strong, caution, lead), and its text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareView:
    """The page of a comparison, in the states `ready`, `importing` and `failed`.

    The rest is empty until all runs are ready. `data_url` has the rows of the operations, which are
    read when their fold opens; `lead_class` is the colour of the headline: good, bad or none;
    `frame` is what `comparison_frame` says.
    """

    state: str
    sides: tuple[SideView, SideView]
    swap_url: str
    add_url: str  # of the list of runs to compare with A, too
    data_url: str = ""
    headline: tuple[Piece, ...] = ()
    largest: tuple[Piece, ...] = ()
    lead: tuple[Piece, ...] = ()
    split: tuple[Piece, ...] = ()
    lead_class: str = ""
    frame: Mapping[str, Any] = field(default_factory=dict)
    folds: frozenset[str] = frozenset()  # those that the address opens
    units: tuple[tuple[str, str, bool], ...] = ()  # name, address, and whether it is shown
    measured: tuple[str, ...] = ()  # accepted findings of A: predicted against measured
    keep_url: str = ""  # where these can be kept; empty for people who may not
    is_file: bool = False  # the page is one file, without a server

    @property
    def sides_json(self) -> str:
        """Ids, titles and addresses of the runs, for the browser."""
        return orjson.dumps([[asdict(run) for run in side.runs] for side in self.sides]).decode()


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
