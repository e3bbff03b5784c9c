"""`open_profile` and `advise`: one profile, its answer, and what would help."""

import hashlib
import math
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from enum import Enum
from functools import cached_property
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar, overload
from urllib.parse import parse_qs, urlsplit

import orjson

from roofline.analysis.records import RooflineAnalysis
from roofline.analysis.verdict_records import KnownShares
from roofline.api.results import (
    ANSWERS,
    Cell,
    Record,
    Result,
    WithPage,
    frame_of,
    plotly_figure,
    roofline_figure,
)
from roofline.api.servers import download, is_link
from roofline.devices.choice import read_choice, with_unit
from roofline.errors import BadViewError, ExtraMissingError
from roofline.exports.advice import render_record
from roofline.exports.answering import Answered, answered
from roofline.exports.records import analysis_to_json, op_ids, op_records
from roofline.exports.render import render
from roofline.importers.source import Progress, silent
from roofline.model.units import PS_PER_US
from roofline.pipeline import analyse_files
from roofline.presentation.page import PageIdentity, page_data
from roofline.presentation.palette import LIGHT
from roofline.presentation.sentences import Segment, plain_text
from roofline.presentation.verdict import lines_of
from roofline.presentation.verdict_data import subject_record, verdict_record

if TYPE_CHECKING:
    from roofline.api.results import DataFrame, Figure
    from roofline.api.widget import Widget
    from roofline.presentation.figure_files import Style

AnyPath = str | PathLike[str]
T = TypeVar("T", "Subject", "Verdict", "Op")

# What agents read is made of profiles, which do not know it.
_READING = "roofline.api.agents.reading"
_FINDINGS_SHOWN = 3
_COLUMNS_SHOWN = (
    "name", "width_us", "self_share_ratio", "gain_us", "bound_by", "roofline_efficiency_ratio",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What all numbers are of, in us per unit and core; docs/subject.md.

    `floor_us` is the time that would be left with all work at its nearest ceiling, `gain_us` the
    rest; `roof_ratio`, `known_ratio` and `idle_ratio` are shares from 0 to 1.
    """

    of: str
    kind: str
    label: str
    unit_word: str
    count: int
    cores: int
    host: str | None
    time_us: float
    floor_us: float | None
    gain_us: float | None
    roof_ratio: float | None
    known_ratio: float | None
    idle_ratio: float | None
    outside_us: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What binds the subject; docs/verdict.md. `known` are the shares of which work is known.

    `kind` is the class: bound, mixed, latency, waits, idle, doubt, unknown … `ratio` is the share
    of the ceiling (0 to 1) and a least value where `is_least`.
    """

    kind: str
    ceiling: str | None
    ratio: float | None
    useful_ratio: float | None
    also: Sequence[str]
    why: str | None
    idle_ratio: float | None
    is_least: bool
    coverage: float | None
    known: KnownShares


@dataclass(frozen=True, slots=True, kw_only=True)
class Op:
    """An operation with the columns that are most asked for; `Profile.frame()` has all of them.

    `op_id` is equal in every run that has the operation.
    `width_us`, `needed_us` and `gain_us` are of the subject, per unit and core; `self_time_us` is
    of the capture, over all cores. Rates are per core; ratios are from 0 to 1.
    """

    op_id: str
    rank: int
    name: str
    category: str
    cost: str
    part: str | None
    bound_by: str | None
    occurrences: int | None
    width_us: float | None
    needed_us: float | None
    gain_us: float | None
    self_time_us: float | None
    self_share_ratio: float | None
    flop_rate_gflops: float | None
    memory_bandwidth_gibs: float | None
    operational_intensity: float | None
    attainable_gflops: float | None
    roofline_efficiency_ratio: float | None
    path: str
    source_file: str
    source_line: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureInfo:
    """How `roofline.capture` recorded: `verdict` is that of `Capture`, of the best of `tries`.

    `steps` is `None` where the window is a stretch of time; `slowdown` is how many times longer its
    steps took than those before, `None` where that is not known.
    """

    verdict: str
    steps: int | None
    slowdown: float | None
    tries: int


class Ops(Sequence[Op]):
    """Operations by self time, the longest first: `ops[0]`, `ops[:10]`, `ops["a91c03f2e7"]`."""

    def __init__(self, ops: Iterable[Op]) -> None:
        self._ops = tuple(ops)

    def __len__(self) -> int:
        return len(self._ops)

    @overload
    def __getitem__(self, key: int | str) -> Op: ...
    @overload
    def __getitem__(self, key: slice) -> "Ops": ...
    def __getitem__(self, key: int | str | slice) -> "Op | Ops":
        if isinstance(key, slice):
            return Ops(self._ops[key])
        if isinstance(key, int):
            return self._ops[key]
        for op in self._ops:
            if op.op_id == key:
                return op
        raise KeyError(key)

    def where(self, *, bound: str | None = None, min_share: float = 0.0) -> "Ops":
        """Those that this roof binds, with at least this share of the time (0 to 1)."""
        return Ops(
            op
            for op in self._ops
            if (bound is None or (op.bound_by or "").casefold() == bound.casefold())
            and (op.self_share_ratio or 0.0) >= min_share
        )

    def sum(self, column: str) -> float | None:
        """The sum of a column such as "gain_us"; `None` where it is not known of every one."""
        values = [getattr(op, column) for op in self._ops]
        return None if None in values else math.fsum(values)

    def __repr__(self) -> str:
        return f"<roofline Ops: {len(self)}>"


@dataclass(frozen=True, eq=False, repr=False)
class Profile(WithPage):
    """A profile against its peaks. `analysis` has all of it, and is not a stable surface.

    `sizes` are the bytes of each file by its name, `files` where they are on this machine, `link`
    is the address that it was opened from. `capture` is how `roofline.capture` recorded it, `None`
    for files. Profiles with the same `digest` are equal.
    """

    title: str
    analysis: RooflineAnalysis
    of: str | None = None
    sizes: Mapping[str, int] = field(default_factory=dict)
    files: Sequence[Path] = ()
    link: str = ""
    capture: CaptureInfo | None = None

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of `to_dict()` without names of files: of numbers and their peaks."""
        document = self.to_dict()
        for host in document["profile"]["hosts"]:
            del host["file_name"]
        return hashlib.sha256(orjson.dumps(document)).hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Profile) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    @cached_property
    def answered(self) -> Answered:
        """Subject, verdict and advice, made together; not a stable surface."""
        return answered(self.analysis, self.of)

    @property
    def sentence(self) -> str:
        """Headline, what to do first, and where the program stands."""
        lines = lines_of(self.analysis, self.answered.answer)
        space = Segment(kind="plain", text=" ")
        return plain_text([*lines.headline, space, *lines.lead]).strip()

    @property
    def device(self) -> str:
        """The name of the device."""
        return self.analysis.device.name

    @property
    def subject(self) -> Subject:
        """What all numbers are of."""
        return _filled(Subject, subject_record(self.answered.answer))

    @property
    def verdict(self) -> Verdict:
        """What binds it."""
        answer = self.answered.answer
        record = verdict_record(answer)
        return _filled(Verdict, record | {"kind": record["class"], "known": answer.verdict.known})

    @cached_property
    def ops(self) -> Ops:
        """Every operation by self time, the longest first."""
        rows = self.rows()
        named = zip(op_ids(rows), rows, strict=True)
        return Ops(_filled(Op, row | {"op_id": op_id}) for op_id, row in named)

    @property
    def steps(self) -> Sequence[Record]:
        """Each step: `label`, `total_time_us`, rates and intensities, as in `to_dict()`."""
        found: Sequence[Record] = self.to_dict()["steps"]
        return found

    @property
    def findings(self) -> Sequence[Record]:
        """What would help, the largest saving first, as in `advise(profile).to_dict()`."""
        found: Sequence[Record] = self.answered.advice["findings"]
        return found

    def rows(self, *, infeed: bool = True) -> list[dict[str, Any]]:
        """Every operation with the columns of the CSV; with infeed and outfeed, or not."""
        subject = self.answered.answer.subject
        return op_records(self.analysis, include_infeed_outfeed=infeed, subject=subject)

    def frame(
        self, which: Literal["ops", "steps", "roofs", "budget"] = "ops", *, infeed: bool = True
    ) -> "DataFrame":
        """The operations by self time with their `op_id` as index, the steps, the roofs with their
        sources, or the parts of the time in us, as a pandas frame; unknown values are NaN.

        `attrs["roofline"]` of the frame says what it is of. Raises `ExtraMissingError` without
        pandas.
        """
        if which == "steps":
            found = frame_of(self.steps)
        elif which == "roofs":
            roofs = import_module(_READING).reading_of(self).roofs
            found = frame_of([{"roof": name} | asdict(one) for name, one in roofs.items()])
        elif which == "budget":
            parts = import_module(ANSWERS).parts_of(self.to_dict()["subject"]["parts"])
            found = frame_of([{"part": name, "time_us": us} for name, us in parts])
        else:
            rows = self.rows(infeed=infeed)
            found = frame_of(rows)
            found.insert(0, "op_id", op_ids(rows))
            found = found.set_index("op_id")
        found.attrs["roofline"] = {
            "device": self.device,
            "of": self.subject.of,
            "certain": self.answered.advice["certain"],
            "digest": self.digest,
        }
        return found

    @cached_property
    def _document(self) -> bytes:
        answer = self.answered.answer
        return analysis_to_json(self.analysis, include_infeed_outfeed=True, answer=answer)

    def to_dict(self) -> dict[str, Any]:
        """The document of `roofline analyze --format json`; docs/page-data.md."""
        found: dict[str, Any] = orjson.loads(self._document)
        return found

    def to_markdown(self) -> str:
        """What `roofline analyze --format markdown` prints, and agents read; docs/agents.md."""
        reading = import_module(_READING).reading_of(self)
        said: str = import_module(ANSWERS).summary(reading)
        return said

    def to_text(self) -> str:
        """What `roofline analyze` prints."""
        return render(self.analysis, "text", infeed=True, of=self.of).decode()

    @cached_property
    def page(self) -> Mapping[str, Any]:
        """The data of the profile's page; docs/page-data.md."""
        identity = PageIdentity(id="", created_at="")
        return page_data(self.analysis, self.answered.answer, identity)

    def figure(
        self,
        which: Literal["ops", "steps", "links", "gain"] = "ops",
        *,
        infeed: bool = True,
        style: "Style" = "page",
    ) -> "Figure":
        """A picture of the page in light colours: the roofline of the operations and the program,
        that of the steps, the strip of links, or *Time to gain*. The first has the styles of
        `save_figure`, too, and can do without infeed and outfeed.

        Raises `BadViewError` where the profile does not have it, and `ExtraMissingError` without
        plotly.
        """
        if which != "ops":
            figures = self.page["figures"]
            gain = figures["gain"] and figures["gain"]["op"]["figure"]
            drawn = {"steps": figures["program"], "links": figures["links"], "gain": gain}
            return plotly_figure(drawn[which], f"The part “{which}” of this profile")
        device = self.analysis.device
        title = f"{device.name}, per {device.core_word}"
        return roofline_figure(self.page, title, infeed="in" if infeed else "out", style=style)

    def save_figure(
        self,
        path: AnyPath,
        *,
        style: "Style" = "paper",
        width_mm: float | None = None,
        top: int | None = None,
        label: int | None = None,
        gray: bool = False,
        infeed: bool = True,
        x: str = "auto",
        scale: float | None = None,
    ) -> str:
        """Writes the roofline as `.svg`, `.pdf` or `.png`; returns the caption that goes below it.

        `style` is "paper" (8 points, 84 mm), "talk" (16 points) or "page"; the `top` longest
        operations are drawn, `label` of them named. `scale` is that of a PNG: 1 is 96 pixels to the
        inch, by default it has 300. Raises `BadViewError` where nothing has a place, and
        `ExtraMissingError` for a PNG without Pillow.
        """
        from roofline.presentation.charts.choices import ChartChoice  # loads slowly
        from roofline.presentation.figure_files import FileLook, figure_file, form_of

        dots = None if scale is None else 96 * scale
        made = figure_file(
            self.page,
            form_of(str(path)),
            FileLook(
                style=style, width_mm=width_mm, most=top, named=label, is_gray=gray, dots=dots
            ),
            ChartChoice(infeed="in" if infeed else "out", x=x),
            title=self.title,
            certain=self.answered.advice["certain"],
        )
        Path(path).write_bytes(made.content)
        left = made.not_written
        missing = f" Its fonts do not have {left}: an SVG shows them." if left else ""
        return f"{made.caption}{missing}"

    def widget(
        self, *, height: int = 720, theme: Literal["system", "light", "dark"] = "system"
    ) -> "Widget":
        """Its page in a cell of a notebook, with `selected`, the operations that are chosen in it.

        Raises `ExtraMissingError` without `roofline[widget]`.
        """
        try:
            from roofline.api.widget import Widget
        except ModuleNotFoundError as error:
            raise ExtraMissingError.of("widget") from error
        return Widget(self, height=height, theme=theme)

    def cell(self) -> Cell:
        """Its sentence, how sure that is, the peaks, *Time to gain*, what would help most, and the
        longest operations."""
        from roofline.presentation.figure_files import peaks_of  # loads slowly

        gain = self.page["figures"]["gain"]
        sure = f"How sure what binds is: {self.answered.advice['certain']}."
        rows = [{name: row.get(name) for name in _COLUMNS_SHOWN} for row in self.rows()[:10]]
        return Cell(
            lines=[
                f"{self.title} · {self.device}",
                self.sentence,
                f"{sure} {peaks_of(self.page, self.page['figures']['op'])}",
            ],
            pictures=[gain["picture"]] if gain else [],
            notes=[_first_words(one) for one in self.findings[:_FINDINGS_SHOWN]],
            rows=rows,
        )


@dataclass(frozen=True, eq=False, repr=False)
class Advice(Result):
    """What would help, and what each step of it saves; docs/advice.md."""

    document: Mapping[str, Any]
    profile: Profile
    top: int | None = None

    @property
    def sentence(self) -> str:
        """How long it takes, what would do, and what to do first."""
        return f"{self.document['headline']} {self.document['summary']}".strip()

    @property
    def after_us(self) -> float | None:
        """The length of the subject after all findings of the plan, in us."""
        found: float | None = self.document["after_us"]
        return found

    @property
    def findings(self) -> Sequence[Record]:
        """The findings, the largest saving first; keys as in the JSON of `roofline advise`."""
        found: Sequence[Record] = self.document["findings"]
        return found[: self.top]

    def to_dict(self) -> dict[str, Any]:
        """The document of `roofline advise --format json`."""
        return dict(self.document)

    def to_text(self) -> str:
        """What `roofline advise` prints, with these findings."""
        return render_record(self.to_dict(), "text", max(len(self.findings), 1)).decode()

    def to_markdown(self, *, top: int | None = None) -> str:
        """What `roofline advise --format markdown` prints of the first `top` findings, else of as
        many as were asked for, or 5."""
        return render_record(self.to_dict(), "markdown", max(top or self.top or 5, 1)).decode()

    def rows(self) -> list[dict[str, Any]]:
        """One row per finding; `saving_us` is `None` where a saving cannot be predicted."""
        return [
            {
                "id": one["id"],
                "title": one["title"],
                "saving_us": one["predicted"] and one["predicted"]["saving_us"],
                "in_plan": one["in_plan"],
                "confidence": one["confidence"],
                "try": one["try"],
                "verify": one["how_to_verify"],
            }
            for one in self.findings
        ]

    def figure(self) -> "Figure":
        """The roofline of the profile, with a line from each operation that the plan changes to
        where it would stand. Raises as `Profile.figure`."""
        drawn = self.profile.figure()
        places = {
            op: place
            for trace in drawn.data
            if trace.meta["role"] == "marks"
            for op, *place in zip(trace.customdata, trace.x, trace.y, strict=True)
        }
        ops = {row["name"]: op for op, row in enumerate(self.profile.rows())}
        line: list[tuple[float | None, float | None]] = []
        plan = [one for one in self.document["findings"] if one["in_plan"]]
        for landing in (one for finding in plan for one in finding["landing"]):
            op = ops.get(landing["name"])
            if op in places:
                x, y = places[op]
                flop = landing["flop_ratio"]
                places[op] = [x * flop / landing["bytes_ratio"], y * flop / landing["time_ratio"]]
                line += [(x, y), (places[op][0], places[op][1]), (None, None)]
        look = {"color": LIGHT["--ink"], "size": 7, "symbol": "arrow", "angleref": "previous"}
        return drawn.add_scatter(
            x=[x for x, _ in line],
            y=[y for _, y in line],
            name="after the plan",
            mode="lines+markers",
            marker=look,
            line={"width": 1},
            meta={"role": "after"},
        )

    def cell(self) -> Cell:
        """The sentence, and the findings in words."""
        notes = [f"{_first_words(one)}. {one['why']} {one['try']}" for one in self.findings[:5]]
        return Cell(lines=[self.sentence], notes=notes)


def open_profile(
    *sources: AnyPath | bytes,
    name: str = "profile",
    device: str | None = None,
    peaks: Sequence[str] = (),
    sustained: Sequence[str] = (),
    of: str | None = None,
    host: str | None = None,
    range_us: tuple[float, float] | None = None,
    dvfs: bool = False,
    progress: Progress = silent,
) -> Profile:
    """Read and analyse a profile: one file per host, archives of them, a workload's folder, the
    link of a profile on a server, or the bytes of one file called `name`.

    Of a link what was uploaded is downloaded and analysed here, in the view that the address says.
    The rest is as the options of `roofline analyze`: `device` is a part of the catalogue, `peaks`
    and `sustained` are texts such as `"hbm=3.35TB/s"`, `of` is the address of the subject,
    `range_us` a part of the capture's time. Raises `RooflineError` with a remedy for files that
    cannot be read.
    """
    if not sources:
        raise BadViewError("No file was named.", remedy="Name the files of a profile.")
    given = _Options(device, peaks, sustained, of, host, range_us, dvfs)
    if len(sources) == 1 and (isinstance(sources[0], bytes) or is_link(sources[0])):
        return _from_elsewhere(sources[0], name, given, progress)
    paths = [Path(one) for one in sources if not isinstance(one, bytes)]
    if len(paths) < len(sources):
        raise BadViewError("Bytes are of one file.", remedy="Write the files, and name them.")
    return _opened(paths, given, progress)


class _Options(NamedTuple):
    device: str | None = None
    peaks: Sequence[str] = ()
    sustained: Sequence[str] = ()
    of: str | None = None
    host: str | None = None
    range_us: tuple[float, float] | None = None
    dvfs: bool = False


def _opened(paths: Sequence[Path], given: _Options, progress: Progress) -> Profile:
    part = given.range_us
    analysis = analyse_files(
        paths,
        choice=read_choice(given.device, given.peaks, given.sustained),
        range_ps=None if part is None else (part[0] * PS_PER_US, part[1] * PS_PER_US),
        host=given.host,
        dvfs=given.dvfs,
        progress=progress,
    )
    sizes = {one.name: one.stat().st_size for one in paths}
    return Profile(paths[0].name, analysis, given.of, sizes, files=tuple(paths))


def _from_elsewhere(
    source: AnyPath | bytes, name: str, given: _Options, progress: Progress
) -> Profile:
    """A profile from bytes, or of a link, whose file goes when it was read."""
    with tempfile.TemporaryDirectory(prefix="roofline-") as folder:
        if isinstance(source, bytes):
            path, link = Path(folder, Path(name).name or "profile"), ""
            path.write_bytes(source)
        else:
            link = str(source)
            path, said = download(link, Path(folder)), _view_of(link)
            given = _Options._make(one or other for one, other in zip(given, said, strict=True))
        return replace(_opened([path], given, progress), files=(), link=link)


def _view_of(link: str) -> _Options:
    """What the address of a page says of peaks and of the part of the profile."""
    query = parse_qs(urlsplit(link).query)
    said = {key: values[-1] for key, values in query.items()}
    try:
        start, end = float(said.get("from_us", 0.0)), float(said.get("to_us", math.inf))
    except ValueError as error:
        raise BadViewError("The link names no time.", remedy="Copy the link again.") from error
    return _Options(
        device=said.get("dev") or said.get("device"),
        peaks=[
            *query.get("peak", ()),
            *(with_unit(key[5:], one) for key, one in said.items() if key.startswith("peak.")),
        ],
        of=said.get("of"),
        host=said.get("host"),
        range_us=None if (start, end) == (0.0, math.inf) else (start, end),
        dvfs=said.get("dvfs") == "on",
    )


def opened(profile: "Profile | AnyPath") -> Profile:
    """`profile` itself, or that in the file at this path."""
    return profile if isinstance(profile, Profile) else open_profile(profile)


def advise(
    profile: Profile | AnyPath, *, top: int | None = None, target: float | None = None
) -> Advice:
    """What would help most, and what each change saves of the time after those before it.

    The first `top` findings are shown, or all; `to_dict()` has all. `target` is the share of a roof
    (above 0, 1 at most) that tuning reaches, where it is not the rule's own.
    """
    if top is not None and top < 1:
        raise BadViewError("`top` is a number of findings.", remedy="Give 1 or more.")
    if target is not None and not 0 < target <= 1:
        raise BadViewError(
            "The target is a share of the roof.",
            remedy="Give a number above 0, 1 at most (`target`, `--target`).",
        )
    found = opened(profile)
    made = found.answered if target is None else answered(found.analysis, found.of, target=target)
    return Advice(made.advice, found, top)


def _filled(kind: type[T], record: Record) -> T:
    """The dataclass `kind` with the values that `record` has under the names of its fields."""
    names = [one.name for one in fields(kind)]
    return kind(**{name: _plain(record[name]) for name in names})


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, Enum) else value


def _first_words(finding: Record) -> str:
    return f"{finding['title']}{' · ' if finding['saves'] else ''}{finding['saves']}"
