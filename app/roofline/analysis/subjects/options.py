"""The subjects that a profile has, the one that it opens with first."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from roofline.analysis.program import of_mean, step_us
from roofline.analysis.records import I64, RooflineAnalysis
from roofline.analysis.serving import batch_name, by_batch, step_label
from roofline.analysis.subjects.addresses import range_address, read_range
from roofline.analysis.subjects.records import Kind, Sample
from roofline.model.device import DeviceKind
from roofline.model.profile import Profile
from roofline.model.serving import ServingSteps
from roofline.model.units import PS_PER_MS, PS_PER_US

# How profilers call copies, which are not kernels.
_COPIES = ("Memcpy", "Memset", "MEMORY_COPY")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Option:
    """One subject that a page can be of; `time_us` is its length where that is known at once.

    `steps` are the places of the steps that it is the mean of, `span_ps` its range of time.
    """

    kind: Kind
    of: str
    label: str
    unit_word: str
    time_us: float | None = None
    steps: I64 = field(default_factory=lambda: np.zeros(0, np.int64))
    sample: Sample | None = None
    span_ps: tuple[int, int] | None = None


def options(analysis: RooflineAnalysis) -> tuple[Option, ...]:
    """The subjects of `analysis`; never none. Ranges of time are chosen by hand."""
    profile = analysis.profile
    if profile.is_host_only:
        return (Option(kind=Kind.HOST, of="host_time", label="The host", unit_word="of the host"),)
    if profile.time_range_ps is not None:
        return (_range(*profile.time_range_ps),)
    serving = () if profile.serving is None else tuple(_serving(profile.serving))
    return (*serving, *_steps(profile), _whole(analysis))


def asked(analysis: RooflineAnalysis, of: str) -> Option | None:
    """The subject with this address; `None` where the profile has none such."""
    found = next((one for one in options(analysis) if one.of == of), None)
    return found or _asked_range(analysis, of)


def _asked_range(analysis: RooflineAnalysis, of: str) -> Option | None:
    """The range of this address, widened to whole slices of the capture."""
    timeline = analysis.profile.timeline
    bins = None if timeline is None else timeline.bins
    if bins is None or not len(bins) or analysis.profile.is_host_only:
        return None
    try:
        begin, end = read_range(of)
    except ValueError:
        return None
    if end <= 0 or begin >= bins.edges_ps[-1]:
        return None
    first, last = bins.around(begin, end)
    found = _range(int(bins.edges_ps[first]), int(bins.edges_ps[last]))
    already = analysis.profile.time_range_ps
    return found if already is None or found.span_ps == already else None


def _serving(steps: ServingSteps) -> Iterator[Option]:
    """A mean step of each phase and batch, those with the most time first."""
    groups = sorted(by_batch(steps), key=lambda one: -float(steps.span_ps[one[1]].sum()))
    for phase, rows in groups:
        name = batch_name(phase, steps.sequences[rows])
        batch = f".{steps.sequences[rows[0]]:.0f}" if ", " in name else ""
        spans = steps.span_ps[rows] / PS_PER_US
        yield Option(
            kind=Kind.SERVING,
            of=f"serving:{phase}{batch}",
            label=step_label(name),
            unit_word=f"a {phase} step",
            time_us=float(spans.mean()),
            steps=rows,
            sample=Sample(used=len(rows), found=len(rows), median_us=float(np.median(spans))),
        )


def _steps(profile: Profile) -> Iterator[Option]:
    """The mean step, and each step where the file tells the ops of each."""
    timeline = profile.timeline
    if timeline is None:
        count = len(profile.steps)
        if count and profile.serving is None:
            yield _mean(profile.steps.label, None, np.arange(count), None)
        return
    if not timeline.steps:
        return
    times = step_us(timeline)
    rows, sample = of_mean(times)
    yield _mean(profile.steps.label, float(times[rows].mean()), rows, sample)
    for row, label in enumerate(profile.steps.label):
        yield Option(
            kind=Kind.STEP,
            of=f"step:{label}",
            label=f"Step {label}",
            unit_word="this step",
            time_us=float(times[row]),
            steps=np.array([row]),
        )


def _mean(
    labels: tuple[str, ...], time_us: float | None, rows: I64, sample: Sample | None
) -> Option:
    used, found = len(rows), len(labels)
    of_found = f" of {found}" if used < found else ""
    return Option(
        kind=Kind.STEP,
        of="step",
        label=f"Step {labels[0]}" if found == 1 else f"Step, mean of {used}{of_found}",
        unit_word="a step",
        time_us=time_us,
        steps=rows,
        sample=sample,
    )


def _whole(analysis: RooflineAnalysis) -> Option:
    """The capture, or all ops of a table without events in time."""
    profile = analysis.profile
    if profile.timeline is not None:
        label = "Capture, from the first operation"
        return Option(kind=Kind.CAPTURE, of="capture", label=label, unit_word="")
    count = len(profile.ops)
    has_copies = any(name.startswith(_COPIES) for name in profile.ops.name)
    is_of_kernels = analysis.device.kind is DeviceKind.GPU and not has_copies
    noun = "kernel" if is_of_kernels else "operation"
    is_all = profile.time_ps == profile.op_time_ps
    return Option(
        kind=Kind.KERNELS,
        of="kernels",
        label=f"{count:,} {noun}{'' if count == 1 else 's'}",
        unit_word=f"of {noun} time" if is_all else "",
    )


def _range(begin_ps: int, end_ps: int) -> Option:
    ps, unit = (PS_PER_MS, "ms") if end_ps >= PS_PER_MS else (PS_PER_US, "µs")
    begin, end = (f"{at / ps:,.6g}" for at in (begin_ps, end_ps))
    return Option(
        kind=Kind.RANGE,
        of=range_address(begin_ps, end_ps),
        label=f"{begin} to {end} {unit}",
        unit_word="",
        span_ps=(begin_ps, end_ps),
    )
