"""The steps of a language-model server as a table for the terminal."""

from roofline.analysis.records import RooflineAnalysis
from roofline.exports.text_table import spaced, table
from roofline.presentation.quantities import quantity
from roofline.presentation.serving import COLUMNS, batch_text, weights_range

# Others are in the JSON and on the page.
_LEFT_OUT = {"busy_us", "weight_ratio", "cache_ratio", "known_ratio", "longest_wait_us"}


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
    return f"{listed}\n{note}" if note else listed
