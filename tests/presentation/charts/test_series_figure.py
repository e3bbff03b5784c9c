"""The chart of a series: places of runs, cut axes, and bands behind runs that broke a rule."""

from roofline.presentation.charts.series_figure import PlottedRun, series_figure


def run(time_us: float, roof_us: float | None = None, *, is_broken: bool = False) -> PlottedRun:
    return PlottedRun("<b>t", "2026-01-02T03:04:05Z", time_us, roof_us, None, is_broken)


def test_runs_lie_in_their_order_and_a_number_that_is_not_known_has_no_place() -> None:
    figure = series_figure([run(100), run(110, 4), run(90)])
    time, roof, share = (trace for trace in figure["data"] if trace["meta"]["role"] == "marks")
    assert (time["x"], time["y"]) == ([0, 1, 2], [100, 110, 90])
    assert (roof["x"], roof["customdata"], share["x"]) == ([1], [1], [])
    layout = figure["layouts"]["wide"]
    assert layout["xaxis"]["range"] == [-0.5, 2.5]
    assert layout["yaxis"]["ticktext"] == ["90.0\xa0µs", "110\xa0µs"]
    low, high = layout["yaxis"]["range"]
    assert 0 < low < 90
    assert high > 110
    titles = [trace["text"][0] for trace in figure["data"] if trace["meta"]["role"] == "names"]
    assert titles == ["Time", "Roof time, exact", "Of the roof: not known"]
    assert "&lt;b&gt;t" in time["hovertext"][0]


def test_noise_of_a_thousandth_does_not_fill_a_panel() -> None:
    low, high = series_figure([run(1000), run(1001)])["layouts"]["wide"]["yaxis"]["range"]
    assert high - low > 20


def test_neighbours_that_broke_a_rule_share_a_band() -> None:
    runs = [run(1), run(1, is_broken=True), run(1, is_broken=True), run(1), run(1, is_broken=True)]
    shapes = series_figure(runs)["layouts"]["wide"]["shapes"]
    assert [(one["x0"], one["x1"]) for one in shapes] == [(0.5, 2.5), (3.5, 4.5)]


def test_a_lasting_change_is_a_step_at_its_first_run() -> None:
    shapes = series_figure([run(1), run(1), run(2)], [(0, 2, 3, 1.0, 2.0)])["layouts"]["wide"]
    lines = [[one[key] for key in ("x0", "x1", "y0", "y1")] for one in shapes["shapes"]]
    assert lines == [[-0.5, 1.5, 1, 1], [1.5, 1.5, 1, 2], [1.5, 2.5, 2, 2]]
    assert {one["line"]["color"] for one in shapes["shapes"]} == {"--bad"}
