"""A run on parts of the catalogue: least times by hand, work without a peak, prices."""

from dataclasses import replace

import pytest

from roofline.devices.choice import known_part
from roofline.errors import BadViewError
from roofline.exports.on_parts import intensity_of, on_parts, parts_record, read_prices
from tests.compare.runs import Row, make_run

ROWS = [Row(name="mm", flop=3.94e9, bytes=1e6), Row(name="add", flop=1e6, bytes=8.19e6)]


def test_least_time_is_the_longest_clock_of_each_op() -> None:
    """v5e: 3.94 GFLOP at 197 TFLOP/s are 20 us, 8.19 MB at 819 GB/s are 10 us."""
    (found,) = on_parts(make_run(ROWS), {"tpu-v5e": 3.6}, [known_part("tpu-v5e")])
    assert found.least_us == pytest.approx(30)
    assert found.memory_bound_share == pytest.approx(1 / 3)
    assert found.peak_ratio == pytest.approx(3.941e9 / 30 / 1.97e8)
    assert found.dollars == pytest.approx(30 / 1000)
    assert found.known_share == 1
    (record,) = parts_record([found])
    assert record["ridges"][0]["flop_per_byte"] == pytest.approx(240.5, abs=0.1)
    assert record["ridges"][0]["rows"] == pytest.approx(240.5, abs=0.1)
    assert {"link": "ici", "label": "ICI", "gbs": 50.0} in record["links"]


def test_work_without_a_peak_there_says_nothing() -> None:
    run = make_run(ROWS)
    fp8 = replace(
        run,
        work={"matrix_fp8": run.work["compute"], "hbm": run.work["hbm"]},
        roof_us={"matrix_fp8": run.roof_us["compute"], "hbm": run.roof_us["hbm"]},
    )
    (found,) = on_parts(fp8, None, [known_part("v100-sxm2")])
    assert (found.least_us, found.gflops, found.peak_ratio) == (None, None, None)


def test_every_part_has_an_answer_or_none() -> None:
    found = on_parts(make_run(ROWS))
    assert len(found) > 60
    assert all(one.peak_ratio is None or one.peak_ratio <= 1 for one in found)
    assert intensity_of(make_run(ROWS)) == pytest.approx(3.941e9 / 9.19e6)


def test_prices_are_read_and_refused() -> None:
    assert read_prices("h100-sxm=2.5, mi300x=2") == {"h100-sxm": 2.5, "mi300x": 2.0}
    for text in ("h100-sxm", "h100-sxm=free", "h100-sxm=-1"):
        with pytest.raises(BadViewError, match="is not a price"):
            read_prices(text)
