"""The table of a subject on parts of the catalogue for a terminal, with prices."""

from collections.abc import Mapping, Sequence
from typing import Any

from roofline.presentation.other_device_words import HEADS
from roofline.presentation.quantities import significant
from roofline.presentation.text_table import plain, spaced, table

Record = Mapping[str, Any]

_SECONDS_PER_HOUR = 3600.0  # a million times us is seconds


def dollars_per_million(time_us: float | None, price: float | None) -> float | None:
    """The price of a million units at `price` dollars per device hour; `None` is not known."""
    return None if time_us is None or price is None else time_us * price / _SECONDS_PER_HOUR


def parts_text(found: Record, prices: Mapping[str, float]) -> str:
    """`presentation.other_devices.on_parts` as a table, and its notes."""
    here, others = found["here"], [*found["devices"], *found["usual"]]
    heads = (*HEADS, *(("$ per million",) if prices else ()))
    rows = [(f"{here['name']}, here", *here["texts"])]
    rows += [(f"{one['name']} ({one['id']})", *one["texts"]) for one in others]
    if prices:
        known = [None, *(prices.get(one["id"]) for one in others)]
        rows = [
            (*row, significant(dollars_per_million(one["time_us"], price)))
            for row, one, price in zip(rows, (here, *others), known, strict=True)
        ]
    return spaced(table(heads, rows, left={0, 3})) + "".join(_notes((here, *others)))


def ops_text(found: Record, count: int) -> str:
    """The longest operations on this device and on each that was named, at best."""
    here, others = found["here"], found["devices"]
    heads = ("Operation", "here", *(one["id"] for one in others))
    names = [plain(name)[:_LONGEST_NAME] for name in found["ops"]]
    rows = list(zip(names, here["best"], *(one["best"] for one in others), strict=True))
    return spaced(table(heads, rows[:count], left=set(range(len(heads))))) + _AT_BEST


_LONGEST_NAME = 60
_AT_BEST = "\nAt best: rate, share of the peak of its unit, and what binds it.\n"


def _notes(lines: Sequence[Record]) -> list[str]:
    """Each sentence once, with the parts that it is about."""
    found: dict[str, list[str]] = {}
    for line in lines:
        for note in line["notes"]:
            found.setdefault(note, []).append(line["name"])
    return [f"\n{', '.join(names)}: {note}\n" for note, names in found.items()]
