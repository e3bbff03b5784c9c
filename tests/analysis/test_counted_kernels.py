"""Kernels of real Nsight Compute reports: the unit that each was nearest to, by its counters."""

import json
from functools import cache
from typing import Any

import numpy as np
import pytest

from roofline.analysis.records import RooflineAnalysis
from roofline.analysis.subjects.choose import choose
from roofline.analysis.verdict import verdict_of
from roofline.analysis.verdict_records import VerdictClass
from tests.shared_profiles import SHARED, needs_shared, shared

REAL = SHARED / "samples" / "nsight_compute"
EXPECTED = SHARED / "design" / "next" / "nearest-ceiling" / "expected.json"
FILES: dict[str, Any] = json.loads(EXPECTED.read_text("utf-8")) if EXPECTED.is_file() else {}
NAMES = sorted(path.name for path in [*REAL.glob("*.ncu-rep"), *REAL.glob("*.csv")])
A40 = [name for name in NAMES if name.startswith("a40_5kernels_raw")]
POINTS = 2.0


@cache
def analysis_of(name: str) -> RooflineAnalysis:
    return shared(f"samples/nsight_compute/{name}")


@needs_shared
@pytest.mark.parametrize("name", FILES)
def test_class_ceiling_share_and_reason_of_each_kernel(name: str) -> None:
    analysis = analysis_of(name)
    near, rows = analysis.nearest, {one: row for row, one in enumerate(analysis.ops.name)}
    for kernel in FILES[name]["kernels"]:
        row = rows[kernel["kernel"]]
        assert near.kind_of(row) == kernel["class"]
        assert near.ceiling_of(row) in {kernel["ceiling"], *kernel["also"]}
        assert 100 * near.ratios()[row] == pytest.approx(kernel["share"], abs=POINTS)
        assert near.why[row] == kernel.get("why", "")


@needs_shared
def test_all_kernels_are_in_the_table() -> None:
    assert sum(len(one["kernels"]) for one in FILES.values()) == 48


@needs_shared
@pytest.mark.parametrize("name", FILES)
def test_the_verdict_on_each_report(name: str) -> None:
    wanted, analysis = FILES[name]["program"], analysis_of(name)
    found = verdict_of(analysis, choose(analysis))
    assert found.kind == wanted["class"]
    assert found.ceiling in {wanted["ceiling"], *wanted["also"]}
    assert 100 * (found.ratio or 0.0) == pytest.approx(wanted["share"], abs=POINTS)


@needs_shared
@pytest.mark.parametrize("name", NAMES)
def test_the_nearest_ceiling_is_the_busiest_unit_of_the_file(name: str) -> None:
    """Per kernel and for the whole: no counter of the file is above the share that is named."""
    analysis = analysis_of(name)
    busy = busy_percent(analysis)
    named = analysis.nearest.ratios()
    for row in range(len(analysis.profile.ops)):
        busiest = max(shares[row] for shares in busy.values())
        assert 100 * named[row] == pytest.approx(busiest, abs=POINTS)
    found = verdict_of(analysis, choose(analysis))
    if found.kind is VerdictClass.BOUND:
        whole = np.average(busy[found.ceiling], weights=analysis.profile.ops.time_ps)
        assert 100 * (found.ratio or 0.0) == pytest.approx(float(whole), abs=POINTS)


@needs_shared
def test_exports_of_one_report_say_the_same() -> None:
    """Two versions of the tool, the locales C and de_DE."""
    found = [verdict_of(one, choose(one)) for one in map(analysis_of, A40)]
    assert {(one.kind, one.ceiling) for one in found} == {(VerdictClass.BOUND, "dram")}
    assert max(one.ratio or 0.0 for one in found) - min(one.ratio or 0.0 for one in found) < 1e-3


def busy_percent(analysis: RooflineAnalysis) -> dict[str, list[float]]:
    """Measured busy shares by unit, in percent; 0 where a kernel has none of that unit."""
    ops = analysis.profile.ops
    return {
        one.value: (100 * np.nan_to_num(time) / ops.time_ps).tolist()
        for one, time in ops.busy_ps.items()
    }
