"""Numbers of one headline, in the unit and with the decimals of its time."""

from typing import NamedTuple, Self

from roofline.presentation.quantities import NARROW, SPACE, TIME_STEPS, fixed
from roofline.presentation.sentences import Segment

_ROUNDS_UP = 0.9995
_NO_DECIMALS = 99.5
_ONE_DECIMAL = 9.995
_TWO_DIGITS = 9.95
MINUS = "−"
COMPLETE = 0.995
"""From this share of known work on, a share of the roof is of all of it."""


class Scale(NamedTuple):
    """The unit of a headline: us in one, its name, and how many decimals its numbers have."""

    us: float
    unit: str
    decimals: int

    @classmethod
    def of(cls, time_us: float) -> Self:
        """Three digits of `time_us`; from 99.5 on no decimals."""
        us, unit = next(
            (one for one in TIME_STEPS if time_us >= one[0] * _ROUNDS_UP), TIME_STEPS[-1]
        )
        number = time_us / us
        return cls(us, unit, 0 if number >= _NO_DECIMALS else 1 if number >= _ONE_DECIMAL else 2)

    def finer(self, time_us: float) -> Self:
        """The same unit with three digits of a shorter time."""
        number = time_us / self.us
        decimals = 0 if number >= _NO_DECIMALS else 1 if number >= _ONE_DECIMAL else 2
        return self._replace(decimals=max(self.decimals, decimals))

    def number(self, time_us: float) -> str:
        """A time in this unit, without it: "18.7"."""
        return fixed(self.decimals, time_us / self.us)

    def length(self, time_us: float) -> str:
        """A time with its unit: "34.9 ms"."""
        return f"{self.number(time_us)}{SPACE}{self.unit}"

    def least(self, time_us: float) -> str:
        """A time without its unit that is never written as 0: "less than 0.1"."""
        if time_us <= 0 or float(self.number(time_us).replace(",", "")):
            return self.number(time_us)
        return f"less than {fixed(self.decimals, 10.0**-self.decimals)}"

    def gain(self, time_us: float) -> str:
        """What can be gained, without the unit: "−2.4"; without a sign where that prints as 0."""
        number = self.number(time_us)
        return f"{MINUS}{number}" if number.strip("0.") else number

    def saving(self, time_us: float) -> str:
        """What a finding saves, with two digits: "−5.7 ms", "−62 ms"."""
        number = time_us / self.us
        if number >= _TWO_DIGITS:
            return f"{MINUS}{fixed(0, number)}{SPACE}{self.unit}"
        if number >= 1:
            return f"{MINUS}{fixed(1, number)}{SPACE}{self.unit}"
        return f"{MINUS}{fixed(2, number)}{SPACE}{self.unit}"


def marked(text: str, quantity: str, value: float) -> Segment:
    """A number of a headline: what it is ("length", "floor"), and its raw value in us or as a
    ratio, for those who read the page by machine."""
    return Segment(kind="plain", text=text, quantity=quantity, raw=value)


def whole_percent(ratio: float) -> str:
    """A ratio in whole percent; never 0 or 100 unless it is."""
    percent = ratio * 100
    if 0 < percent < 0.5:
        return f"<1{NARROW}%"
    if 99.5 <= percent < 100:
        return f">99{NARROW}%"
    return f"{fixed(0, percent)}{NARROW}%"
