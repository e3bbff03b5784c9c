"""Files of one program make one profile: times of one, and what another counted of its kernels."""

import gzip
import random
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from roofline.errors import MixedUploadError
from roofline.exports.answering import answer_of
from roofline.exports.records import op_records
from roofline.importers.registry import IMPORTERS, identify
from roofline.importers.shared.join_cells import NotOneProgramError, with_cells
from roofline.importers.shared.join_kernels import one_form
from roofline.importers.shared.launches import Launch, Launches, launch_tables, without_steps
from roofline.importers.source import SourceFile, silent
from roofline.model.ceilings import Ceiling
from roofline.model.compute import ComputeUnit
from roofline.model.device import DeviceKind, ReportedDevice
from roofline.model.memory import MemoryLevel
from roofline.model.profile import Host, Profile, Provenance
from roofline.pipeline import analyse_files
from roofline.presentation.sentences import plain_text
from roofline.presentation.verdict import lines_of, work_hint
from tests.conftest import ROOT
from tests.importers.kineto_profiles import codes
from tests.importers.test_nsight_systems import parts_us
from tests.profiles import imported
from tests.shared_profiles import SHARED, needs_shared
from tests.tools import make_ncu_samples as ncu
from tests.tools.make_joined_sample import GEMM, REST, SCALE, counted, export
from tests.tools.make_kineto_traces import BF16, KinetoTrace
from tests.tools.make_ncu_samples import Kernel

DATABASES = SHARED / "samples/rocpd"
COUNTED = SHARED / "samples/rocprof_compute/bmm64_MI300X_rocm7.1.zip"
PRODUCT = "batched_matrix_multiplication_matrix_core_64x64x4"


def message(profile: Profile, code: str) -> str:
    return next((note.message for note in profile.diagnostics if note.code == code), "")


# --------------------------------------------------------------------------------- a real pair


@needs_shared
@pytest.mark.parametrize("counted_first", [False, True])
def test_a_database_and_counters_of_one_program(counted_first: bool) -> None:
    paths = [DATABASES / "mi300x_bmm64_results.db.gz", COUNTED]
    analysis = analyse_files(paths[::-1] if counted_first else paths)
    profile = analysis.profile
    assert profile.format_id == "rocprofiler_sdk"
    row = next(
        one for one in op_records(analysis, include_infeed_outfeed=True) if PRODUCT in one["name"]
    )
    assert row["flop_rate_gflops"] == pytest.approx(71_401, rel=0.01)
    hbm = profile.ops.traffic_bytes[MemoryLevel.HBM][profile.ops.name.index(row["name"])]
    assert int(hbm) / (row["self_time_us"] * 1e3) == pytest.approx(2307.2, rel=0.01)
    assert parts_us(profile)["idle"] == pytest.approx(25_080.21, abs=0.01)
    assert "only-times" not in codes(profile)
    assert len(profile.stated) == 4 and all(one.agrees for one in profile.stated)
    assert np.isfinite(profile.ops.busy_ps[Ceiling.L1]).all()


@needs_shared
def test_another_build_is_told_by_its_times() -> None:
    profile = analyse_files([DATABASES / "mi300x_bmm64_other_build_results.db.gz", COUNTED]).profile
    text = message(profile, "counted-at-another-speed")
    assert "66.3 µs" in text and "29.1 µs" in text and "2.3 times" in text
    product = next(k for k, name in enumerate(profile.ops.name) if PRODUCT in name)
    assert int(profile.ops.flop[product]) == 150 * 2_147_483_648
    assert np.isnan(profile.ops.busy_ps[Ceiling.L1][product]), "measured at another speed"


@needs_shared
def test_kernels_of_another_launch_size_are_not_joined(tmp_path: Path) -> None:
    path = tmp_path / "other_results.db"
    path.write_bytes(gzip.decompress((DATABASES / "mi300x_bmm64_results.db.gz").read_bytes()))
    with closing(sqlite3.connect(path)) as connection:
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master")]
        table = next(name for name in names if name.startswith("rocpd_kernel_dispatch_"))
        connection.execute(f'UPDATE "{table}" SET grid_size_z = grid_size_z * 4')
        connection.execute(f'UPDATE "{table}" SET grid_size_x = grid_size_x * 3')
        connection.commit()
    with pytest.raises(MixedUploadError, match="kernels of the same names have other launch sizes"):
        analyse_files([path, COUNTED])


# ---------------------------------------------------------------------------- two made-up files


def joined(folder: Path, kernels: Sequence[str], report: Sequence[Kernel]) -> Profile:
    page = folder / "counters.csv"
    page.write_text(ncu.raw_page(report), "utf-8")
    program = export(folder / "program.sqlite", kernels)
    return imported(page, program)


def test_counted_launches_stand_for_those_that_were_not(tmp_path: Path) -> None:
    kernels = [GEMM, SCALE] * 6 + [REST, REST]
    report = [counted(name, k) for name in (GEMM, SCALE) for k in range(5)]
    profile = joined(tmp_path, kernels, report)
    ops = profile.ops
    row = {name: k for k, name in enumerate(ops.name)}
    assert [bool(ops.flop_known[row[name]]) for name in (GEMM, SCALE, REST)] == [True, True, False]
    assert int(ops.flop[row[GEMM]]) == 6 * 2_000_000, "six times the mean of five"
    assert int(ops.bytes_accessed[row[GEMM]]) == 6 * 1_200_000
    assert int(ops.time_ps[row[GEMM]]) == 6 * 20_000_000, "the time is the timeline's"
    cells = profile.cells
    assert cells is not None
    assert [source.format for source in cells.sources] == ["Nsight Systems", "Nsight Compute"]
    assert cells.of["flop"][[row[GEMM], row[REST]]].tolist() == [1, -1]
    assert (
        cells.words[row[GEMM]] == "counted in counters.csv, 5 of 6 launches, which differ by 33 %"
    )
    assert "The rest has no counters." in message(profile, "cells-joined")
    # A step has one of each kernel.
    assert profile.steps.sums.flop[:6, 0].tolist() == [4_000_000] * 6
    assert profile.steps.sums.bytes_accessed[:6, 0].tolist() == [2_400_000] * 6


def test_a_trace_of_pytorch_gets_what_was_counted(tmp_path: Path) -> None:
    """Counted FLOPs and bytes in place of those by shapes; the other operator has its shapes."""
    trace = KinetoTrace()
    shape: dict[str, Any] = {"grid": [64, 1, 1], "block": [128, 1, 1]}
    for _ in range(2):
        trace.launch(SCALE, 10.0, **shape)
    trace.call("aten::mm", [((64, 32), BF16), ((32, 16), BF16)], ("other_gemm", 5.0))
    (tmp_path / "trace.json").write_text(trace.as_json(), "utf-8")
    page = tmp_path / "counters.csv"
    page.write_text(ncu.raw_page([counted(SCALE, k) for k in range(2)]), "utf-8")
    profile = imported(tmp_path / "trace.json", page)
    ops = profile.ops
    at = {name.partition("(")[0].partition(" ")[0]: k for k, name in enumerate(ops.name)}
    assert profile.format_id == "pytorch"
    assert int(ops.flop[at["scale"]]) == 2 * 2_000_000
    assert int(ops.bytes_accessed[at["scale"]]) == 2_100_000
    assert int(ops.time_ps[at["scale"]]) == 2 * 10_000_000, "the time is the trace's"
    assert int(ops.flop[at["aten::mm"]]) == 2 * 64 * 32 * 16
    assert profile.cells is not None
    assert profile.cells.of["flop"][[at["scale"], at["aten::mm"]]].tolist() == [1, 0]


def test_equally_many_launches_are_the_same_ones_in_order(tmp_path: Path) -> None:
    profile = joined(tmp_path, [SCALE] * 4, [counted(SCALE, k) for k in range(4)])
    assert profile.steps.sums.bytes_accessed[:, 0].tolist() == [2_100_000, 2_500_000]


def first_lines(paths: Sequence[Path]) -> str:
    """The first lines of a profile as one text."""
    analysis = analyse_files(paths)
    lines = lines_of(analysis, answer_of(analysis))
    return plain_text([*lines.headline, *lines.lead])


def test_the_first_lines_say_which_knowledge_is_missing(tmp_path: Path) -> None:
    """Times alone ask for counters, counters alone for times, and both together for nothing."""
    program = export(tmp_path / "program.sqlite", [SCALE, SCALE])
    page = tmp_path / "counters.csv"
    page.write_text(ncu.raw_page([counted(SCALE, 0)]), "utf-8")
    assert "Count scale with Nsight Compute, and add that file to this one." in first_lines(
        [program]
    )
    assert "To see how much of the program this is, add its file of Nsight Systems." in first_lines(
        [page]
    )
    joint = first_lines([program, page])
    assert "add" not in joint, joint
    (step,) = imported(page).next_steps
    assert (step.kind, step.command) == ("when", "nsys profile --trace=cuda,nvtx -o report PROGRAM")
    program.unlink()
    both = joined(tmp_path, [SCALE, REST], [counted(SCALE, 0)])
    (rest,) = both.next_steps
    assert (rest.kind, rest.of) == ("what", "rest(int)"), "the kernel that was not counted"
    wrapped = replace(rest, of=f"void cutlass::Kernel2<{PRODUCT[:12]}>(Params)")
    said = plain_text(work_hint(replace(both, next_steps=(wrapped,))))
    assert said.startswith(f"Count {PRODUCT[:12]} with"), "the name that the headline has"


@pytest.mark.parametrize(
    ("grid", "name", "why"),
    [
        ((128, 1, 1), GEMM, "64 × 1 × 1 blocks and 128 × 1 × 1 blocks"),
        ((64, 1, 1), SCALE, "no kernel of one has the name"),
    ],
)
def test_another_program_is_refused_with_the_reason(
    tmp_path: Path, grid: tuple[int, int, int], name: str, why: str
) -> None:
    with pytest.raises(MixedUploadError, match=why):
        joined(tmp_path, [GEMM, GEMM], [counted(name, 0, grid)])


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("void gemm<(int)128, (bool)1>(float *)", "gemm<128, true>(float*)"),
        ("void ns::scale<__nv_bfloat16>(T1 *)", "ns::scale<bfloat16>(T1*)"),
        ("copy(int)", "copy"),
        ("kernel.kd", "kernel"),
        ("void (anonymous namespace)::f<int>(int)", "<unnamed>::f<int>(int)"),
        ("_ZN2at6native4fillEPfi", "at::native::fill"),
    ],
)
def test_names_of_profilers_in_one_form(ours: str, theirs: str) -> None:
    assert one_form(ours) == one_form(theirs)


def test_template_arguments_tell_kernels_apart() -> None:
    assert one_form("gemm<128>(int)") != one_form("gemm<256>(int)")


# ------------------------------------------------------------------------- a file and its halves


def program_of(number: int) -> Profile:
    """A program of a few kernels, of some of which no work was counted."""
    rng = random.Random(number)
    kinds = [
        (f"kernel_{k}", (rng.randint(1, 9), 1, 1, 64, 1, 1), rng.random() < 0.8) for k in range(5)
    ]
    launches = []
    for name, shape, is_counted in rng.choices(kinds, k=rng.randint(1, 40)):
        flop, moved = rng.randint(0, 10**9), rng.randint(1, 10**9)
        launches.append(
            Launch(
                name=name,
                shape=shape,
                time_ps=rng.randint(1, 10**9),
                flop=flop if is_counted else None,
                unit_flop={ComputeUnit.VECTOR_FP32: flop} if is_counted else {},
                traffic_bytes={MemoryLevel.HBM: moved} if is_counted else {},
                busy={Ceiling.ISSUE: rng.random()} if is_counted else {},
            )
        )
    ops, table, kernels, _ = launch_tables(Launches.of(launches))
    time_ps = int(ops.time_ps.sum())
    device = ReportedDevice(kind=DeviceKind.GPU, name="AMD Instinct MI300X", core_count=1)
    host = Host(file_name="made", hostname="", core_count=1)
    return without_steps(
        ops,
        time_ps,
        Provenance.MEASURED,
        device=device,
        hosts=(host,),
        launches=table,
        kernels=kernels,
    )


def sample_of_counters() -> Profile:
    source = SourceFile(ROOT / "sample_profiles/rocprofiler_sdk/mi300x_results.json")
    return next(one for one in IMPORTERS if one is identify(source)).read([source], progress=silent)


@pytest.mark.parametrize("number", [None, *range(40)])
def test_the_halves_of_a_file_give_the_whole(number: int | None) -> None:
    whole = sample_of_counters() if number is None else program_of(number)
    assert whole.kernels is not None
    ops, unknown = whole.ops, np.zeros(len(whole.ops), np.bool_)
    nothing = np.zeros(len(ops), np.uint64)
    is_kernel = np.isin(np.arange(len(ops)), whole.kernels.op)
    times = replace(
        whole,
        kernels=replace(whole.kernels, work=None),
        ops=replace(
            ops,
            flop=nothing,
            unit_flop={},
            flop_known=ops.flop_known & ~is_kernel,
            bytes_known=ops.bytes_known & ~is_kernel,
            cost_known=unknown,
            busy_ps={},
            use_ps={},
        ),
    )
    if not (ops.flop_known | ops.bytes_known)[whole.kernels.op].any():
        return  # nothing was counted
    again = with_cells(times, whole).ops
    assert again.time_ps.tolist() == ops.time_ps.tolist()
    assert again.bytes_known.tolist() == ops.bytes_known.tolist()
    assert again.flop.tolist() == ops.flop.tolist()
    assert again.flop_known.tolist() == ops.flop_known.tolist()
    assert again.bytes_accessed.tolist() == ops.bytes_accessed.tolist()
    for unit, column in ops.unit_flop.items():
        assert again.unit_flop[unit].tolist() == column.tolist()
    for ceiling, busy in ops.busy_ps.items():
        np.testing.assert_allclose(again.busy_ps[ceiling], busy)
    with pytest.raises(NotOneProgramError):
        with_cells(times, replace(whole, kernels=None))
