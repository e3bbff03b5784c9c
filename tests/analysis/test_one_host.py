"""One host of several has the numbers of its file alone; peaks follow the clock as in XProf."""

import json
from pathlib import Path
from typing import Any

import pytest

from roofline.analysis.one_host import hosts_alone
from roofline.errors import NoSuchRangeError
from roofline.exports.records import analysis_to_json
from roofline.exports.xprof import to_xprof
from roofline.model.memory import MemoryLevel
from roofline.pipeline import analyse_files

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "xspace"
THREE = sorted((GOLDEN / "s06_v5e_three_hosts").glob("*.xplane.pb"))
SLOWED = [GOLDEN / "s10_v6e_dvfs_overlap" / "host_0.xplane.pb"]


def record(**options: Any) -> Any:
    """The analysis of the three hosts as JSON, without its notes."""
    found = json.loads(analysis_to_json(analyse_files(**options), include_infeed_outfeed=True))
    return {name: value for name, value in found.items() if name != "diagnostics"}


def test_every_number_of_a_host_is_that_of_its_file_alone() -> None:
    shown = analyse_files(THREE, host="host-1")
    assert shown.diagnostics[0].code == "one-host"
    assert hosts_alone(shown.profile) == ("host-0", "host-1", "host-2")
    assert record(paths=THREE, host="host-1") == record(paths=THREE[1:2])
    part = (0.0, 1e9)
    cut = record(paths=THREE, host="host-1", range_ps=part)
    assert cut == record(paths=THREE[1:2], range_ps=part)
    one = to_xprof(analyse_files(THREE, host="host-2", xprof_compat=True))
    assert one == to_xprof(analyse_files(THREE[2:], xprof_compat=True))


def test_a_host_that_is_not_there_is_named_with_those_that_are() -> None:
    with pytest.raises(NoSuchRangeError) as refused:
        analyse_files(THREE, host="host-9")
    assert "host-0, host-1, host-2" in refused.value.remedy
    alone = analyse_files(THREE[:1], host="host-0")
    assert alone.profile.host == "" and hosts_alone(alone.profile) == ()


def test_peaks_follow_the_clock_as_with_the_switch_of_xprof() -> None:
    own, slowed = analyse_files(SLOWED), analyse_files(SLOWED, dvfs=True)
    scale = own.time_scale_multiplier
    assert scale is not None
    assert scale == pytest.approx(0.915516, abs=1e-6)  # XProf's own reference has these digits
    assert slowed.device.dvfs_scale == scale
    assert slowed.device.peak_gflops == pytest.approx(918_000 * scale)
    for level in (MemoryLevel.VMEM_READ, MemoryLevel.VMEM_WRITE):
        nominal = own.device.memory_gbs(level)
        assert nominal and slowed.device.memory_gbs(level) == pytest.approx(nominal * scale)
    assert slowed.device.memory_gbs(MemoryLevel.HBM) == own.device.memory_gbs(MemoryLevel.HBM)
    assert slowed.profile.ops.time_ps.tolist() == own.profile.ops.time_ps.tolist()
    with pytest.raises(NoSuchRangeError):
        analyse_files(THREE[:1], dvfs=True)
