"""The first lines of a reader: the goal, what to do first, and where the subject stands.

Facts come from the subject, the verdict and the first finding; nothing is decided here.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from roofline.analysis.records import RooflineAnalysis, Timing
from roofline.analysis.subjects.records import Subject
from roofline.analysis.verdict_records import Verdict
from roofline.devices.this_machine import may_be_this_machine
from roofline.model.device import DeviceKind
from roofline.model.profile import NextStep, Profile, Severity
from roofline.presentation.goal import First, Form, Goal, form_of, goal, length
from roofline.presentation.sentences import Number, Segment, Sentence, plain, ratio, say
from roofline.presentation.serving import serving_sentences
from roofline.presentation.standing import standing
from roofline.presentation.verdict_words import bound_clause, busy_sentences

# Warnings that do not explain why there is no op.
_BESIDE_THE_POINT = {"no-steps", "steps-do-not-intersect", "hosts-differ", "no-peaks"}
_NOT_RUN = "launches-not-run"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Answer:
    """The one answer of a profile: its subject, the verdict on it, and the first finding.

    `finding` is the id of that finding, "" without one.
    """

    subject: Subject
    verdict: Verdict
    first: First | None = None
    finding: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lines:
    """The three lines: sentences as segments, each with its full stop."""

    headline: Sentence
    do_first: Sentence
    standing: Sentence

    @property
    def lead(self) -> Sentence:
        """The lines below the headline as one text."""
        return _joined([self.do_first, self.standing])


def lines_of(analysis: RooflineAnalysis, answer: Answer) -> Lines:
    """The first lines for a reader. They read well for every kind of profile, empty ones too."""
    form = form_of(answer.subject)
    if form is Form.NOTHING:
        return Lines(headline=say("goal_nothing"), do_first=_why_nothing(analysis), standing=[])
    if answer.verdict.why == "coverage":
        return _uncovered(analysis, answer)
    found = goal(answer.subject, answer.first, hint_of(analysis.profile, form))
    below = untimed(analysis) if form is Form.POINTS else _stands(analysis, answer, found)
    headline = found.headline
    if form is Form.NO_PEAKS and may_be_this_machine(analysis.device.kind):
        headline = say("goal_no_peaks_cpu", length=length(answer.subject))
    return Lines(headline=headline, do_first=found.do_first, standing=below)


def _stands(analysis: RooflineAnalysis, answer: Answer, found: Goal) -> Sentence:
    """The share of the roof, what binds, what else is worth a word."""
    clause, busy = bound_clause(answer.verdict), busy_sentences(answer.verdict)
    served = serving_sentences(analysis, answer.subject)
    when = [
        say("stands_when", tool=step.tool)
        for step in analysis.profile.next_steps
        if step.kind == "when"
    ]
    return _joined([*standing(answer.subject, found, clause, busy), served, *when])


def _uncovered(analysis: RooflineAnalysis, answer: Answer) -> Lines:
    """A file without most of its program: how much of it is there, and how to record the rest."""
    note = next((one for one in analysis.diagnostics if one.code == _NOT_RUN), None)
    return Lines(
        headline=say(
            "goal_uncovered",
            length=length(answer.subject),
            share=ratio(answer.verdict.coverage or 0.0),
        ),
        do_first=say("not_run_why") if note else [],
        standing=[plain(note.remedy)] if note else [],
    )


def _why_nothing(analysis: RooflineAnalysis) -> Sentence:
    """Why there is no operation: the first note that says it."""
    reasons = [
        f"{found.message} {found.remedy}".strip()
        for found in analysis.diagnostics
        if found.severity is not Severity.INFO and found.code not in _BESIDE_THE_POINT
    ]
    return [plain(next(iter(reasons), "The capture holds no ops of a device."))]


def _joined(sentences: Sequence[Sentence]) -> Sentence:
    """Sentences with a space between them."""
    found = [one for one in sentences if one]
    space = Segment(kind="plain", text=" ")
    return [part for at, one in enumerate(found) for part in ([space] * (at > 0) + one)]


def untimed(analysis: RooflineAnalysis) -> Sentence:
    """How the chart of such a profile reads."""
    counts = Counter(analysis.ops.timing[: len(analysis.profile.ops)])
    points, predictions = counts[Timing.RATE], counts[Timing.PREDICTED]
    if not points:
        return say("of_predictions")
    if not predictions:
        return say("of_points")
    every = Number(points + predictions, "count")
    return say("of_both", points=Number(points, "count"), every=every)


_OTHER_HOST = "Host of "
_MOST_LETTERS = 40
_WITH_CUDA = ("an accelerator", "NVIDIA", "AMD")


def hint_of(profile: Profile, form: Form) -> Sentence | None:
    """The sentence on recording what a profile lacks; `None` where none is known."""
    if form is Form.HOST:
        return say(_host_hint(profile))
    if form is Form.UNEXPLAINED:
        return say(_IDLE_BY_FORMAT.get(profile.format_id, "first_threads"))
    is_known = form is not Form.NO_PEAKS or _counting(profile) is not None
    return work_hint(profile) if is_known else None


def _counting(profile: Profile) -> NextStep | None:
    return next((one for one in profile.next_steps if one.kind == "what"), None)


def work_hint(profile: Profile) -> Sentence:
    """The sentence on recording the work of operations."""
    lacking = _lacking(profile)
    counting = _counting(profile)
    if counting is None or lacking:
        return say(lacking or "first_cost")
    name = counting.of or "its kernels"
    shown = name if len(name) <= _MOST_LETTERS else f"{name[:_MOST_LETTERS]}…"
    return say("first_count", kernels=shown, tool=counting.tool)


def _host_hint(profile: Profile) -> str:
    """Of recording the device, for a capture of its host alone."""
    name = profile.device.name.removeprefix(_OTHER_HOST)
    if profile.format_id == "pytorch" and name.startswith(_WITH_CUDA):
        return "first_host_torch"
    return "first_host"


def _lacking(profile: Profile) -> str:
    """The sentence for a file that lacks more than counters; "" for others."""
    noted = {one.code for one in profile.diagnostics}
    if profile.format_id == "pytorch":
        return next((hint for code, hint in _OF_TRACES.items() if code in noted), "")
    if profile.format_id == "xspace":
        return _BY_DEVICE.get(profile.device.kind, "")
    return _BY_FORMAT.get(profile.format_id, "")


# By what the trace lacks; replays of graphs have no shapes whatever was recorded.
_OF_TRACES = {
    "launches-not-run": "first_replay",
    "no-shapes": "first_shapes",
    "kernels-in-graphs": "first_graphs",
}
_BY_DEVICE = {
    DeviceKind.GPU: "first_program_plane",
    DeviceKind.TPU: "first_cost_estimates",
}
_IDLE_BY_FORMAT = {"rocprofiler_sdk": "first_calls_amd", "xprof_export": "first_capture"}
_BY_FORMAT = {
    "nsight_compute": "first_counters",
    "rocprof_compute": "first_counters_amd",
}
