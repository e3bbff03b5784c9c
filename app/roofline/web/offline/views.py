"""The views of pages that can be files, too: a typed object for each template, as in `pages.views`.

Bodies of the API that they show are here, too, and sentences as templates write them. Text comes
from strangers: autoescape is on, and no view holds markup. Numbers are raw.
"""

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import groupby
from typing import Any, NamedTuple

import orjson

from roofline.errors import RooflineError
from roofline.presentation.first_view.view import FirstView
from roofline.presentation.quantities import quantity
from roofline.presentation.sentences import Segment
from roofline.storage.records import StoredFile, WaitsFor

_COLOURS = {"slower": "bad", "faster": "good"}
"""Only a tested difference has a colour."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorBody:
    """The fault, and its remedy. `details` say the same as data, where there is more.

    Of an upload whose files are not one profile (`mixed-upload`) they are `groups` of files that
    belong together (`label`, `files`) and files that are `unreadable` (`name`, `code`, `message`,
    `remedy`).
    """

    message: str
    remedy: str
    code: str
    details: dict[str, Any] | None = None


def error_body(error: RooflineError) -> ErrorBody:
    """One of our errors, for programs and templates."""
    return ErrorBody(
        message=error.message,
        remedy=error.remedy,
        code=error.code,
        details=error.details or None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgressBody:
    """`phase` is queued, unpack, recognise, read, analyse or store; fractions go from 0 to 1.

    A queued import may wait for more than its turn: `waits_for` is `disk` where it needs
    `needs_bytes` of the server's disk beyond what is kept free, `store` where the server's database
    or object store was away, `machine` where it was ended by a fault of the server and runs again.
    """

    phase: str
    fraction: float
    overall: float
    elapsed_s: float
    waits_for: WaitsFor | None = None
    needs_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ComputedBody:
    """The release of Roofline that computed the numbers of a profile, where it is known, and what
    changed in them since the release that computed them before."""

    release: str | None
    changes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteBody:
    """A note as it is kept. `by` is the name of its author, `at` ISO 8601 in UTC."""

    id: str
    kind: str
    name: str
    program: str
    text: str
    by: str
    at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TagView:
    """A tag, and the path of the list of profiles that have it."""

    name: str
    url: str


class Shown(NamedTuple):
    """Results on a page, for templates to ask for as often as they need them. `pieces` is HTML by
    name; templates write a piece that is not there yet."""

    first: Callable[[], FirstView | None]
    advice: Callable[[], Mapping[str, Any] | None]
    pieces: dict[str, str]


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
        return None if self.shown is None else self.shown.advice()

    @property
    def first(self) -> FirstView | None:
        """The part that the page shows before its script has run.

        `None` until the profile is ready, and where its data are damaged.
        """
        return None if self.shown is None else self.shown.first()

    @property
    def has_first(self) -> bool:
        """True where `first` is there, which it does not read where its pieces are stored."""
        return self.shown is not None and (bool(self.shown.pieces) or self.first is not None)

    @property
    def preload_url(self) -> str:
        """The view that its script asks for first; empty under other peaks, which it reads."""
        if self.is_by_other_peaks:
            return ""
        ends = f"{'&' if '?' in self.view_url else '?'}infeed=out"
        return f"{self.view_url}{ends}" if self.is_without_infeed else self.view_url

    @property
    def replay_of(self) -> str:
        """The words of what a file was made of, for a command; empty on a server's page, whose
        address they are."""
        made_from = [self.made_from] if self.made_from else self.file_names
        return shlex.join(made_from) if self.is_file else ""

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


NOTHING = AboutView(
    note="", tags=(), uploader="", created_at="", expires_at=None, pinned=False, visibility=""
)
"""What people said of a profile before they said anything."""


def profile_view(
    profile_id: str,
    title: str,
    files: Sequence[StoredFile],
    state: str,
    base: str,
) -> ProfileView:
    """The page of a profile whose addresses begin with `base`, before it is known what it shows."""
    whole = base.replace("/api/v1/profiles/", "/p/")
    return ProfileView(
        id=profile_id,
        title=title,
        state=state,
        description="",
        status_url=base,
        facts_url=f"{base}/facts",
        view_url=f"{base}/view",
        parts_url=f"{base}/parts",
        cards_url=f"{whole}/advice-card",
        roofline_url=f"{base}/roofline",
        csv_url=f"{base}/roofline.csv",
        xprof_csv_url=f"{base}/xprof.csv",
        ops_url=f"{base}/ops",
        figures_url=f"{base}/figures",
        report_url=f"{base}/report.html",
        ops_query="",
        part="",
        whole_label="",
        whole_url=whole,
        source_url=f"{base}/source",
        delete_url=base,
        progress=None,
        failure=None,
        can_retry=False,
        file_names=tuple(file.name for file in files),
        size_bytes=sum(file.size_bytes for file in files),
        about=None,
        shown=None,
        may_change=False,
        max_upload_bytes=0,
        max_files=0,
    )


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


def pieces(sentence: Sequence[Segment]) -> tuple[Piece, ...]:
    """Segments with their numbers written out, neighbours of one kind as one piece."""
    kinds = groupby(sentence, key=lambda one: one["kind"])
    return tuple((kind, "".join(map(_text, found))) for kind, found in kinds)


def with_lead(said: Sequence[Piece]) -> tuple[Piece, ...]:
    """A headline, its words up to the colon apart: they carry its colour."""
    lead, colon, rest = "".join(text for _, text in said).partition(":")
    return (("lead", lead), ("plain", colon + rest))


def with_frame(view: CompareView, frame: Mapping[str, Any], data_url: str) -> CompareView:
    """The view with the words of a comparison whose rows are at `data_url`."""
    return replace(
        view,
        data_url=data_url,
        headline=with_lead(pieces(frame["headline"])),
        largest=pieces(frame["largest"]),
        lead=pieces(frame["lead"]),
        split=pieces(frame["split"]),
        lead_class=_COLOURS.get(frame["state"], ""),
        frame=frame,
    )


def _text(one: Segment) -> str:
    return quantity(one["value"], one["unit"]) if "value" in one else one["text"]
