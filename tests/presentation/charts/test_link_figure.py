"""The strip of links: transfers by their share of a peak, what is off the scale, and its words."""

from typing import Any

from roofline.presentation.charts.link_figure import link_figure
from tests.presentation.charts.test_figures import page_of, sample_page

EFFICIENCY = "roofline_efficiency_ratio"


def with_shares(page: dict[str, Any], *shares: float | None) -> tuple[dict[str, Any], list[int]]:
    """The page whose transfers all go over the host link, with these shares of its peak."""
    shared, view = page["ops"]["columns"], page["views"]["in"]
    moving = [op for op in view["op"] if shared["cost"][op] == "transfer"]
    links = ["host" if op in moving else None for op in range(page["ops"]["count"])]
    cells = [shares[moving.index(op)] if op in moving else None for op in view["op"]]
    view["columns"] |= {EFFICIENCY: cells}
    shared["link"] = links
    return page, moving


def test_a_transfer_lies_by_its_share_of_the_peak_and_inside_of_its_lane() -> None:
    page, (first, second) = with_shares(sample_page("pytorch-h100-training"), 0.25, 2.0)
    figure = link_figure(page)
    (lane,) = figure["data"]
    places = dict(zip(lane["customdata"], zip(lane["x"], lane["y"], strict=True), strict=True))
    assert places[first][0] == 0.25
    assert 1 < places[second][0] < figure["layouts"]["wide"]["xaxis"]["range"][1]
    assert all(-1 < y < 0 for y in lane["y"])
    assert figure["beyond"] == {"right": [second]}
    assert "1 off scale" in figure.get("note", "")
    assert figure["layouts"]["wide"]["yaxis"]["ticktext"][0].startswith("Host link<br>")


def test_marks_of_one_place_lie_above_each_other() -> None:
    (lane,) = link_figure(with_shares(sample_page("pytorch-h100-training"), 0.5, 0.5)[0])["data"]
    assert len(set(lane["y"])) == 2


def test_what_has_no_known_share_is_counted_and_has_no_place() -> None:
    figure = link_figure(with_shares(sample_page("pytorch-h100-training"), None, None)[0])
    assert figure["data"] == []
    assert "2 transfers" in figure.get("note", "")
    assert "2 without a known share of the peak" in figure.get("note", "")
    nothing = link_figure(
        page_of("op | category | self_us | flop | hbm_bytes\na | dot | 1 | 1e4 | 1e3\n")
    )
    assert nothing.get("note") == ""
