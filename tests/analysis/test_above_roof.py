"""Every op above a roof says so, with the likely cause."""

import math
from dataclasses import replace
from pathlib import Path

import pytest

from roofline.analysis.causes import Cause
from roofline.exports.render import render
from roofline.model.device import DeviceKind
from roofline.model.profile import Provenance
from tests.builders import analysed, analysis_on, profile_from_table, reported
from tests.profiles import imported

SHARED = Path(__file__).resolve().parents[3] / "shared"
V6E = SHARED / "profiles" / "tpu-v6e-inference" / "host_0.xplane.pb"
HEAD = "op|category|self_us|flop|hbm_bytes\n"
FAST_COPY, FAST_MATMUL = "1|1|1e6", "1|1e7|1"  # 10 times the bandwidth, 10 times the rate


@pytest.mark.parametrize(
    ("op", "cause"),
    [
        (f"copy-start.1|copy-start|{FAST_COPY}", Cause.ASYNCHRONOUS),
        (f"slice-start|async-start|{FAST_COPY}", Cause.ASYNCHRONOUS),
        (f"copy-done.4|copy-done|{FAST_COPY}", Cause.ASYNCHRONOUS),
        (f"async-collective-done.5|custom fusion|{FAST_COPY}", Cause.ASYNCHRONOUS),
        (f"fusion.3|loop fusion|{FAST_COPY}", Cause.COMPILER_ESTIMATE),
        (f"fusion.4|custom fusion|{FAST_COPY}", Cause.COMPILER_ESTIMATE),
        (f"pallas|custom-call|{FAST_COPY}", Cause.OWN_ESTIMATE),
        (f"splash|custom-call|{FAST_MATMUL}", Cause.OWN_ESTIMATE),
        (f"dot|dot|{FAST_MATMUL}", Cause.FASTER_PRECISION),
        ("tiny|loop fusion|0.01|1|1e4", Cause.SHORT),
    ],
)
def test_the_cause_follows_from_the_kind_of_op(op: str, cause: Cause) -> None:
    records = analysed(f"{HEAD}{op}\nrest|fusion|999|1|1").ops
    assert records.above_roof[:2] == (cause, None)


@pytest.mark.parametrize(
    ("results", "cause"),
    [("f32[100000]", Cause.COMPILER_COUNT), ("f32[1000000]", Cause.NOT_FOUND)],
)
def test_vector_work_has_no_faster_precision(results: str, cause: Cause) -> None:
    """10 million FLOPs in 1 us: 100 for each of 100,000 numbers are a count of functions."""
    table = f"op|category|self_us|flop|hbm_bytes|results\nx|loop fusion|{FAST_MATMUL}|{results}"
    records = analysed(f"{table}\nrest|fusion|999|1|1|").ops
    assert records.above_roof[:2] == (cause, None)


def test_a_custom_call_of_a_gpu_is_a_library_whose_work_the_compiler_knows() -> None:
    table = f"{HEAD}gemm|custom-call|{FAST_MATMUL}\nrest|fusion|999|1|1"
    records = analysed(table, device=reported(kind=DeviceKind.GPU)).ops
    assert records.above_roof[0] is Cause.FASTER_PRECISION


@pytest.mark.parametrize(
    ("provenance", "memory", "compute"),
    [
        (Provenance.ESTIMATED, Cause.CACHED, Cause.FASTER_PRECISION),
        (Provenance.MEASURED, Cause.OTHER_RUN, Cause.OTHER_RUN),
        (Provenance.STATED, Cause.STATED, Cause.STATED),
    ],
)
def test_the_cause_follows_from_how_work_was_obtained(
    provenance: Provenance, memory: Cause, compute: Cause
) -> None:
    table = f"{HEAD}a|other|{FAST_COPY}\nb|matmul|{FAST_MATMUL}\nc|attention|{FAST_MATMUL}"
    found = replace(
        profile_from_table(table), flop_provenance=provenance, bytes_provenance=provenance
    )
    records = analysis_on(found).ops
    masked = Cause.MASKED if provenance is Provenance.ESTIMATED else compute
    assert records.above_roof[:3] == (memory, compute, masked)


def test_bytes_without_a_breakdown_may_have_stayed_on_the_chip() -> None:
    records = analysed(f"op|category|self_us|flop|bytes\nx|fusion|{FAST_COPY}").ops
    assert records.above_roof[0] is Cause.ON_CHIP


def test_all_of_the_roof_is_not_above_it() -> None:
    assert analysed(f"{HEAD}x|dot|1000|1.0004e9|1").ops.above_roof[0] is None
    assert analysed(f"{HEAD}x|dot|1000|1.001e9|1").ops.above_roof[0] is Cause.FASTER_PRECISION


@pytest.mark.covers(63, 99, 243)
def test_a_note_counts_ops_above_a_memory_roof() -> None:
    found = analysed(f"{HEAD}copy-start|copy-start|{FAST_COPY}\nx|fusion|{FAST_COPY}\ny|dot|99|1|1")
    note = next(one for one in found.diagnostics if one.code == "above-memory-roof")
    assert note.message == (
        "2 ops run above a memory roof, up to 9.31 times it. Likely causes: asynchronous transfer "
        "(1), compiler’s estimate (1)."
    )


@pytest.mark.skipif(not V6E.is_file(), reason="the real v6e capture lies in ../shared")
def test_copies_of_a_real_capture_say_why_they_stand_above_their_roof() -> None:
    profile = imported(V6E)
    found = analysis_on(profile)
    row = found.ops.name.index("copy-start.1")
    # A link binds it; its bytes in HBM are held against that all the same.
    assert math.isnan(found.ops.measures.roofline_efficiency_ratio[row])
    assert found.ops.measures.memory_utilisation_ratio[row] == pytest.approx(1_924_471, rel=1e-6)
    assert found.ops.above_roof[row] is Cause.ASYNCHRONOUS
    text = render(found, "text", infeed=True).decode()
    assert "1,924,471" not in text
    assert math.isnan(found.ops.cells.memory_utilisation_ratio[row])
