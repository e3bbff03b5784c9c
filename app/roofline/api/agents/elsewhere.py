"""What an agent is told of a profile on another part, in other formats, under other peaks."""

from collections.abc import Sequence

from roofline.analysis.analyse import prepare
from roofline.analysis.records import AnalysisOptions
from roofline.api.agents.answers import OPS_SHOWN, answer, cell, head, number, quoted, tsv
from roofline.api.agents.reading import Reading
from roofline.compare.from_analysis import run_of
from roofline.devices import catalogue
from roofline.devices.choice import known_part
from roofline.exports.certainty import MODELLED
from roofline.exports.number_formats import Formats, formats_record, with_formats
from roofline.presentation.other_device_words import HEADS
from roofline.presentation.other_devices import on_parts, usual_parts

_OPS_ON_PART = 5


def on_part(reading: Reading, device: str) -> str:
    """The subject and its longest operations on another part, at best.

    Raises `BadViewError` for a part that the catalogue does not have.
    """
    analysis = reading.profile.analysis
    part = known_part(device)
    usual = usual_parts(catalogue.find(analysis.device.part_id or ""))
    prepared = prepare(analysis.profile, AnalysisOptions())
    subject = reading.profile.answered.answer.subject
    found = on_parts(prepared, analysis, subject, [part], usual)
    here, others = found["here"], [*found["devices"], *found["usual"]]
    rows = [(quoted(f"{here['name']}, here"), *(one or "-" for one in here["texts"]))]
    rows += [(quoted(one["name"]), *one["texts"]) for one in others]
    lines = tsv(HEADS, [[cell(one) for one in row] for row in rows])
    lines += [f"{quoted(one['name'])}: {cell(note)}" for one in others for note in one["notes"]]
    best = zip(found["ops"], here["best"], found["devices"][0]["best"], strict=True)
    ops = [(quoted(name), cell(ours), cell(theirs)) for name, ours, theirs in best]
    lines += ["the longest operations, at best: rate, share of the peak, and what it is held by:"]
    lines += tsv(("name", "here", part.id), ops[:_OPS_ON_PART])
    return _modelled(f"on {cell(part.name)}", lines, reading)


def in_formats(reading: Reading, chosen: Formats) -> str:
    """The subject with tensors stored, or products computed, in another number format."""
    run = run_of(reading.profile.analysis, reading.name)
    record = formats_record(with_formats(run, chosen))
    named = ", ".join(one for one in (chosen.storage, chosen.compute) if one)
    facts = [
        (key, number(record[key])) for key in ("now_us", "after_us", "saving_us", "unknown_share")
    ]
    rows = [
        (
            *(number(one[key]) for key in ("now_us", "after_us")),
            one["limited_by"] or "-",
            quoted(one["name"]),
        )
        for one in record["ops"][:OPS_SHOWN]
    ]
    lines = tsv(("quantity", "value"), facts)
    lines += tsv(("now_us", "after_us", "limited_by", "name"), rows)
    return _modelled(f"in {cell(named)}", lines, reading)


def under_peaks(reading: Reading, peaks: Sequence[str]) -> str:
    """The profile under peaks that were given: `reading` is under them already."""
    return _modelled(f"under {cell(', '.join(peaks))}", head(reading), reading)


def _modelled(what: str, lines: Sequence[str], reading: Reading) -> str:
    first = f"{quoted(reading.name)} {what}: a calculation from this profile (certain: {MODELLED})"
    return answer([first, *lines], [])
