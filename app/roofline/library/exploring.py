"""A stored profile with other number formats, and on other parts."""

import gzip
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from roofline.library.comparing import StoredRun

if TYPE_CHECKING:
    from roofline.compare.run import Run
    from roofline.exports.on_parts import OnPart

# The arithmetic is loaded when somebody asks: most servers answer other requests first.


def read_run(stored: StoredRun) -> "Run":
    """The run that a stored profile has."""
    from roofline.compare.run import run_from_json

    return replace(run_from_json(gzip.decompress(stored.packed)), label=stored.title)


def formats_over(stored: StoredRun, given: Mapping[str, Any]) -> dict[str, Any]:
    """The document of `roofline whatif --format json`; `given` are the fields of `Formats`."""
    from roofline.exports.number_formats import Formats, formats_record, with_formats

    return formats_record(with_formats(read_run(stored), Formats(**given)))


def parts_over(stored: StoredRun, names: Sequence[str], prices: str) -> list[dict[str, Any]]:
    """The run on parts; `BadViewError` for a part or a price that is not understood."""
    from roofline.exports.on_parts import parts_record

    return parts_record(on_parts_of(read_run(stored), names, prices))


def on_parts_of(run: "Run", names: Sequence[str], prices: str) -> "tuple[OnPart, ...]":
    """The same as records; all parts without names."""
    from roofline.devices.choice import known_part
    from roofline.exports.on_parts import on_parts, read_prices

    return on_parts(run, read_prices(prices), [known_part(name) for name in names])
