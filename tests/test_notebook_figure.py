"""The figure for notebooks: the one of the page, in light colours, as Plotly validates it."""

import pytest
from plotly.graph_objs import Figure, Scatter

from roofline.model.device import ReportedDevice
from roofline.model.memory import MemoryLevel
from roofline.notebook import OpenProfile
from tests.builders import analysed, reported

OPS = """
op     | category | self_us | flop | hbm_bytes
<b>m   | x & y    | 500     | 4e8  | 1e6
copy   | copy     | 100     | 0    | 1e6
"""


def traces(figure: Figure) -> dict[str, Scatter]:
    return {trace.name: trace for trace in figure.data}


def test_figure_has_a_line_per_roof_and_a_mark_per_op_with_flops() -> None:
    device = reported(gibs={MemoryLevel.HBM: 100.0, MemoryLevel.VMEM_READ: 900.0})
    found = traces(OpenProfile(analysed(OPS, device=device)).figure())
    assert {"HBM 107.37\u00a0GB/s", "x &amp; y", "program"} <= found.keys()
    assert found["x &amp; y"].hovertext == ("&lt;b&gt;m",)
    assert found["x &amp; y"].y[0] == pytest.approx(800)
    assert found["program"].y[0] == pytest.approx(4e8 / 600e3, rel=1e-5)


def test_names_of_roofs_are_texts_with_their_peaks() -> None:
    found = traces(OpenProfile(analysed(OPS)).figure())
    assert any("HBM" in text and "GB/s" in text for text in found["names"].text)


def test_roof_line_never_exceeds_the_compute_peak() -> None:
    roof = traces(OpenProfile(analysed(OPS)).figure())["HBM 107.37\u00a0GB/s"]
    assert max(roof.y) == pytest.approx(1000)


def test_colours_are_values() -> None:
    figure = OpenProfile(analysed(OPS)).figure().to_json()
    assert figure is not None
    assert '"--' not in figure


@pytest.mark.parametrize("device", [reported(), reported(gflops=None, gibs={})])
def test_figure_of_no_ops_is_drawn(device: ReportedDevice) -> None:
    assert "program" in traces(OpenProfile(analysed("", device=device)).figure())
