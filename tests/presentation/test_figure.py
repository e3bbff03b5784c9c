"""The figure for notebooks: roofs, marks and the program."""

import pytest
from plotly.graph_objs import Figure, Scatter

from roofline.model.device import ReportedDevice
from roofline.model.memory import MemoryLevel
from roofline.presentation.figure import roofline_figure
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
    found = traces(roofline_figure(analysed(OPS, device=device)))
    assert list(found) == ["HBM 107.4 GB/s", "VMEM Read 966.4 GB/s", "x &amp; y", "Program"]
    assert found["x &amp; y"].text == ("&lt;b&gt;m",)
    assert found["x &amp; y"].y[0] == pytest.approx(800)
    assert found["Program"].y[0] == pytest.approx(4e8 / 600e3)


def test_roof_line_never_exceeds_the_compute_peak() -> None:
    roof = traces(roofline_figure(analysed(OPS)))["HBM 107.4 GB/s"]
    assert max(roof.y) == pytest.approx(1000)
    assert roof.y[1] == pytest.approx(1000)


@pytest.mark.parametrize("device", [reported(), reported(gflops=None, gibs={})])
def test_figure_of_no_ops_is_drawn(device: ReportedDevice) -> None:
    assert "Program" in traces(roofline_figure(analysed("", device=device)))
