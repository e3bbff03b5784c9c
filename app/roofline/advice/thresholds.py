"""What a threshold is, and those that several rules share; the others stand beside their rule."""

from typing import NamedTuple


class Threshold(NamedTuple):
    """A number at which a rule begins or ends: `meaning` says what it is compared with."""

    name: str
    value: float
    meaning: str


IMPOSSIBLE = Threshold("IMPOSSIBLE", 1.03, "share of its roof above which work or peak is wrong")
STOP = Threshold("STOP", 0.95, "share of a roof from which on only less work helps")
LEAST_SAVING = Threshold("LEAST_SAVING", 0.01, "share of the time that is worth a finding")
FAR = Threshold("FAR", 0.40, "share of every roof below which no roof limits a short call")
GOOD = Threshold("GOOD", 0.60, "share of a roof from which on access or use is good")
OF_USE = Threshold("OF_USE", 0.80, "share of a busy unit's time below which it is wasted")
OPTION = Threshold("OPTION", 1.10, "least gain of an option")
WEIGHTS = Threshold("WEIGHTS", 0.50, "least share of the bytes that are weights, keys or values")
TARGET = Threshold("TARGET", 0.90, "share of a roof that tuning reaches")
