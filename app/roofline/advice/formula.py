"""What a formula, its cases and a threshold are, and those that several rules share.

The thresholds and formulas of a single rule stand beside it.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from roofline.analysis import above_roof
from roofline.analysis.roofline import Floats


class Threshold(NamedTuple):
    """A number at which a rule begins or ends: `meaning` says what it is compared with."""

    name: str
    value: float
    meaning: str


class Formula(NamedTuple):
    """`text` as it is printed, and the same as a function of its names, in the order of a case."""

    text: str
    gives: Callable[..., Any]


class Case(NamedTuple):
    """A worked example: a value for each name of the formula's text, and what it gives."""

    values: Mapping[str, float]
    gives: float


IMPOSSIBLE = Threshold(
    "IMPOSSIBLE", above_roof.IMPOSSIBLE, "share of its roof above which work or peak is wrong"
)
STOP = Threshold("STOP", 0.95, "share of a roof from which on only less work helps")
LEAST_SAVING = Threshold("LEAST_SAVING", 0.01, "share of the time that is worth a finding")
FAR = Threshold("FAR", 0.40, "share of every roof below which no roof limits a short call")
GOOD = Threshold("GOOD", 0.60, "share of a roof from which on access or use is good")
OF_USE = Threshold("OF_USE", 0.80, "share of a busy unit's time below which it is wasted")
OPTION = Threshold("OPTION", 1.10, "least gain of an option")
WEIGHTS = Threshold("WEIGHTS", 0.50, "least share of the bytes that are weights, keys or values")
TARGET = Threshold("TARGET", 0.90, "share of a roof that tuning reaches")


def closer_us(time_us: Floats, roof_us: Floats, target: Floats) -> Floats:
    """The time of the same work at the share `target` of its roof; none gets slower."""
    return np.minimum(time_us, roof_us / target)


def less_work_us(roof_us: Floats, e: Floats) -> Floats:
    """The time of less work, whose roof is `roof_us` now, as near to its roof as before."""
    return np.maximum(roof_us / e, roof_us)


CLOSER = Formula("T' = min(T, ρ ÷ η)", closer_us)
CLOSER_CASES = (
    Case({"T": 2000.0, "ρ": 900.0, "η": 0.9}, 1000.0),
    Case({"T": 100.0, "ρ": 98.0, "η": 0.9}, 100.0),
)
LESS_WORK = Formula(
    "T' = max(ρ' ÷ e, ρ'), e = ρ ÷ T",
    lambda rho_after, rho, t: less_work_us(rho_after, rho / t),
)
LESS_WORK_CASES = (
    Case({"ρ'": 50.0, "ρ": 100.0, "T": 125.0}, 62.5),
    Case({"ρ'": 50.0, "ρ": 100.0, "T": 98.0}, 50.0),
)
