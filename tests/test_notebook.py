"""Frames and figures for notebooks: the page's numbers, in the forms notebooks use."""

from pathlib import Path

from roofline.notebook import open_profile

SAMPLE = Path(__file__).parents[1] / "sample_profiles" / "xspace" / "v6e-training.xplane.pb"


def test_frame_has_the_listed_ops_with_units_in_its_columns() -> None:
    profile = open_profile(SAMPLE)
    frame = profile.frame()
    assert len(frame) == len(profile.analysis.with_infeed.op)
    assert frame["self_time_us"].is_monotonic_decreasing
    assert frame.loc[frame["cost"] == "idle", "flop_rate_gflops"].isna().all()
    assert abs(frame["self_share_ratio"].sum() - 1) < 1e-9


def test_frame_without_infeed_has_no_infeed_ops() -> None:
    frame = open_profile(SAMPLE).frame(include_infeed_outfeed=False)
    assert not frame["category"].str.contains("infeed|outfeed").any()


def test_figure_draws_roofs_ops_and_program() -> None:
    profile = open_profile(SAMPLE)
    figure = profile.figure()
    names = [trace.name for trace in figure.data]
    assert any(name.startswith("HBM ") for name in names)
    assert names[-1] == "program"
    assert figure.layout.xaxis.type == figure.layout.yaxis.type == "log"
