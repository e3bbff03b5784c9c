"""Other number formats over a run: bytes, roofs, the next roof, and what is not known."""

from dataclasses import replace
from typing import Any

import pytest

from roofline.compare.run import Run
from roofline.errors import BadViewError
from roofline.exports.number_formats import Formats, formats_record, formats_text, with_formats
from tests.compare.runs import Row, make_run

# At 1e6 FLOP/us and 1e3 bytes/us `mm` needs 40 us of arithmetic and 10 us of memory.
MM = Row(name="mm", category="matmul", operands="bf16[100,40]; bf16[40,25]", flop=4e7, time_us=80.0)
ADD = Row(name="add", category="elementwise", operands="f32[2500]; s32[7]", flop=1e6, time_us=20.0)


def run(*rows: Row) -> Run:
    made = make_run(rows)
    return replace(made, peaks={**made.peaks, "matrix_fp8": 2e6, "matrix_bf16": 1e6})


def after_us(formats: Formats, *rows: Row) -> float:
    return float(formats_record(with_formats(run(*rows), formats))["after_us"])


@pytest.mark.parametrize(
    ("storage", "us"),
    [
        ("bf16", 10 * (5000 + 28) / 10028 * 2),
        ("fp8", 10 * (2500 + 28) / 10028 * 2),
        ("fp32", 20.0),
    ],
)
def test_storage_changes_bytes_of_floats_alone(storage: str, us: float) -> None:
    """10 us of memory at half of the roof; the seven integers keep their 28 bytes."""
    assert after_us(Formats(storage=storage), ADD) == pytest.approx(us)


@pytest.mark.covers(128)
def test_a_faster_unit_saves_nothing_where_memory_binds() -> None:
    """1 us of arithmetic beside 10 us of memory: in fp8 it is half a microsecond."""
    assert after_us(Formats(compute="fp8"), replace(MM, flop=1e6)) == pytest.approx(80.0)


def test_an_optimizer_keeps_its_formats() -> None:
    """Adam's row and sums in fp32 beside bf16 keep theirs: 7,500 of 12,500 bytes are left."""
    adam = replace(ADD, name="_foreach_add", time_us=30.0)
    mixed = replace(ADD, operands="bf16[2500]; f32[1875]")
    left = formats_record(with_formats(run(adam, mixed), Formats(storage="fp8")))
    assert left["state_us"] == 30
    assert [one["name"] for one in left["ops"]] == ["add"]
    assert left["bytes"]["after"] == pytest.approx(1e4 + 1e4 * 10_000 / 12_500)
    assert "Left out: 30.0" in formats_text(left)
    every = formats_record(with_formats(run(adam, mixed), Formats(storage="fp8", tensors="all")))
    assert {one["name"] for one in every["ops"]} == {"_foreach_add", "add"}
    assert "master weights and moments are lost" in formats_text(every)


def test_a_saving_ends_at_the_next_roof() -> None:
    """At an eighth of the bytes, 1 us of arithmetic at half of the roof is longer: 2 us."""
    near = replace(ADD, operands="f32[2500]", flop=2e6)
    assert after_us(Formats(storage="fp4"), near) == pytest.approx(4.0)


def test_scales_of_groups_are_bytes() -> None:
    four = replace(ADD, operands="f32[2560]", flop=0.0)
    plain, grouped = (after_us(Formats(storage=one), four) for one in ("int4", "int4:g128"))
    assert (plain, grouped) == pytest.approx((20 / 8, 20 * (0.5 + 4 / 128) / 4))


def test_weights_alone_change_their_part_of_the_bytes() -> None:
    """Weights are 2,000 of 10,000 bytes: int8 leaves 9,000, and arithmetic still binds."""
    record = formats_record(with_formats(run(MM), Formats(storage="int8", tensors="weights")))
    assert record["bytes"] == {"now": 1e4, "after": 9e3}
    assert record["saving_us"] == 0
    assert record["rows_from_which_arithmetic_binds"] == {"now": 1000.0, "after": 500.0}


@pytest.mark.covers(127, 218)
def test_compute_changes_the_roof_of_products_alone() -> None:
    record = formats_record(with_formats(run(MM, ADD), Formats(compute="fp8")))
    assert (record["now_us"], record["after_us"]) == pytest.approx((100, 20 + 1.13 * 40))
    (row,) = record["ops"]
    assert (row["name"], row["bound"], row["limited_by"]) == ("mm", "compute", "matrix_fp8")
    assert record["unknown_share"] == pytest.approx(0.2)
    both = formats_record(with_formats(run(MM), Formats(storage="fp8", compute="fp8")))
    assert both["rows_from_which_arithmetic_binds"] == {"now": 1000.0, "after": 1000.0}


def test_fp8_is_harder_to_reach_and_not_of_attention() -> None:
    """mm has half of its roof, 80 us for 40; in fp8 20 us of arithmetic at 1/1.13 of that half. Of
    attention no kernel is assumed, and where memory binds, nothing is harder."""
    attention = replace(MM, name="aten::_scaled_dot_product_flash_attention", category="attention")
    assert after_us(Formats(compute="fp8"), attention) == 80
    wide = replace(MM, operands="bf16[1000,4]; bf16[4,1000]", bytes=3e4)
    assert after_us(Formats(compute="fp8"), wide) == pytest.approx(80 * 30 / 40)


@pytest.mark.parametrize("chosen", [{"category": "Matmul"}, {"op": "mm"}])
def test_operations_are_chosen_by_category_or_name(chosen: dict[str, Any]) -> None:
    record = formats_record(with_formats(run(MM, ADD), Formats(storage="fp8", **chosen)))
    assert [one["name"] for one in record["ops"]] == ["mm"]


def test_operations_without_tensors_or_above_the_roof_keep_their_time() -> None:
    rows = (replace(ADD, operands=""), replace(ADD, name="fast", time_us=5.0))
    record = formats_record(with_formats(run(*rows), Formats(storage="bf16")))
    assert (record["saving_us"], record["unknown_share"]) == (0, 1)
    assert "Not told: 100 %" in formats_text(record)


@pytest.mark.parametrize(
    ("formats", "said"),
    [
        (Formats(), "No number format"),
        (Formats(compute="int4"), "no known rate"),
        (Formats(storage="bf15"), "not an element type"),
        (Formats(storage="fp8", tensors="some"), "does not name tensors"),
    ],
)
def test_formats_that_cannot_be_used_are_refused(formats: Formats, said: str) -> None:
    with pytest.raises(BadViewError, match=said):
        with_formats(run(MM), formats)


def test_a_run_without_work_or_peaks_is_refused() -> None:
    with pytest.raises(BadViewError, match="no format changes a time"):
        with_formats(replace(run(MM), roof_us={}), Formats(storage="fp8"))


def linked(*rows: Row, exposed_us: float = 0.0, fixed: float = 0.0) -> Run:
    """Rows, and communication that nothing hides beside them."""
    made = run(*rows)
    units = {
        name: replace(
            times,
            parts={**times.parts, "communication": exposed_us},
            total_us=times.total_us + exposed_us,
        )
        for name, times in made.units.items()
    }
    return replace(made, units=units, fixed_link_ratio=fixed)


@pytest.mark.parametrize(("fixed", "saved"), [(0.0, 20.0), (0.25, 15.0)])
def test_half_of_the_bytes_over_links_is_half_of_what_follows_them(
    fixed: float, saved: float
) -> None:
    """40 us of communication; a quarter of it may be latency and waiting."""
    record = formats_record(
        with_formats(linked(MM, exposed_us=40.0, fixed=fixed), Formats(link_bytes=0.5))
    )
    assert (record["now_us"], record["saving_us"]) == pytest.approx((120, saved))
    times = {"now_us": 40.0, "after_us": 40.0 - saved, "fixed_ratio": fixed}
    assert record["communication"] == pytest.approx(times)
    assert record["unknown_share"] is None
    text = formats_text(record)
    assert f"Communication that nothing hides: 40.0 µs → {40 - saved:.1f} µs with 50.0 %" in text
    assert "Bytes of the main memory" not in text


def test_collectives_in_a_table_without_a_timeline_are_operations() -> None:
    """Both savings add up, each of its own time."""
    ring = replace(ADD, name="all-reduce.1", category="all-reduce", operands="", flop=0.0)
    both = Formats(storage="bf16", link_bytes=0.25)
    record = formats_record(with_formats(linked(ADD, ring), both))
    adds = 20.0 - 10 * (5000 + 28) / 10028 * 2
    assert record["saving_us"] == pytest.approx(adds + 15.0)
    assert {one["name"] for one in record["ops"]} == {"add", "all-reduce.1"}


@pytest.mark.parametrize("part", [0.0, -1.0, float("nan"), 101.0])
def test_no_share_of_bytes_over_links(part: float) -> None:
    with pytest.raises(BadViewError, match="not above 0"):
        with_formats(linked(MM, exposed_us=1.0), Formats(link_bytes=part))


def test_without_communication_no_link_saves_a_time() -> None:
    with pytest.raises(BadViewError, match="no time in communication"):
        with_formats(linked(MM), Formats(link_bytes=0.5))
