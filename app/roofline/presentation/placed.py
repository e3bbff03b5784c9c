"""What both parts of the verdict go by: the program's bound, its peaks, and pieces of sentences."""

from roofline.analysis.knowledge import KNOWN_SHARE, NEARLY_ALL
from roofline.analysis.records import KnownTime, RooflineAnalysis, View
from roofline.analysis.roofline import COMPUTE_BOUND
from roofline.presentation.palette import COMPUTE_STYLE, LEVEL_STYLES
from roofline.presentation.quantities import share
from roofline.presentation.sentences import Number, Segment
from roofline.presentation.words import COMPUTE_BOUND_WORDS, bound_words

PROGRAM = 0  # row of the program's total


def place_of(view: View) -> tuple[int, float]:
    """What binds the program, and its share of that roof (NaN where nothing binds)."""
    measures = view.program.measures
    return int(measures.bound[PROGRAM]), float(measures.roofline_efficiency_ratio[PROGRAM])


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
    """What the program is: "compute-bound", "HBM-bound", "bound by VMEM write"."""
    if code == COMPUTE_BOUND:
        return Segment(kind="bound", text=COMPUTE_BOUND_WORDS, token=COMPUTE_STYLE.token)
    level = analysis.levels[code - 2]
    return Segment(kind="bound", text=bound_words(level), token=LEVEL_STYLES[level].token)
