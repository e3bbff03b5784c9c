"""Our table equals XProf's own, cell by cell: generated captures, hand-made corners, a real one."""

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.profiles import imported
from tests.tools.comparison import compare
from tests.tools.edge_cases import EDGE_CASES
from tests.tools.xprof_json import our_tables

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "golden" / "xspace"
CASES = sorted(path for path in GOLDEN.iterdir() if path.name != "edge_cases")
REAL = ROOT.parent / "shared" / "profiles" / "tpu-v6e-inference"

# Where we differ from XProf on purpose or not yet, each with what XProf does.
KNOWN_DIFFERENCES = {
    "children_longer_than_their_parent": "XProf's multiplier of wrapped times is undefined in C++",
    "negative_and_huge_costs": "XProf sums FLOPs as doubles, which do not wrap at 2^64",
    "work_past_64_bits": "XProf sums FLOPs as doubles, which do not wrap at 2^64",
    "model_flops": "XProf reads negative model FLOPs as huge ones",
    "framework_op_named_like_an_op": "XProf counts an op twice that is named like a tf_op",
    "self_time_below_zero_in_a_step": "XProf's multiplier of wrapped times is undefined in C++",
    "host_with_a_sparse_core_only": "XProf takes the peaks of the first host with a TPU plane",
    "host_with_a_sparse_core_without_peaks": "as above, even if that plane has no peaks",
}

# XProf orders rows with equal self time and equal name by a hash; here they are compared as a set.
TIED = {"tied_rows"}


def reference(path: Path) -> list[dict[str, Any]]:
    result: list[dict[str, Any]] = json.loads(gzip.decompress(path.read_bytes()))
    return result


def assert_equal(
    expected: list[dict[str, Any]], files: Sequence[Path], *, ties: bool = False
) -> None:
    comparison = compare(expected, our_tables(files), ties=ties)
    assert comparison.compared > 0
    if comparison.mismatches:
        pytest.fail(comparison.summary(), pytrace=False)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_generated_capture_equals_xprof(case: Path) -> None:
    files = sorted(case.glob("*.pb"))
    assert_equal(reference(case / "reference.json.gz"), files)


@pytest.mark.parametrize("name", EDGE_CASES)
def test_corner_of_the_format_equals_xprof(name: str, tmp_path: Path) -> None:
    expected = reference(GOLDEN / "edge_cases" / f"{name}.json.gz")
    files = EDGE_CASES[name](tmp_path)
    if name not in KNOWN_DIFFERENCES:
        assert_equal(expected, files, ties=name in TIED)
    elif compare(expected, our_tables(files)).mismatches:
        pytest.xfail(KNOWN_DIFFERENCES[name])
    else:
        pytest.fail(f"{name} equals XProf now: remove it from KNOWN_DIFFERENCES", pytrace=False)


@pytest.mark.covers(4)
@pytest.mark.skipif(
    not REAL.is_dir(),
    reason="the real v6e capture is not redistributed with this project: it lies in ../shared",
)
def test_real_capture_equals_xprof() -> None:
    expected = json.loads((REAL / "reference.json").read_text("utf-8"))
    assert_equal(expected, [REAL / "host_0.xplane.pb"])


def test_comparison_notices_a_changed_cell() -> None:
    expected = reference(CASES[0] / "reference.json.gz")
    changed = json.loads(json.dumps(expected))
    cell = changed[0]["rows"][3]["c"][5]
    cell["v"] *= 1 + 1e-8
    assert compare(expected, expected).mismatches == 0
    assert compare(expected, changed).mismatches == 1


def test_steps_that_no_annotation_launched_are_numbered_from_zero(tmp_path: Path) -> None:
    """XProf goes on after the annotations that launched nothing, which are other steps."""
    (file,) = EDGE_CASES["roots_without_launch_and_two_cores"](tmp_path)
    assert imported(file).steps.label == ("0", "1", "2")
    as_xprof = imported(file, xprof_compat=True)
    assert as_xprof.steps.label == ("2", "3", "4")
