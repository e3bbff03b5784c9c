"""How sure a verdict is: the least sure of what it rests on, and what would settle it.

A counter's share and one from a compiler's estimate read alike; beside each stands this word.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from roofline.analysis.nearest_records import OpClass
from roofline.analysis.records import RooflineAnalysis
from roofline.analysis.verdict_records import Place, VerdictClass
from roofline.model.device import PeakOrigin
from roofline.model.memory import MemoryLevel
from roofline.model.notes import COLD
from roofline.model.profile import Provenance, Severity
from roofline.presentation.quantities import significant
from roofline.presentation.verdict import Answer

if TYPE_CHECKING:
    from roofline.compare.changes import Comparison

UNKNOWN, IN_DOUBT, MODELLED, STATED, MEASURED = SURE = (
    "unknown", "in doubt", "modelled", "stated", "measured",
)  # fmt: skip
"""The words, the least sure first. "modelled" is from a compiler's count of the work or our own,
"stated" is what the file says of itself."""

_OF_PROVENANCE = {Provenance.MEASURED: MEASURED, Provenance.STATED: STATED}
_OF_CLASS = {
    VerdictClass.NOTHING: UNKNOWN,
    VerdictClass.HOST_ONLY: UNKNOWN,
    VerdictClass.UNKNOWN: UNKNOWN,
    VerdictClass.DOUBT: IN_DOUBT,
    VerdictClass.POINTS: STATED,
    VerdictClass.PREDICTED: MODELLED,
    VerdictClass.IDLE: MEASURED,
    VerdictClass.WAITS: MEASURED,
}
# Below this share of the busy time with known work a verdict on the work is not one on the program.
_LEAST_KNOWN = 0.5


class Certainty(NamedTuple):
    """One of `SURE`, what is in doubt, and what to do to be surer: sentences without a full stop,
    and "" where nothing is known that would help."""

    word: str
    doubts: Sequence[str]
    settle: str
    is_cold: bool = False

    @property
    def in_words(self) -> str:
        """The word, and whether the program was still starting when it was recorded."""
        return f"{self.word}, cold" if self.is_cold else self.word


def certainty_of(analysis: RooflineAnalysis, answer: Answer) -> Certainty:
    """How sure the verdict of `answer` is."""
    verdict = answer.verdict
    doubts = [
        one.message.rstrip(".") for one in analysis.diagnostics if one.severity is not Severity.INFO
    ]
    is_cold = any(one.code in COLD for one in analysis.diagnostics)
    words = [IN_DOUBT] if is_cold else []
    words += [certainty_of_place(analysis, place) for place in (verdict, verdict.then) if place]
    covered = max(verdict.known.both, verdict.known.busy)
    if verdict.of_work is not None and covered < _LEAST_KNOWN:
        words.append(IN_DOUBT)
        doubts.insert(
            0, f"the work of {significant(100 * (1 - covered), 2)} % of the busy time is not known"
        )
    word = min(words, key=SURE.index)
    if verdict.of_work is not None and (names := _looked_up(analysis, verdict.of_work)):
        doubts.append(f"the peak of {names} is the data sheet's, not measured here")
    return Certainty(word=word, doubts=doubts, settle=_settles(analysis, word), is_cold=is_cold)


def certainty_of_place(analysis: RooflineAnalysis, place: Place) -> str:
    """How sure it is what binds, by its class and by what counted the work at its ceiling."""
    found = _OF_CLASS.get(place.kind)
    if found is not None:
        return found
    ceilings = (
        (place.ceiling, *place.also) if place.kind is VerdictClass.MIXED else (place.ceiling,)
    )
    return min((_at(analysis, one) for one in ceilings), key=SURE.index)


def certainty_of_op(analysis: RooflineAnalysis, op: int) -> str:
    """How sure it is what binds the operation at this place of the profile."""
    near, causes = analysis.nearest, analysis.ops.above_roof
    if op < len(causes) and causes[op]:
        return IN_DOUBT
    match near.kind_of(op):
        case OpClass.UNKNOWN:
            return UNKNOWN
        case OpClass.TRANSFER:
            return MEASURED
        case _:
            return _at(analysis, near.ceiling_of(op))


def certainty_of_change(found: "Comparison") -> str:
    """How sure a change of time is: told from noise by captures of each side, or not."""
    tested = found.tested
    if not found.is_comparable:
        return f"{IN_DOUBT}, the two do not do the same work"
    if tested is None:
        return f"{IN_DOUBT}, fewer than three captures of each"
    if tested.low is None or tested.high is None:
        return f"{IN_DOUBT}, too few captures for an interval"
    between = f"{significant(tested.low)} to {significant(tested.high)} times"
    return f"{IN_DOUBT}, {between}" if tested.low <= 1 <= tested.high else f"{MEASURED}, {between}"


def _at(analysis: RooflineAnalysis, ceiling: str) -> str:
    """Units that counters saw busy are measured; the work at a roof is as sure as its count."""
    near, profile = analysis.nearest, analysis.profile
    if not ceiling and near.is_busy_known.any():
        return MEASURED
    if ceiling in near.ceilings and np.isfinite(near.busy[near.ceilings.index(ceiling)]).any():
        return MEASURED
    flops, moved = profile.flop_provenance, profile.bytes_provenance
    is_level = ceiling in {level.value for level in MemoryLevel}
    wanted = [moved] if is_level else [flops] if ceiling else [flops, moved]
    return min((_OF_PROVENANCE.get(one, MODELLED) for one in wanted), key=SURE.index)


def _looked_up(analysis: RooflineAnalysis, place: Place) -> str:
    """The roofs of a verdict whose peaks are from the catalogue."""
    device, wanted = analysis.device, {place.ceiling, *place.also}
    roofs = [(one.id, one.label, one.origin) for one in device.compute]
    roofs += [(one.level, one.level.label, one.origin) for one in (*device.memory, *device.links)]
    found = [
        name for key, name, origin in roofs if key in wanted and origin is PeakOrigin.CATALOGUE
    ]
    return ", ".join(found)


def _settles(analysis: RooflineAnalysis, word: str) -> str:
    """The remedy of the first note that stands against the verdict, else what records more."""
    is_open = word in (UNKNOWN, IN_DOUBT)
    remedies = [
        one.remedy
        for one in analysis.diagnostics
        if one.remedy and (is_open or one.severity is not Severity.INFO)
    ]
    steps = [f"{one.command} ({one.adds})" for one in analysis.profile.next_steps]
    return next(iter([*remedies, *steps]), "").rstrip(".")
