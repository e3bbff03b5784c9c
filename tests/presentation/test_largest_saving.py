"""The largest saving: clipped by the next roof, and of exposed time only."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from roofline.analysis.analyse import analyse
from roofline.analysis.records import AnalysisOptions, RooflineAnalysis
from roofline.devices import resolve
from roofline.model.memory import MemoryLevel
from roofline.model.profile import Profile
from roofline.model.timeline import WHOLE_CAPTURE, WorkTimes
from roofline.pipeline import analyse_files
from roofline.presentation.largest_saving import LargestSaving, largest_saving
from roofline.presentation.sentences import plain_text
from roofline.presentation.verdict import build_verdict
from tests.builders import ABSENT, analysed
from tests.moving import moving
from tests.narrowing import known

SHARED = Path(__file__).resolve().parents[2].parent / "shared"
OPS = """
op    | category | self_us | flop | hbm_bytes
a     | fusion   | 100     | 5e7  | 1e6
b     | fusion   | 100     | 0    | 5e6
c     | copy     | 90      | 0    | 1e6
"""


def saving(analysis: RooflineAnalysis) -> LargestSaving:
    return known(largest_saving(analysis, analysis.with_infeed))


def names(analysis: RooflineAnalysis) -> list[str]:
    return [analysis.ops.name[op] for op in saving(analysis).ops]


def with_work(profile: Profile, *own_us: float) -> Profile:
    """`profile`, of whose first ops so much time is theirs alone."""
    line = known(profile.timeline)
    n_ops = len(own_us)
    work = WorkTimes(
        core=np.zeros(n_ops, np.int64),
        scope=np.full(n_ops, WHOLE_CAPTURE),
        op=np.arange(len(profile.ops) - n_ops, len(profile.ops)),
        time_ps=np.array(own_us) * 1e6,
        calls=np.ones(n_ops),
        is_work=np.ones(n_ops, np.bool_),
    )
    return replace(profile, timeline=replace(line, work=work))


def test_category_that_would_save_most_at_its_roofs() -> None:
    analysis = analysed(OPS)
    roof_us = 5e6 / (100 * 2**30) * 1e6
    assert names(analysis) == ["b", "a"]
    assert saving(analysis).saving_us == pytest.approx(50 + 100 - roof_us)
    assert saving(analysis).limited_by == "hbm"


def test_one_category_for_all_tells_the_op() -> None:
    analysis = analysed(OPS.replace("copy  ", "fusion"))
    assert names(analysis) == ["c"]
    assert saving(analysis).of.is_op


def test_infeed_is_no_saving_of_the_device() -> None:
    """It waits for the host: its distance from the roof of a memory says nothing."""
    analysis = analysed(OPS + "feed | infeed | 900 | 0 | 1e6\n")
    assert names(analysis) == ["b", "a"]


def test_transfers_save_what_is_exposed_beyond_their_link() -> None:
    profile = with_work(moving(), 10.0)
    analysis = analyse(profile, resolve(profile.device), AnalysisOptions())
    best = saving(analysis)
    assert (best.limited_by, best.link) == ("ici", MemoryLevel.ICI)
    assert best.saving_us == pytest.approx(20)
    assert names(analysis) == ["all-reduce.1"]


@pytest.mark.parametrize(("own_us", "expected"), [(100.0, 90.2), (30.0, 20.2)])
def test_time_that_other_work_shares_is_not_saved(own_us: float, expected: float) -> None:
    profile = with_work(moving(), own_us)
    analysis = analyse(profile, resolve(profile.device), AnalysisOptions())
    assert names(analysis) == ["matmul"]
    assert saving(analysis).saving_us == pytest.approx(expected, abs=0.01)


def test_too_little_known_promises_nothing() -> None:
    table = f"op|self_us|flop|hbm_bytes\na|900|{ABSENT}|{ABSENT}\nb|1|0|1"
    analysis = analysed(table)
    assert largest_saving(analysis, analysis.with_infeed) is None
    at_roof = analysed("op|self_us|flop|hbm_bytes\na|100|1e8|1e3")
    assert largest_saving(at_roof, at_roof.with_infeed) is None


@pytest.mark.skipif(not SHARED.is_dir(), reason="needs the shared folder")
def test_v6e_inference_saves_host_transfers() -> None:
    analysis = analyse_files([SHARED / "profiles" / "tpu-v6e-inference" / "host_0.xplane.pb"])
    best = saving(analysis)
    assert best.saving_us / 1e6 == pytest.approx(8.899, abs=0.001)
    assert best.limited_by == "host"
    assert set(names(analysis)) == {"copy-done", "copy-done.2", "copy-done.4", "copy-done.5"}
    lead = plain_text(build_verdict(analysis, analysis.with_infeed).lead).replace("\u00a0", " ")
    assert "Largest saving: host transfers, 8.90 s of 90.9 s" in lead
