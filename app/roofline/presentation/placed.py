"""The base of both parts of the verdict: the program's bound, its peaks, pieces of sentences."""

import numpy as np

from roofline.analysis.knowledge import KNOWN_SHARE, NEARLY_ALL
from roofline.analysis.records import KnownTime, RooflineAnalysis, View
from roofline.analysis.roofline import COMPUTE_BOUND, UNKNOWN_BOUND
from roofline.model.memory import MemoryLevel
from roofline.presentation.palette import COMPUTE_STYLE, LEVEL_STYLES
from roofline.presentation.quantities import share
from roofline.presentation.sentences import Number, Segment
from roofline.presentation.words import COMPUTE_BOUND_WORDS, bound_words

_FIRST_LEVEL = 2  # code of the first level as a bound
PROGRAM = 0  # row of the program's total


def place_of(view: View) -> tuple[int, float]:
    """The bound of the program, and its share of that roof (NaN where nothing binds).

    A link between devices that is used more than that binds it instead. Bytes over the host link go
    both ways, so their sum has no single peak.
    """
    measures = view.program.measures
    bound = int(measures.bound[PROGRAM])
    of_roof = float(measures.roofline_efficiency_ratio[PROGRAM])
    used = {
        code: float(column[PROGRAM])
        for code, (level, column) in enumerate(measures.utilisation_ratio.items(), _FIRST_LEVEL)
        if level.is_link and level is not MemoryLevel.HOST
    }
    busiest = max(used, key=lambda code: np.nan_to_num(used[code]), default=UNKNOWN_BOUND)
    if bound == UNKNOWN_BOUND or busiest == UNKNOWN_BOUND or not used[busiest] > of_roof:
        return bound, of_roof
    return busiest, used[busiest]


def is_mostly_known(view: View) -> bool:
    """True where enough of the work is known for a bound."""
    return view.known.both >= KNOWN_SHARE


def is_part_unknown(view: View) -> bool:
    """True where the part that is not known is worth a word."""
    return view.known.both < NEARLY_ALL


def is_alike(known: KnownTime) -> bool:
    """FLOPs and bytes are known for the same share of the time, as a sentence writes it."""
    return share(known.flop) == share(known.bytes) == share(known.both)


def has_peaks(analysis: RooflineAnalysis) -> bool:
    """True where there is any roof."""
    return bool(analysis.peaks.gflops or analysis.peaks.binding_gibs)


def does_work(view: View) -> bool:
    """True where any FLOP or byte of the program is known."""
    rates = view.program.measures
    return bool(rates.flop_rate_gflops[PROGRAM] > 0 or rates.memory_bandwidth_gibs[PROGRAM] > 0)


def ratio(value: float) -> Number:
    """A share, for a slot."""
    return Number(value, "ratio")


def plain(text: str) -> Segment:
    """A piece of text."""
    return Segment(kind="plain", text=text)


def bound_segment(analysis: RooflineAnalysis, code: int) -> Segment:
    """The words for the program's bound: "compute-bound", "HBM-bound", "bound by VMEM write"."""
    if code == COMPUTE_BOUND:
        return Segment(kind="bound", text=COMPUTE_BOUND_WORDS, token=COMPUTE_STYLE.token)
    level = analysis.levels[code - 2]
    return Segment(kind="bound", text=bound_words(level), token=LEVEL_STYLES[level].token)
