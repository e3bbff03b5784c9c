"""Rooflines in a notebook: the same numbers as the page, as a pandas frame or a Plotly figure.

from roofline.notebook import open_profile
profile = open_profile("host_0.xplane.pb")
profile.frame().sort_values("saving_per_core_us").tail()
profile.figure()
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from roofline.errors import ExtraMissingError

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

    from roofline.analysis.records import RooflineAnalysis

# Everything else is imported by the call that needs it, because it loads slowly: a notebook's first
# cell imports this module, and most notebooks draw no figure.


@dataclass(frozen=True, slots=True)
class OpenProfile:
    """An analysed profile; `analysis` has everything, the methods hand out what notebooks use."""

    analysis: "RooflineAnalysis"

    def frame(self, *, include_infeed_outfeed: bool = True) -> "pd.DataFrame":
        """Every op by self time, one row each; columns carry units, unknown values are NaN.

        Raises `ExtraMissingError` without pandas.
        """
        try:
            import pandas as pd
        except ModuleNotFoundError as error:
            raise ExtraMissingError.of("notebook") from error
        from roofline.exports.records import op_records

        return pd.DataFrame(
            op_records(self.analysis, include_infeed_outfeed=include_infeed_outfeed)
        )

    def figure(self, *, include_infeed_outfeed: bool = True) -> "go.Figure":
        """The roofline of the listed ops and the program, as on the page, in light colours.

        Raises `ExtraMissingError` without plotly.
        """
        try:
            import plotly.graph_objects as go
        except ModuleNotFoundError as error:
            raise ExtraMissingError.of("notebook") from error
        from roofline.exports.answering import answer_of
        from roofline.figures.figure import inert, of_width, painted
        from roofline.presentation.charts.choices import ChartChoice
        from roofline.presentation.charts.op_figure import op_figure
        from roofline.presentation.light_theme import LIGHT
        from roofline.presentation.page import PageIdentity, page_data

        page = page_data(
            self.analysis, answer_of(self.analysis), PageIdentity(id="", created_at="")
        )
        choice = ChartChoice(infeed="in" if include_infeed_outfeed else "out")
        drawn = of_width(op_figure(page, choice), "wide")
        device = self.analysis.device
        traces = [_with_hover(trace, page) for trace in drawn["data"]]
        layout = drawn["layout"] | {
            "title": {"text": inert(f"{device.name}, per {device.core_word}")},
            "margin": None,
            "showlegend": True,
            "paper_bgcolor": "white",
            "height": _HEIGHT,
        }
        found = painted({"data": traces, "layout": layout}, LIGHT.__getitem__)
        return go.Figure(found)


_HEIGHT = 560  # pixels
_IN_LEGEND = ("roof", "marks", "program")


def _with_hover(trace: dict[str, Any], page: Mapping[str, Any]) -> dict[str, Any]:
    """The page has a card of its own beside the pointer; a notebook shows the name of the op."""
    from roofline.analysis.records import Timing
    from roofline.figures.figure import inert

    role = trace["meta"]["role"]
    shown = trace | {"showlegend": role in _IN_LEGEND}
    if role != "marks":
        return shown
    columns = page["ops"]["columns"]
    timing = columns.get("timing")
    names = [
        inert(columns["name"][op])
        + (", at best" if timing and timing[op] == Timing.PREDICTED.value else "")
        for op in trace["customdata"]
    ]
    return shown | {"hovertext": names, "hoverinfo": "text"}


def open_profile(*paths: str | Path) -> OpenProfile:
    """Read and analyse a profile: one path per host, or archives of them.

    Raises `RooflineError` with a remedy for files that cannot be read.
    """
    from roofline.pipeline import analyse_files

    return OpenProfile(analyse_files([Path(path) for path in paths]))
