"""Exports of Nsight Systems: time by part, launches of processes, hostile files."""

import gzip
import json
import math
import random
import shutil
import sqlite3
import struct
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from roofline.analysis.nearest_records import OpClass
from roofline.analysis.records import RooflineAnalysis
from roofline.errors import CorruptProfileError, IncompleteProfileError
from roofline.importers.registry import identify, import_profile
from roofline.importers.source import SourceFile
from roofline.model.profile import Profile
from roofline.model.timeline import WHOLE_CAPTURE
from roofline.pipeline import analyse_files
from tests.conftest import ROOT
from tests.profiles import imported
from tests.shared_profiles import SHARED, needs_shared

SAMPLES = ROOT / "sample_profiles" / "nsight_systems"
TWO_RANKS, GRAPHS = SAMPLES / "a100-two-ranks.sqlite", SAMPLES / "a100-graphs.sqlite"
REAL = SHARED / "samples"
NAMES = (
    "h100x2_alltoall_2026.2.sqlite.gz",
    "h100x2_offload_2026.2.sqlite.gz",
    "minimal_graphs_gpu_metrics.sqlite",
    "minimal_two_ranks.sqlite",
    "rtx3090_tensorrt_nvtx_2023.1.sqlite.gz",
    "rtx4060ti_copies_2026.1.sqlite",
)


NEEDED = (
    "StringIds",
    "NVTX_EVENTS",
    "TARGET_INFO_GPU",
    "TARGET_INFO_CUDA_DEVICE",
    *(f"CUPTI_ACTIVITY_KIND_{kind}" for kind in ("KERNEL", "MEM", "RUNTIME", "GRAPH_TRACE")),
)


@contextmanager
def copy_of(sample: Path, folder: Path) -> Iterator[tuple[Path, sqlite3.Connection]]:
    """A copy of a sample to change, as a connection; closed files are whole."""
    path = folder / "changed.sqlite"
    shutil.copy(sample, path)
    with closing(sqlite3.connect(path)) as connection:
        yield path, connection
        connection.commit()


def parts_us(profile: Profile) -> dict[str, float]:
    """The parts of the capture's time, mean of its GPUs, in microseconds."""
    assert profile.timeline is not None
    times = profile.timeline.times
    whole = times.scope == WHOLE_CAPTURE
    parts = {
        "total": times.total_ps[whole],
        "exposed_communication": np.sum([ps[whole] for ps in times.exposed_ps.values()], axis=0),
        "exposed_host_copies": times.host_ps[whole],
        "launch_gaps": times.launch_gaps_ps[whole],
        "idle": times.idle_ps[whole],
    }
    return {name: float(np.mean(ps)) / 1e6 for name, ps in parts.items()}


# ---------------------------------------------------------------------------------- known numbers


@needs_shared
@pytest.mark.parametrize("name", NAMES)
def test_time_by_part_equals_the_reference(name: str) -> None:
    listed = json.loads((REAL / "nsight_systems/expected.json").read_text("utf-8"))["files"]
    expected: dict[str, Any] = next(one for one in listed if one["file"].endswith(name))
    profile = analyse_files([REAL / expected["file"]]).profile
    wanted = {part: us for part, us in expected["per_gpu_us"].items() if part != "work"}
    assert parts_us(profile) == pytest.approx(wanted, abs=0.002)
    assert profile.device.core_count == expected["gpus"]
    assert profile.device.name == (expected["device"] or "")
    assert profile.format_label == f"Nsight Systems {expected['version'][:6]}"
    if "path_contains" in expected:
        assert any(expected["path_contains"] in path for path in profile.ops.framework_path)


@needs_shared
@pytest.mark.parametrize("name", NAMES)
def test_bytes_of_host_copies_equal_the_reference(name: str) -> None:
    listed = json.loads((REAL / "nsight_systems/expected.json").read_text("utf-8"))["files"]
    expected = next(one for one in listed if one["file"].endswith(name))
    transfers = analyse_files([REAL / expected["file"]]).profile.timeline
    assert transfers is not None
    found, seen = {"in": 0.0, "out": 0.0}, transfers.transfers.occurrences
    for at, moved in zip(seen.transfer.tolist(), seen.wire_bytes.tolist(), strict=True):
        if transfers.transfers.kind[at] in found:
            found[transfers.transfers.kind[at]] += moved
    copies = expected["copies"]
    assert found["in"] == copies.get("Host-to-Device", {"bytes": 0})["bytes"]
    assert found["out"] == copies.get("Device-to-Host", {"bytes": 0})["bytes"]


def analysed() -> RooflineAnalysis:
    return analyse_files([TWO_RANKS])


def test_shapes_in_ranges_give_flops_and_the_kernel_gives_the_type() -> None:
    profile = analysed().profile
    at = next(k for k, name in enumerate(profile.ops.name) if name.startswith("aten::mm"))
    assert profile.ops.name[at] == "aten::mm [4096x1024, 1024x2048] bf16"
    # 2 · 4096 · 2048 · 1024 FLOP in each of two ranks' three steps
    assert int(profile.ops.flop[at]) == 6 * 17_179_869_184
    assert int(profile.ops.occurrences[at]) == 6
    # two bytes for each element of both factors and the result
    assert int(profile.ops.bytes_accessed[at]) == 6 * 2 * (4096 * 1024 + 1024 * 2048 + 4096 * 2048)


def test_a_product_of_unknown_type_has_flops_and_no_bytes(tmp_path: Path) -> None:
    with copy_of(TWO_RANKS, tmp_path) as (path, connection):
        connection.execute("UPDATE StringIds SET value = 'my_gemm' WHERE value LIKE 'sm80%'")
    ops = analyse_files([path]).profile.ops
    at = ops.name.index("aten::mm [4096x1024, 1024x2048]")
    assert int(ops.flop[at]) == 6 * 17_179_869_184
    assert not ops.bytes_known[at]


def test_steps_are_ranges_that_repeat() -> None:
    assert analysed().profile.steps.label == ("0", "1", "2")


def test_start_end_ranges_are_ranges_of_their_thread_unless_they_cross(tmp_path: Path) -> None:
    step = "textId IS NOT NULL"
    path = changed(tmp_path, f"UPDATE NVTX_EVENTS SET eventType = 60 WHERE {step}")
    alike, known = imported(path), imported(TWO_RANKS)
    assert (alike.steps.label, alike.ops.framework_path) == (
        known.steps.label,
        known.ops.framework_path,
    )
    assert any(known.ops.framework_path) and len(known.steps) == 3
    crossing = "SELECT start + 500, end + 500, 60, 'all', globalTid FROM NVTX_EVENTS"
    columns = "(start, end, eventType, text, globalTid)"
    path = changed(tmp_path, f"INSERT INTO NVTX_EVENTS {columns} {crossing} WHERE {step}")
    assert imported(path).ops.framework_path == known.ops.framework_path


def test_the_range_around_a_launch_is_the_path_without_its_number() -> None:
    ops = analysed().profile.ops
    paths = dict(zip(ops.name, ops.framework_path, strict=True))
    assert paths["aten::mm [4096x1024, 1024x2048] bf16"] == "step/aten::mm"


def test_processes_with_equal_correlation_ids_are_told_apart(tmp_path: Path) -> None:
    with copy_of(TWO_RANKS, tmp_path) as (path, connection):
        pids = {
            row[0] for row in connection.execute("SELECT globalPid FROM CUPTI_ACTIVITY_KIND_KERNEL")
        }
        other = max(pids)
        # The second process launches other operators: none of the first one's kernels has these.
        connection.execute(
            "UPDATE NVTX_EVENTS SET text = 'aten::other' WHERE text LIKE 'aten::%'"
            " AND (globalTid >> 24) = ?",
            (other >> 24,),
        )
    ops = imported(path).ops
    counts = dict(zip(ops.name, ops.occurrences.tolist(), strict=True))
    assert counts["aten::mm [4096x1024, 1024x2048] bf16"] == 3


def test_graphs_without_their_kernels_are_work_of_unknown_cost() -> None:
    profile = imported(GRAPHS)
    at = profile.ops.name.index("CUDA graph 5")
    assert int(profile.ops.self_time_ps[at]) == 4_000_000_000
    assert not profile.ops.flop_known[at]
    note = next(note for note in profile.diagnostics if note.code == "in-graphs")
    assert note.message.startswith("4 ms of 5 ms ran inside CUDA graphs")
    assert "--cuda-graph-trace=node" in note.remedy


def test_the_longest_kernel_of_unknown_work_is_in_the_command() -> None:
    note = next(note for note in imported(GRAPHS).diagnostics if note.code == "only-times")
    command = "ncu --set full -k 'regex:^(softmax_warp_forward)' --launch-skip 0 -c 5"
    assert command in note.remedy, "it ran once: with more skipped nothing would be counted"


# --------------------------------------------------------------------------------- same file, else


def test_the_order_of_rows_does_not_matter(tmp_path: Path) -> None:
    before = imported(TWO_RANKS)
    with copy_of(TWO_RANKS, tmp_path) as (path, connection):
        for table in ("KERNEL", "MEMCPY", "RUNTIME"):
            name = f"CUPTI_ACTIVITY_KIND_{table}"
            rows = connection.execute(f"SELECT * FROM {name}").fetchall()
            random.Random(7).shuffle(rows)
            connection.execute(f"DELETE FROM {name}")
            places = ", ".join("?" * len(rows[0]))
            connection.executemany(f"INSERT INTO {name} VALUES ({places})", rows)
    after = imported(path)
    assert parts_us(after) == parts_us(before)
    assert sorted(after.ops.name) == sorted(before.ops.name)


def test_gpus_without_a_table_of_devices_are_those_of_each_process(tmp_path: Path) -> None:
    with copy_of(TWO_RANKS, tmp_path) as (path, connection):
        connection.execute("DROP TABLE TARGET_INFO_CUDA_DEVICE")
        connection.execute("DROP TABLE TARGET_INFO_GPU")
    profile = imported(path)
    assert profile.device.core_count == 2
    assert profile.device.name == ""
    assert "gpus-by-process" in [note.code for note in profile.diagnostics]
    assert parts_us(profile)["total"] == pytest.approx(2715)


def test_work_without_a_launch_is_told_with_its_time() -> None:
    """By SQL on the file: 7 rows of 25, and 610 of 2,830 us, whatever the order of the tables."""
    (note,) = (one for one in imported(TWO_RANKS).diagnostics if one.code == "without-launch")
    assert note.message.startswith("7 of 25 kernels and copies (21.6 % of their time)")


def test_exports_until_2022_have_another_table_of_gpus(tmp_path: Path) -> None:
    """Its clock is in kHz and its memory in MiB; bandwidth and compute capability are not in it."""
    with copy_of(TWO_RANKS, tmp_path) as (path, connection):
        connection.execute("DROP TABLE TARGET_INFO_GPU")
        connection.execute("DROP TABLE IF EXISTS TARGET_INFO_CUDA_DEVICE")
        connection.execute(
            "CREATE TABLE TARGET_INFO_CUDA_GPU (name, coreClockRate, numMultiprocessors,"
            " globalMemorySize, globalMemoryBandwidth, deviceId, pid)"
        )
        row = "('A100', 1410000, 108, 40960, 0, 0, ?)"
        for process in (201, 202):  # each sees its own GPU as the first one
            connection.execute(f"INSERT INTO TARGET_INFO_CUDA_GPU VALUES {row}", (process,))
    assert parts_us(imported(path)) == parts_us(imported(TWO_RANKS))
    found = imported(path).device
    assert (found.name, found.traits.processor_count) == ("A100", 108)
    assert (found.traits.clock_ghz, found.traits.memory_bytes) == (1.41, 40 << 30)
    assert not found.bandwidth_gbs and not found.unit_gflops


@needs_shared
@pytest.mark.parametrize("name", NAMES)
def test_tables_that_are_not_needed_may_be_missing(name: str, tmp_path: Path) -> None:
    data = (REAL / "nsight_systems" / name).read_bytes()
    path = tmp_path / "export.sqlite"
    path.write_bytes(gzip.decompress(data) if name.endswith(".gz") else data)
    whole = parts_us(imported(path))
    with closing(sqlite3.connect(path)) as connection:
        found = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        for (table,) in found:
            if not table.startswith(NEEDED) and not table.startswith("sqlite_"):
                connection.execute(f'DROP TABLE "{table}"')
        connection.commit()
    assert parts_us(imported(path)) == whole


def test_gzipped_is_the_same(tmp_path: Path) -> None:
    packed = tmp_path / "report.sqlite.gz"
    packed.write_bytes(gzip.compress(TWO_RANKS.read_bytes()))
    assert parts_us(analyse_files([packed]).profile) == parts_us(imported(TWO_RANKS))


def test_a_file_without_work_says_how_to_profile(tmp_path: Path) -> None:
    with copy_of(TWO_RANKS, tmp_path) as (path, connection):
        connection.execute("DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL")
        connection.execute("DELETE FROM CUPTI_ACTIVITY_KIND_MEMCPY")
    with pytest.raises(IncompleteProfileError) as caught:
        imported(path)
    assert "launched 18 kernels, but changed.sqlite has none" in caught.value.message
    assert "nsys profile --trace=cuda,nvtx" in caught.value.remedy


def test_a_file_that_was_cut_short_names_the_page(tmp_path: Path) -> None:
    path = tmp_path / "cut.sqlite"
    path.write_bytes(TWO_RANKS.read_bytes()[:20_000])
    with pytest.raises(CorruptProfileError, match="page 5 of 10 is missing"):
        imported(path)


@pytest.mark.parametrize("value", ["'many'", "NULL", "1.5", "x'00'"])
def test_cells_of_another_type_are_damage(value: str, tmp_path: Path) -> None:
    with copy_of(TWO_RANKS, tmp_path) as (path, connection):
        connection.execute(f"UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = {value} WHERE rowid = 3")
    with pytest.raises(CorruptProfileError, match="1 rows of its table CUPTI_ACTIVITY_KIND_KERNEL"):
        imported(path)


# ------------------------------------------------------------------------------------------ hostile


@pytest.mark.parametrize(
    "sql",
    [
        "CREATE VIEW GPU_METRICS AS SELECT randomblob(1000000000) AS timestamp",
        "CREATE VIEW NVTX_EVENTS_2 AS SELECT load_extension('x')",
        "CREATE TRIGGER t AFTER INSERT ON NVTX_EVENTS BEGIN SELECT 1; END",
        "CREATE VIRTUAL TABLE GPU_METRICS USING fts3(timestamp, typeId, metricId, value)",
        "CREATE TABLE GPU_METRICS (timestamp INT, typeId INT, metricId INT,"
        " value INT GENERATED ALWAYS AS (length(zeroblob(500000000))) VIRTUAL)",
    ],
)
def test_no_sql_of_the_file_runs(sql: str, tmp_path: Path) -> None:
    with copy_of(TWO_RANKS, tmp_path) as (path, connection):
        connection.execute(sql)
        if sql.startswith("CREATE TABLE"):
            connection.execute(
                "INSERT INTO GPU_METRICS (timestamp, typeId, metricId) VALUES (1,1,1)"
            )
    source = SourceFile(path)
    assert identify(source).FORMAT_ID == "nsight_systems"
    assert parts_us(import_profile([source])) == parts_us(imported(TWO_RANKS))


def test_secrets_in_the_file_are_nowhere(tmp_path: Path) -> None:
    with copy_of(TWO_RANKS, tmp_path) as (path, connection):
        connection.execute("CREATE TABLE TARGET_INFO_SYSTEM_ENV (name TEXT, value TEXT)")
        connection.execute("INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES ('KEY', 'hunter2')")
        connection.execute("CREATE TABLE PROCESSES (globalPid INT, name TEXT)")
        connection.execute("INSERT INTO PROCESSES VALUES (1, '/home/hunter2/train')")
    assert "hunter2" not in repr(imported(path))


# -------------------------------------------------------------------------------- GPU metrics


def test_samples_say_how_busy_units_were_while_each_kernel_ran() -> None:
    profile = imported(GRAPHS)
    ops, row = profile.ops, {name: k for k, name in enumerate(profile.ops.name)}
    graph, softmax = row["CUDA graph 5"], row["softmax_warp_forward(float*)"]
    time_ps = ops.time_ps.astype(np.float64)
    share = {ceiling.value: busy / time_ps for ceiling, busy in ops.busy_ps.items()}
    assert share["tensor"][[graph, softmax]] == pytest.approx([0.70, 0.0])
    assert share["hbm"][[graph, softmax]] == pytest.approx([0.40, 0.7735])
    # Read and write share of HBM's peak; the first 90 of 1,000 us fall into a sample of zeros.
    rate_gbs = ops.bytes_accessed / (time_ps / 1e12) / 1e9
    assert rate_gbs[[graph, softmax]] == pytest.approx([815.6, 1577.2], rel=1e-4)
    assert not ops.flop_known.any()


def test_a_kernel_with_few_samples_has_none(tmp_path: Path) -> None:
    with copy_of(GRAPHS, tmp_path) as (path, connection):
        connection.execute("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = start + 120000")
    ops = imported(path).ops
    softmax = ops.name.index("softmax_warp_forward(float*)")
    assert all(np.isnan(busy[softmax]) for busy in ops.busy_ps.values())
    assert not ops.bytes_known[softmax]


def test_copies_alone_make_no_rate_of_a_program(tmp_path: Path) -> None:
    """FLOPs of the kernels, of 1 % of the time, were not counted: 0 FLOP/s would be wrong."""
    far = "UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET end = start + 2000000000 WHERE rowid = 1"
    bare = "UPDATE NVTX_EVENTS SET text = 'range' WHERE text LIKE 'aten%'"
    analysis = analyse_files([changed(tmp_path, far, bare)])
    program = analysis.view(include_infeed_outfeed=True).program
    assert np.isnan(program.measures.flop_rate_gflops).all()


def test_units_without_samples_are_not_called_idle(tmp_path: Path) -> None:
    with copy_of(GRAPHS, tmp_path) as (path, connection):
        connection.execute("UPDATE GPU_METRICS SET value = 5 WHERE metricId BETWEEN 2 AND 5")
    analysis = analyse_files([path])
    kinds = {analysis.nearest.kind_of(op) for op in range(len(analysis.profile.ops))}
    assert kinds == {OpClass.UNKNOWN}


# ----------------------------------------------------------------- columns and tables of versions

KERNEL, GPU, DEVICE = "CUPTI_ACTIVITY_KIND_KERNEL", "TARGET_INFO_GPU", "TARGET_INFO_CUDA_DEVICE"


def changed(tmp_path: Path, *statements: str, sample: Path = TWO_RANKS) -> Path:
    with copy_of(sample, tmp_path) as (path, connection):
        for statement in statements:
            connection.execute(statement)
    return path


def without(table: str, *columns: str) -> list[str]:
    return [f"ALTER TABLE CUPTI_ACTIVITY_KIND_{table} DROP COLUMN {name}" for name in columns]


@pytest.mark.parametrize(
    "statements",
    [
        without("KERNEL", "demangledName", "gridX", "blockX", "graphNodeId", "graphId"),
        without("MEMCPY", "bytes", "srcKind", "dstKind"),
        [f"UPDATE {KERNEL} SET demangledName = NULL WHERE rowid < 3"],
        [f"INSERT INTO {DEVICE} (cudaId, pid) VALUES (7, 4242)"],
    ],
)
def test_work_whose_other_columns_are_missing_keeps_its_time(
    statements: list[str], tmp_path: Path
) -> None:
    assert parts_us(imported(changed(tmp_path, *statements))) == parts_us(imported(TWO_RANKS))


def test_work_without_times_is_refused_by_its_column(tmp_path: Path) -> None:
    path = changed(tmp_path, f"ALTER TABLE {KERNEL} RENAME COLUMN start TO begins")
    with pytest.raises(IncompleteProfileError, match=f"its table {KERNEL} has no column start"):
        imported(path)


@pytest.mark.parametrize(
    ("call", "kind", "payload", "wire"),
    [
        # 2 (n - 1) / n of 1 MiB, of two ranks; the result of an all-gather is of both.
        ("ncclAllReduce", "all-reduce", 2**20, 2**20),
        ("ncclAllGather", "all-gather", 2**21, 2**20),
        ("ncclSend", "send", 2**20, 2**20),
    ],
)
@pytest.mark.parametrize("damage", [b"", b"cut", b"large"])
def test_sizes_of_messages_are_those_of_nccls_payloads(
    call: str, kind: str, payload: int, wire: int, damage: bytes, tmp_path: Path
) -> None:
    """Ranges around the launches of three collectives on each of two ranks."""
    init = struct.pack("<IIIIQQQII", 1, 0, 7, 0, 16, 48, 4711, 2, 0)
    message = struct.pack("<IIIIQQQQ", 1, 0, 8, 0, 16, 48, 4711, 2**20)
    if damage == b"large":
        message = message[:-8] + struct.pack("<Q", 2**60)
    elif damage:
        message = message[:-1]
    with copy_of(TWO_RANKS, tmp_path) as (path, database):
        database.execute("ALTER TABLE NVTX_EVENTS ADD COLUMN binaryData BLOB")
        database.execute(
            "CREATE TABLE NVTX_PAYLOAD_SCHEMA_ENTRIES"
            " (domainId INT, schemaId INT, type INT, name TEXT, offset INT)"
        )
        database.executemany(
            "INSERT INTO NVTX_PAYLOAD_SCHEMA_ENTRIES VALUES (1, ?, ?, ?, ?)",
            [
                (7, 18, "NCCL communicator ID", None),
                (7, 5, "No. of ranks", 8),
                (8, 18, "NCCL communicator ID", None),
                (8, 22, "Message size [bytes]", 8),
                (8, 99, "of an unknown type", 0),
            ],
        )
        launches = database.execute(
            "SELECT start, end, globalTid FROM CUPTI_ACTIVITY_KIND_RUNTIME"
            " WHERE correlationId % 10 = 3"
        ).fetchall()
        rows = [(start - 100, end + 100, call, tid, message) for start, end, tid in launches]
        rows.append((100, 200, "ncclCommInitRank", launches[0][2], init))
        database.executemany(
            "INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid, domainId, binaryData)"
            " VALUES (?, ?, 59, ?, ?, 1, ?)",
            rows,
        )
    timeline = imported(path).timeline
    assert timeline is not None
    moved, seen = timeline.transfers, timeline.transfers.occurrences
    mine = np.isin(seen.transfer, np.flatnonzero(np.array(moved.kind) == kind))
    assert seen.count[mine].tolist() == [3, 3]
    expected = [3.0 * payload] * 2 if not damage else [math.nan] * 2
    assert np.array_equal(seen.payload_bytes[mine], expected, equal_nan=True)
    assert damage or seen.wire_bytes[mine].tolist() == [3 * wire] * 2


def test_kernels_of_a_graph_count_and_not_the_graph(tmp_path: Path) -> None:
    """Both graph launches have a kernel of the first half of their time; another runs for 1 ms."""
    columns = "start, deviceId, correlationId, globalPid, demangledName, shortName, end"
    names = f"(SELECT demangledName FROM {KERNEL}), (SELECT shortName FROM {KERNEL})"
    path = changed(
        tmp_path,
        f"INSERT INTO {KERNEL} ({columns}) SELECT start, deviceId, correlationId, globalPid,"
        f" {names}, (start + end) / 2 FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
        sample=GRAPHS,
    )
    profile = imported(path)
    assert not any(name.startswith("CUDA graph") for name in profile.ops.name)
    assert int(profile.ops.self_time_ps.sum()) == 3_000_000_000
    assert "in-graphs" not in {note.code for note in profile.diagnostics}


def test_a_slice_of_a_gpu_has_its_own_size(tmp_path: Path) -> None:
    """A process sees 14 of 108 multiprocessors: name and bandwidth are those of the whole."""
    device = imported(changed(tmp_path, f"UPDATE {DEVICE} SET numMultiprocessors = 14")).device
    assert device.traits.processor_count == 14
    assert not device.bandwidth_gbs and device.traits.memory_bytes is None


def test_the_profilers_own_work_is_told(tmp_path: Path) -> None:
    """Of 2.75 ms two threads work for 0.5 ms, half of it together."""
    begin = f"(SELECT min(start) FROM {KERNEL})"
    spans = f"({begin} + 0, {begin} + 400000), ({begin} + 200000, {begin} + 500000)"
    path = changed(
        tmp_path,
        "CREATE TABLE PROFILER_OVERHEAD(start, end)",
        f"INSERT INTO PROFILER_OVERHEAD VALUES {spans}",
    )
    (note,) = (one for one in imported(path).diagnostics if one.code == "overhead")
    assert note.message.startswith("The profiler itself worked for 0.5 ms of the 2.75 ms")


def test_changes_in_a_log_beside_the_file_are_told(tmp_path: Path) -> None:
    path = tmp_path / "report.sqlite"
    shutil.copy(TWO_RANKS, path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("INSERT INTO StringIds VALUES (9999, 'late')")
        connection.commit()
        with pytest.raises(CorruptProfileError, match=r"its last changes are in report.sqlite-wal"):
            imported(path)
    assert parts_us(imported(path)) == parts_us(imported(TWO_RANKS))
