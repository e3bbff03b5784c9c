"""What the page of a comparison says before any script runs."""

from roofline.compare.comparison import compare
from roofline.exports.comparison_page import comparison_frame, comparison_page
from tests.compare.runs import Row, make_run

ROWS = [
    Row(name="mm", path="Net/MLP/mm", time_us=80.0),
    Row(name="add", path="Net/Norm/add", time_us=20.0),
]
FASTER = [Row(name="mm", path="Net/MLP/mm", time_us=70.0), ROWS[1]]


def test_the_frame_has_sentences_rows_and_the_terms_that_print() -> None:
    found = compare([make_run(ROWS, label="x")], [make_run(FASTER, label="y", idle_us=4.0)])
    frame = comparison_frame(found)
    assert frame["place_heads"] == ("Module", "x, µs", "y, µs", "Change", "Of the roof")
    assert [row[:4] for row in frame["places"]] == [
        ("MLP", "80.0", "70.0", "−10.0"),
        ("idle time", "0.0", "4.0", "+4.0"),
        ("Norm", "20.0", "20.0", "0"),
    ]
    assert [(one["label"], one["is_more"]) for one in frame["terms"]] == [
        ("use of the hardware", False),
        ("idle time", True),
    ]
    assert [one["share"] for one in frame["terms"]] == [1.0, 0.4]
    assert frame["op_count"] == 2
    assert frame["longest_us"] == 100.0
    assert frame["state"] == "less"


def test_the_model_is_doubted_only_where_a_check_tells() -> None:
    unknown = [Row(name="a", flop=float("nan"), bytes=float("nan"))]
    assert comparison_frame(compare([make_run(unknown)], [make_run(unknown)]))["checks"] == []
    assert comparison_frame(compare([make_run(ROWS)], [make_run(FASTER)]))["checks"]


def test_the_table_gets_the_looks_of_its_categories_and_bounds() -> None:
    page = comparison_page(compare([make_run(ROWS)], [make_run(FASTER)]))["page"]
    assert list(page["styles"]) == ["fusion"]
    assert page["bounds"]["hbm"]["label"] == "HBM"
