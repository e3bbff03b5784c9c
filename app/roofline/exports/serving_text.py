"""The steps of a language-model server as a table for the terminal."""

from collections.abc import Iterator

from roofline.analysis.records import RooflineAnalysis
from roofline.exports.serving_model import curve, served_model
from roofline.presentation.quantities import quantity
from roofline.presentation.serving import COLUMNS, batch_text, weights_range
from roofline.presentation.text_table import spaced, table

# Others are in the JSON and on the page.
_LEFT_OUT = {
    *("busy_us", "other_bytes", "weight_ratio", "cache_ratio", "known_ratio", "longest_wait_us"),
}
_WIDTH = 100


def serving_table(analysis: RooflineAnalysis) -> str:
    """A line per phase and batch; empty without steps of a server."""
    if analysis.serving is None:
        return ""
    columns = [column for column in COLUMNS if column.id not in _LEFT_OUT]
    rows = [
        [
            batch_text(group)
            if column.id == "batch"
            else spaced(quantity(getattr(group, column.id), column.unit))
            for column in columns
        ]
        for group in analysis.serving.groups
    ]
    note = weights_range(analysis.serving.groups)
    listed = table([column.label for column in columns], rows, left={0})
    from textwrap import wrap  # only reports need it

    return "\n".join([listed, *wrap(note, _WIDTH), *_curve(analysis)])


def _curve(analysis: RooflineAnalysis) -> Iterator[str]:
    """The cost of other batches and contexts of the same model at the roofs."""
    model, points = served_model(analysis), curve(analysis)
    if model is None:
        return
    yield f"The sizes are those of {model.name}:"
    yield f"  {model.command}"
    if not points:
        return
    batches = list(dict.fromkeys(point.batch for point in points))
    times = {(point.context, point.batch): point.step_us for point in points}
    rows = [
        [f"{context:,}", *(_time(times.get((context, batch))) for batch in batches)]
        for context in dict.fromkeys(point.context for point in points)
    ]
    yield "Its decode step at the roofs, by context of a sequence and batch:"
    yield table(["context", *(f"batch {batch:,}" for batch in batches)], rows, left=set())


def _time(step_us: float | None) -> str:
    return spaced(quantity(step_us, "time_us"))
