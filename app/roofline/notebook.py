"""Rooflines in a notebook: the same numbers as the page, as a pandas frame or a Plotly figure.

from roofline.notebook import open_profile
profile = open_profile("host_0.xplane.pb")
profile.frame().sort_values("saving_per_core_us").tail()
profile.figure()
"""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from roofline.analysis.records import RooflineAnalysis
from roofline.exports.records import op_records
from roofline.pipeline import analyse_files

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go


@dataclass(frozen=True, slots=True)
class OpenProfile:
    """An analysed profile; `analysis` has everything, the methods hand out what notebooks use."""

    analysis: RooflineAnalysis

    def frame(self, *, include_infeed_outfeed: bool = True) -> "pd.DataFrame":
        """Every op by self time, one row each; columns carry units, unknown values are NaN."""
        # pandas takes a second to import, and only this needs it.
        import pandas as pd

        return pd.DataFrame(
            op_records(self.analysis, include_infeed_outfeed=include_infeed_outfeed)
        )

    def figure(self, *, include_infeed_outfeed: bool = True) -> "go.Figure":
        """The roofline of the listed ops and the program."""
        from roofline.presentation.figure import roofline_figure

        return roofline_figure(self.analysis, include_infeed_outfeed=include_infeed_outfeed)


def open_profile(*paths: str | Path) -> OpenProfile:
    """Read and analyse a profile: one path per host, or archives of them.

    Raises `RooflineError` with a remedy for files that cannot be read.
    """
    return OpenProfile(analyse_files([Path(path) for path in paths]))
