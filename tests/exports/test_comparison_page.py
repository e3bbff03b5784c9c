"""What only the drawing of a comparison needs: roofs above all points, and names that fit."""

from dataclasses import replace

from roofline.compare.comparison import compare
from roofline.exports.comparison_page import comparison_page
from tests.compare.runs import Row, make_run

NAME = "aten::mm [4096x4096, 4096x4096] bf16"
DOT = Row(name=NAME, operands="", time_us=80.0, flop=4e7, bytes=1e2)


def test_the_flat_roof_is_the_highest_unit_that_binds_an_operation() -> None:
    """An A100's main peak is that of fp32; kernels of its matrix unit lie above it."""
    run = make_run([DOT])
    matrix = replace(
        run,
        work={"matrix_fp16": run.work["compute"], "hbm": run.work["hbm"]},
        roof_us={"matrix_fp16": run.roof_us["compute"] / 20, "hbm": run.roof_us["hbm"]},
        peaks={**run.peaks, "matrix_fp16": 20 * run.peaks["compute"]},
    )
    page = comparison_page(compare([run], [matrix]))["page"]
    assert (page["roofs"]["a"]["gflops"], page["roofs"]["a"]["compute"]) == (1e3, None)
    assert (page["roofs"]["b"]["gflops"], page["roofs"]["b"]["compute"]) == (2e4, "Matrix fp16")
    assert page["short_names"] == {NAME: "aten::mm"}
