"""The generic export is read again: same ops, same work, same roofs, same bounds."""

from pathlib import Path

import numpy as np
import pytest

from roofline.analysis.records import RooflineAnalysis
from roofline.devices.resolve import resolve
from roofline.errors import IncompleteProfileError
from roofline.exports.generic import SCHEMA, to_generic
from roofline.importers.generic.documents import SCHEMA as SCHEMA_READ
from roofline.library.samples import Sample, find_samples
from roofline.model.categories import is_container
from roofline.model.ceilings import Ceiling
from roofline.model.memory import MemoryLevel
from tests.builders import analysed, analysis_on
from tests.moving import moving
from tests.profiles import imported

SAMPLES = find_samples(Path(__file__).resolve().parents[2] / "sample_profiles")


def read(*paths: Path) -> RooflineAnalysis:
    profile = imported(*paths)
    return analysis_on(profile, resolve(profile.device, catalogue=False))


def again(analysis: RooflineAnalysis, path: Path, *, infeed: bool = True) -> RooflineAnalysis:
    path.write_bytes(to_generic(analysis, include_infeed_outfeed=infeed))
    return read(path)


def test_schema_is_the_one_that_is_read() -> None:
    assert SCHEMA == SCHEMA_READ


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_samples_survive_the_round_trip(sample: Sample, tmp_path: Path) -> None:
    first = read(*sample.files)
    if not first.profile.ops.cost_known.any() and not first.profile.ops.busy_ps:
        with pytest.raises(IncompleteProfileError, match="neither FLOPs nor bytes"):
            again(first, tmp_path / "export.json")
        return
    second = again(first, tmp_path / "export.json")
    before, after = first.profile.ops, second.profile.ops
    kept = [k for k, category in enumerate(before.category) if not is_container(category)]
    # Ops of several programs may share a name: they are one there, so sums are compared.
    for column in ("occurrences", "self_time_ps"):
        assert int(getattr(after, column).sum()) == int(getattr(before, column)[kept].sum()), column
    known = before.cost_known if before.flop_known is None else before.flop_known
    assert int(after.flop.sum()) == int((before.flop * known)[kept].sum())
    assert set(after.name) == {before.name[k] for k in kept}
    assert second.device.core_count == first.device.core_count
    peaks = {peak.id: peak.gflops for peak in first.device.compute}
    assert {peak.id: peak.gflops for peak in second.device.compute} == pytest.approx(peaks)
    memory = {peak.level: peak.gbs for peak in first.device.memory}
    assert {peak.level: peak.gbs for peak in second.device.memory} == pytest.approx(memory)


def test_ops_keep_their_place_on_the_roofline(tmp_path: Path) -> None:
    first = analysed(
        """
        op   | category | times | self_us | flop | hbm_bytes
        dot  | fusion   | 3     | 10.5    | 9e6  | 1000
        copy | copy     | 1     | 2.25    | 0    | 4000
        call | fusion   | 2     | 1.5     | –    | –
        """
    )
    second = again(first, tmp_path / "export.json")
    for k in range(3):
        assert second.ops.name[k] == first.ops.name[k]
        ours, theirs = second.ops.measures, first.ops.measures
        for name in ("flop_rate_gflops", "bottleneck_intensity", "roofline_efficiency_ratio"):
            np.testing.assert_allclose(getattr(ours, name)[k], getattr(theirs, name)[k], rtol=1e-9)


def test_paths_and_shapes_survive_the_round_trip(tmp_path: Path) -> None:
    first = analysed(
        "op|self_us|flop|hbm_bytes|path|operands|results\n"
        "dot|2|1|1|jit(f)/dot|bf16[8,4]{1,0:S(1)}; (f32[], f32[])|bf16[8]\ncopy|1|1|1|||"
    )
    before = first.profile.ops
    after = again(first, tmp_path / "e.json").profile.ops
    for name in ("framework_path", "operands", "results"):
        assert getattr(after, name) == getattr(before, name)
    assert '"framework_path":""' not in (tmp_path / "e.json").read_text("utf-8")


def test_busy_shares_survive_the_round_trip(tmp_path: Path) -> None:
    table = tmp_path / "busy.csv"
    table.write_text("name,time_us,flops,bytes,busy.l1,busy.issue\na,3,8,4,97.9,\nb,2,8,4,,16.8\n")
    first = read(table)
    before, after = first.profile.ops, again(first, tmp_path / "e.json").profile.ops
    assert list(after.busy_ps) == [Ceiling.L1, Ceiling.ISSUE]
    for ceiling, busy_ps in before.busy_ps.items():
        np.testing.assert_allclose(after.busy_ps[ceiling], busy_ps, rtol=1e-12)


def test_infeed_may_be_left_out(tmp_path: Path) -> None:
    first = analysed(
        "op | category | self_us | flop | hbm_bytes\na | infeed | 1 | 0 | 9\nb | x | 1 | 1 | 9"
    )
    assert again(first, tmp_path / "e.json", infeed=False).profile.ops.name == ("b",)


def test_links_survive_the_round_trip(tmp_path: Path) -> None:
    profile = moving()
    first = analysis_on(profile)
    second = again(first, tmp_path / "export.json")
    bounds = {
        name: second.bound_label(int(second.ops.measures.bound[k]))
        for k, name in enumerate(second.ops.name)
    }
    assert bounds["all-reduce.1"] == "ICI"
    assert bounds["copy-done.1"] == "Host link"
    row = second.ops.name.index("all-reduce.1")
    assert second.ops.measures.roofline_efficiency_ratio[row] == pytest.approx(0.5)
    # The bytes of a hidden copy moved in the time of other ops, which the format does not have.
    hidden = second.ops.name.index("copy-done.2")
    assert second.profile.ops.traffic_bytes[MemoryLevel.HOST][hidden] == 0
