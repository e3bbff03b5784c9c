"""What the API answers of a profile and of a comparison, as typed dictionaries.

The schemas of /openapi.json are made of them. The end of a name is its unit; `None` is unknown.
"""

from collections.abc import Mapping
from typing import Literal, TypedDict

Measure = float | None
Provenance = Literal["measured", "modelled", "estimated", "stated"]


class Known(TypedDict):
    """The shares of the time of which FLOPs, bytes and both are known."""

    flop: float
    bytes: float
    both: float


class AnalysedPlace(TypedDict):
    """What binds something: a `ceiling` where the class has one, else why none can be named."""

    ceiling: str | None
    ratio: Measure
    useful_ratio: Measure
    also: list[str]
    why: str | None


class AnalysedSubject(TypedDict):
    """What all numbers of the answer are of: its length, its floor, and what tuning can gain."""

    of: str
    kind: str
    label: str
    unit_word: str
    time_us: float
    floor_us: float
    gain_us: float
    roof_ratio: Measure
    known_ratio: float
    idle_ratio: float


class AnalysedProfile(TypedDict):
    """Where the numbers are from."""

    format: str
    flop_provenance: Provenance
    bytes_provenance: Provenance
    limits: list[str]
    captured_at_unix_ns: int | None
    wall_time_us: Measure


class AnalysedDevice(TypedDict):
    """The device whose peaks are the roofs."""

    name: str
    kind: str
    core_count: int
    core_word: str
    peak_gflops: Measure
    peak_bandwidth_gibs: Mapping[str, float]


class AnalysedRoof(TypedDict):
    """A roof and where its peak is from."""

    label: str
    origin: str
    source: str


class AnalysedRoofs(TypedDict):
    """Flat roofs of compute units, slanted ones of memory levels and links."""

    compute: list[AnalysedRoof]
    memory: list[AnalysedRoof]
    links: list[AnalysedRoof]


class AnalysedPoint(TypedDict):
    """A point on the roofline: the program, a step, an operation; per level and unit more keys."""

    total_time_us: Measure
    flop_rate_gflops: Measure
    memory_bandwidth_gibs: Measure
    operational_intensity: Measure
    bound_by: str
    attainable_gflops: Measure
    roofline_efficiency_ratio: Measure


class ProgramPoint(AnalysedPoint):
    """The whole program, its counters (`total_hw`), the average of its steps, or one step."""

    scope: str
    label: str


class AnalysedOp(AnalysedPoint):
    """One operation; the first is that of the longest self time."""

    rank: int
    name: str
    category: str
    self_time_us: float
    self_share_ratio: float
    gain_us: Measure
    source_file: str | None
    source_line: int | None
    path: str | None
    nearest: AnalysedPlace


class AnalysedFault(TypedDict):
    """What should be known of the capture, and what to do about it."""

    severity: str
    code: str
    message: str
    remedy: str
    count: int


class Roofline(TypedDict):
    """A profile as `roofline analyze --format json` prints it, too."""

    schema: str
    subject: AnalysedSubject
    verdict: AnalysedPlace
    profile: AnalysedProfile
    device: AnalysedDevice
    roofs: AnalysedRoofs
    include_infeed_outfeed: bool
    known_time_ratio: Known
    program_points: list[ProgramPoint]
    steps: list[ProgramPoint]
    ops: list[AnalysedOp]
    diagnostics: list[AnalysedFault]


class ComparedSubject(TypedDict):
    """The subject of one side: `time_us` and `floor_us` in us, `roof_ratio` a share of its roof."""

    of: str
    kind: str
    label: str
    time_us: float
    floor_us: float
    roof_ratio: Measure
    ceiling: str | None


class ComparedSubjects(TypedDict):
    """Both sides."""

    a: ComparedSubject
    b: ComparedSubject


class ComparedVerdict(TypedDict):
    """What changed, in sentences."""

    state: str
    headline: str
    largest: str
    lead: str
    split: str


class ComparedPlace(TypedDict):
    """A module, a category or an operation that changed; the largest change comes first."""

    kind: str
    name: str
    is_new: bool
    is_gone: bool
    source: str
    a_us: float
    b_us: float
    change_us: float


class ComparedNote(TypedDict):
    """Why the comparison says less than it could."""

    code: str
    message: str


class RunComparison(TypedDict):
    """Two profiles as `roofline compare --format json` prints them, too.

    The `terms` add up to `change_us`.
    """

    unit: str
    a_us: float
    b_us: float
    change_us: float
    subjects: ComparedSubjects
    terms: Mapping[str, float]
    verdict: ComparedVerdict
    places: list[ComparedPlace]
    comparable: bool
    notes: list[ComparedNote]


DOCUMENTS = (Roofline, RunComparison)
