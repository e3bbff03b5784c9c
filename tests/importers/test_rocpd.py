"""Databases of rocprofv3: what an agent waits for, launches by stack, several processes, damage."""

import json
import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from roofline.errors import CorruptProfileError, IncompleteProfileError, MixedUploadError
from roofline.importers.intake.folders import files_of_folder
from roofline.importers.registry import identify
from roofline.importers.rocprof_compute.files import gpu_name
from roofline.importers.source import SourceFile
from roofline.model.compute import ComputeUnit
from roofline.model.device import PeakOrigin
from roofline.model.memory import MemoryLevel
from roofline.pipeline import analyse_files
from tests.conftest import ROOT
from tests.importers.kineto_profiles import codes
from tests.importers.test_nsight_systems import parts_us
from tests.profiles import imported
from tests.shared_profiles import SHARED, needs_shared
from tests.tools.make_rocpd import COPY_BYTES, KERNEL, SAMPLE, UUID, write

REAL = SHARED / "samples"
NAMES = ("ck_bmm_rocm7.1", "bmm64", "bmm64_other_build")


def change(path: Path, *statements: str) -> Path:
    write(path)
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()
    return path


@needs_shared
@pytest.mark.parametrize("name", NAMES)
def test_time_by_part_equals_the_reference(name: str) -> None:
    file = f"rocpd/mi300x_{name}_results.db.gz"
    listed = json.loads((REAL / "nsight_systems/expected.json").read_text("utf-8"))["files"]
    expected = next(one for one in listed if one["file"] == file)
    profile = analyse_files([REAL / file]).profile
    wanted = {part: us for part, us in expected["per_gpu_us"].items() if part != "work"}
    assert parts_us(profile) == pytest.approx(wanted, abs=0.002)
    assert profile.device.name == expected["device"]
    assert profile.device.traits.processor_count == expected["compute_units"]
    assert int(profile.ops.occurrences.sum()) == expected["kernels"]
    assert profile.timeline is not None


def test_time_of_the_agent_that_ran_something() -> None:
    profile = imported(SAMPLE)
    assert profile.format_id == "rocprofiler_sdk"
    assert profile.device.core_count == 1
    # A copy of 400 us, three kernels of 200 us, two gaps of 5 us, 600 us idle
    assert parts_us(profile) == {
        "total": 1610.0,
        "exposed_communication": 0.0,
        "exposed_host_copies": 400.0,
        "launch_gaps": 10.0,
        "idle": 600.0,
    }
    assert profile.timeline is not None
    # The call came 100 us before the kernel that ended the idle time: the GPU waited for it.
    assert profile.timeline.times.host_wait_ps.tolist() == [600e6]


def test_a_copy_from_the_host_is_a_transfer_over_the_host_link() -> None:
    timeline = imported(SAMPLE).timeline
    assert timeline is not None
    assert timeline.transfers.kind == ("in",)
    assert timeline.transfers.link == (MemoryLevel.HOST,)
    assert timeline.transfers.occurrences.wire_bytes.tolist() == [COPY_BYTES]


def test_a_copy_to_another_gpu_is_a_transfer_of_its_source(tmp_path: Path) -> None:
    """The link moves its bytes once; the GPU that only receives ran nothing."""
    path = change(
        tmp_path / "a.db",
        f"UPDATE rocpd_memory_copy{UUID} SET src_agent_id = 1, dst_agent_id = 2",
        f"UPDATE rocpd_string{UUID} SET string = 'MEMORY_COPY_DEVICE_TO_DEVICE' WHERE id = 1",
    )
    profile = imported(path)
    assert profile.timeline is not None and profile.device.core_count == 1
    assert profile.timeline.transfers.link == (MemoryLevel.XGMI,)
    assert profile.timeline.transfers.occurrences.wire_bytes.tolist() == [COPY_BYTES]
    parts = parts_us(profile)
    assert (parts["exposed_communication"], parts["exposed_host_copies"]) == (400.0, 0.0)


def test_kernels_have_their_names_and_no_work() -> None:
    profile = imported(SAMPLE)
    at = profile.ops.name.index(KERNEL)
    assert int(profile.ops.occurrences[at]) == 3
    assert not profile.ops.flop_known[at]
    assert "only-times" in codes(profile)


def counted(path: Path, counter: str) -> Path:
    """A database with a counter of two instances: 1,500.5 in each dispatch."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return change(
        path,
        f"CREATE TABLE rocpd_info_pmc{UUID} (id, symbol, name)",
        f"INSERT INTO rocpd_info_pmc{UUID} VALUES (1, '{counter}', '')",
        f"CREATE TABLE rocpd_pmc_event{UUID} (event_id, pmc_id, value)",
        *(
            f"INSERT INTO rocpd_pmc_event{UUID} VALUES ({event}, 1, {value})"
            for event in (1, 2, 3)
            for value in (1000.0, 500.5)
        ),
    )


def test_databases_of_passes_in_a_folder_are_one_program(tmp_path: Path) -> None:
    """As rocprof-compute keeps them: `out/pmc_1/HOST/PID_results.db`."""
    for k, counter in enumerate(("SQ_INSTS_VALU_ADD_F32", "SQ_INSTS_VALU_MUL_F32"), 1):
        counted(tmp_path / f"out/pmc_{k}/host/{k}_results.db", counter)
    profile = analyse_files(files_of_folder(tmp_path)).profile
    at = profile.ops.name.index(KERNEL)
    assert (profile.host_count, int(profile.ops.occurrences[at])) == (1, 3)
    assert int(profile.ops.flop[at]) == pytest.approx(2 * 3 * 64 * 1500.5, abs=6)


def test_tables_of_passes_in_a_folder_are_one_program(tmp_path: Path) -> None:
    """As `rocprofv3 --pmc … --pmc … --output-format csv` leaves them: pmc_1/HOST/PID_…csv."""
    head = (
        "Dispatch_Id,Agent_Id,Kernel_Name,Counter_Name,Counter_Value,Start_Timestamp,End_Timestamp"
    )
    for k, counter in enumerate(("SQ_INSTS_VALU_ADD_F32", "SQ_INSTS_VALU_MUL_F32"), 1):
        host = tmp_path / f"pmc_{k}/host"
        host.mkdir(parents=True)
        rows = (f"{one},Agent 4,gemm,{counter},1000,{one}000,{one}500" for one in (1, 2, 3))
        (host / f"{k}_counter_collection.csv").write_text("\n".join((head, *rows)), "utf-8")
    profile = analyse_files(files_of_folder(tmp_path)).profile
    assert profile.ops.occurrences.tolist() == [3]
    assert profile.ops.flop.tolist() == [2 * 3 * 64 * 1000]


KERNELS = "Kind,Agent_Id,Dispatch_Id,Kernel_Name,Start_Timestamp,End_Timestamp"
COPIES = "Kind,Direction,Source_Agent_Id,Destination_Agent_Id,Start_Timestamp,End_Timestamp"


def test_the_csv_files_of_the_newest_process_in_a_folder_are_one_host(tmp_path: Path) -> None:
    """As `rocprofv3 --output-format csv` leaves them: HOST/PID_kernel_trace.csv and others."""
    host = tmp_path / "host"
    host.mkdir()
    for at, (name, head, row) in enumerate(
        (
            ("7_kernel_trace", KERNELS, "KERNEL_DISPATCH,Agent 4,1,older,0,9000"),
            ("9_memory_copy_trace", COPIES, "MEMORY_COPY,HOST_TO_DEVICE,Agent 0,Agent 4,0,1000"),
            ("9_kernel_trace", KERNELS, "KERNEL_DISPATCH,Agent 4,1,newer,2000,5000"),
        )
    ):
        (host / f"{name}.csv").write_text(f"{head}\n{row}\n", "utf-8")
        os.utime(host / f"{name}.csv", (at, at))
    files = files_of_folder(tmp_path)
    assert [path.name for path in files] == ["9_kernel_trace.csv", "9_memory_copy_trace.csv"]
    profile = analyse_files(files).profile
    assert (profile.host_count, profile.device.core_count) == (1, 1)
    assert "newer" in profile.ops.name and "older" not in profile.ops.name


def test_roofs_beside_databases_of_passes_are_measured_peaks(tmp_path: Path) -> None:
    """Of the same part; the roof of L1 counts other bytes per access and is left out."""
    counted(tmp_path / "out/pmc_1/host/1_results.db", "SQ_INSTS_VALU_ADD_F32")
    for name in ("roofline.csv", "sysinfo.csv"):
        shutil.copy(ROOT / "sample_profiles/rocprof_compute/mi250x-solver" / name, tmp_path / name)
    with pytest.raises(MixedUploadError, match="MI300X"):
        analyse_files([tmp_path])  # a benchmark of MI250X
    system = (tmp_path / "sysinfo.csv").read_text("utf-8")
    system = system.replace("MI200", "MI300X_A1").replace("gfx90a", "gfx942")
    (tmp_path / "sysinfo.csv").write_text(system, "utf-8")
    profile = analyse_files([tmp_path]).profile
    assert profile.format_id == "rocprofiler_sdk"
    assert profile.device.name == "AMD Instinct MI300X"
    assert gpu_name({"gpu_model": "MI300X_A1"}) == "AMD Instinct MI300X", "as the database names it"
    assert gpu_name({"gpu_model": "MI200"}) == "MI200", "several parts"
    assert profile.device.unit_gflops[ComputeUnit.VECTOR_FP32] == pytest.approx(21_200)
    assert profile.device.bandwidth_gbs[MemoryLevel.HBM] == pytest.approx(1361.5)
    assert MemoryLevel.L1 not in profile.device.bandwidth_gbs
    assert profile.device.peak_origin is PeakOrigin.MEASURED


def test_counters_of_all_instances_add_up(tmp_path: Path) -> None:
    profile = imported(counted(tmp_path / "a.db", "SQ_INSTS_VALU_ADD_F32"))
    at = profile.ops.name.index(KERNEL)
    # 64 lanes of 1,500.5 instructions, in each of three dispatches
    assert int(profile.ops.flop[at]) == pytest.approx(3 * 64 * 1500.5, abs=3)


def test_each_set_of_tables_is_a_process(tmp_path: Path) -> None:
    write(tmp_path / "a.db", "_one", UUID)
    profile = imported(tmp_path / "a.db")
    assert profile.device.core_count == 2
    assert parts_us(profile)["total"] == 1610.0


def test_processes_of_machines_with_other_clocks_begin_together(tmp_path: Path) -> None:
    day_ns = 86_400 * 10**9
    write(tmp_path / "a.db")
    statements = (
        f"UPDATE rocpd_{table}{UUID} SET start = start + {day_ns}, end = end + {day_ns}"
        for table in ("kernel_dispatch", "memory_copy", "region")
    )
    profile = imported(tmp_path / "a.db", change(tmp_path / "b.db", *statements))
    assert profile.wall_time_ps == 1_610_000_000, "and not a day"
    assert parts_us(profile)["total"] == 1610.0
    assert profile.timeline is not None
    assert profile.timeline.times.host_wait_ps.tolist() == [600e6, 600e6]
    assert "clocks-of-machines" in codes(profile)


def test_ranges_of_roctx_are_groups(tmp_path: Path) -> None:
    """The path in which a kernel ran longest, without numbers, of the launching thread."""
    path = change(
        tmp_path / "a.db",
        f"ALTER TABLE rocpd_event{UUID} ADD COLUMN category_id",
        f"INSERT INTO rocpd_event{UUID} VALUES (21, 0, 0, 3), (22, 0, 0, 3), (23, 0, 0, 3)",
        f"INSERT INTO rocpd_string{UUID} VALUES (3, 'MARKER_CORE_RANGE_API')",
        f"INSERT INTO rocpd_string{UUID} VALUES (4, 'step 7'), (5, 'forward'), (6, 'elsewhere')",
        # The first two launches are within `forward`, the last one is not.
        f"INSERT INTO rocpd_region{UUID} VALUES (7, 42, 1, 100, 4, 21), (8, 42, 5, 50, 5, 22)",
        f"INSERT INTO rocpd_region{UUID} VALUES (9, 41, 1, 100, 6, 23)",
    )
    ops = imported(path).ops
    assert ops.framework_path[ops.name.index(KERNEL)] == "step/forward"


def test_a_dispatch_without_a_launch_is_in_all_sums(tmp_path: Path) -> None:
    path = change(tmp_path / "a.db", f"DROP TABLE rocpd_region{UUID}")
    assert parts_us(imported(path)) == parts_us(imported(SAMPLE))


def test_views_of_the_file_are_not_used(tmp_path: Path) -> None:
    path = change(
        tmp_path / "a.db",
        "DROP VIEW kernels",
        "CREATE VIEW rocpd_kernel_dispatch AS SELECT randomblob(1000000000) AS start",
    )
    assert identify(SourceFile(path)).FORMAT_ID == "rocprofiler_sdk"
    assert parts_us(imported(path)) == parts_us(imported(SAMPLE))


def test_environment_and_command_line_are_nowhere() -> None:
    assert b"hunter2" in SAMPLE.read_bytes()
    assert "hunter2" not in repr(imported(SAMPLE))


def test_without_dispatches_the_error_says_how_to_profile(tmp_path: Path) -> None:
    path = change(
        tmp_path / "a.db",
        f"DELETE FROM rocpd_kernel_dispatch{UUID}",
        f"DELETE FROM rocpd_memory_copy{UUID}",
    )
    with pytest.raises(IncompleteProfileError, match="neither kernels nor copies"):
        imported(path)


def test_a_text_in_place_of_a_time_is_damage(tmp_path: Path) -> None:
    path = change(tmp_path / "a.db", f"UPDATE rocpd_kernel_dispatch{UUID} SET start = 'x'")
    with pytest.raises(CorruptProfileError, match="3 rows of its table rocpd_kernel_dispatch"):
        imported(path)


def test_a_schema_that_is_no_text_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    path.write_bytes(SAMPLE.read_bytes().replace(b"CREATE TABLE", b"CREATE TABL\x8f", 1))
    with pytest.raises(CorruptProfileError, match="not a sound SQLite database"):
        imported(path)
