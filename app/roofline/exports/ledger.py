"""The ledger of advice as files and text: JSON lines, CSV, predicted against measured."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import orjson

from roofline.advice.ledger import Entry, document_of, entry_from, hits_of, rates_of
from roofline.errors import CorruptProfileError
from roofline.exports.csv_files import csv_bytes
from roofline.presentation.json_text import to_json
from roofline.presentation.quantities import duration, significant
from roofline.presentation.text_table import plain, spaced

Record = dict[str, Any]

FORMATS = ("text", "json", "jsonl", "csv")


def entries_from_lines(content: bytes) -> list[Entry]:
    """The entries of JSON lines; `CorruptProfileError` where a line is not one."""
    try:
        documents = [orjson.loads(line) for line in content.splitlines() if line.strip()]
    except orjson.JSONDecodeError as error:
        raise CorruptProfileError(
            "This is not a ledger of advice: a line is not JSON.",
            remedy="Write it again with `roofline advise --accept`.",
        ) from error
    return [entry_from(one) for one in documents]


def entries_to_lines(entries: Sequence[Entry]) -> bytes:
    """One entry a line, as JSON."""
    return b"".join(to_json(document_of(one)) + b"\n" for one in entries)


def render_ledger(entries: Sequence[Entry], output_format: str) -> bytes:
    """Entries and hit rates as "text" or "json", the entries as "jsonl" or "csv"."""
    match output_format:
        case "jsonl":
            return entries_to_lines(entries)
        case "csv":
            return _csv(entries)
        case "json":
            return (
                to_json(
                    {
                        "entries": [document_of(one) for one in entries],
                        "rates": rate_records(entries),
                    }
                )
                + b"\n"
            )
        case _:
            return spaced("\n".join([*_lines(entries), ""])).encode()


def rate_records(entries: Sequence[Entry]) -> list[Record]:
    """Hit rates by rule and device."""
    return [
        {"rule": rule, "device": device, **asdict(rate), "corrects": rate.corrects}
        for (rule, device), rate in rates_of(hits_of(entries)).items()
    ]


def measured_lines(entries: Sequence[Entry]) -> list[str]:
    """Predicted against measured, a line each, for people."""
    return [_line(one) for one in entries if one.measured is not None]


def _line(one: Entry) -> str:
    if one.measured is None:
        told = one.reason or "not measured yet"
        saving = f", {duration(one.saving_us)}" if one.saving_us else ""
        return _plain(f"{one.profile}: {one.state}: {one.title}{saving}; {told} ({one.finding})")
    side = one.measured.side_us
    return _plain(
        f"{one.title} [{one.rule}]: predicted −{duration(one.saving_us)}, measured "
        f"{_signed(one.measured.term_us)} (hit {significant(one.hit)}); "
        f"all else in it {_signed(side)}"
    )


def _plain(text: str) -> str:
    return plain(spaced(text))


def _signed(us: float) -> str:
    return f"{'−' if us < 0 else '+'}{duration(abs(us))}"


def _lines(entries: Sequence[Entry]) -> list[str]:
    rates = [
        plain(
            f"{one['rule']} on {one['device']}: {one['count']} measured, median hit "
            f"{significant(one['median'])}, quartiles {significant(one['low'])} to "
            f"{significant(one['high'])}"
        )
        for one in rate_records(entries)
    ]
    return [*(_line(one) for one in entries), *(["", *rates] if rates else [])]


_COLUMNS = ("profile", "finding", "state", "at", "rule", "device", "unit", "term", "saving_us")


def _csv(entries: Sequence[Entry]) -> bytes:
    head = [*_COLUMNS, "measured_us", "side_us", "hit_ratio", "reason"]
    rows = [
        [
            *(getattr(one, name) for name in _COLUMNS),
            None if one.measured is None else one.measured.term_us,
            None if one.measured is None else one.measured.side_us,
            one.hit,
            one.reason,
        ]
        for one in entries
    ]
    return csv_bytes(head, rows)
