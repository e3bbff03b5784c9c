"""What a file states itself is compared with what we compute; little of a file has no verdict."""

import csv
import shutil
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import pytest

from roofline.analysis.records import RooflineAnalysis
from roofline.exports.answering import answer_of
from roofline.pipeline import analyse_files
from tests.conftest import ROOT
from tests.tools.make_joined_sample import GEMM, SCALE, export

FOLDER = ROOT / "sample_profiles/rocprof_compute/mi250x-solver"


def workload(folder: Path, factors: Mapping[int, float]) -> RooflineAnalysis:
    """The sample with a table of totals, of which the n-th time is multiplied."""
    ops = analyse_files([FOLDER]).profile.ops
    place = folder / "workload"
    shutil.copytree(FOLDER, place)
    with (place / "pmc_kernel_top.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["Kernel_Name", "Count", "Sum(ns)", "Mean(ns)", "Median(ns)", "Pct"])
        for k, name in enumerate(ops.name):
            total_ns = int(ops.time_ps[k]) / 1000 * factors.get(k, 1.0)
            writer.writerow([name, int(ops.occurrences[k]), total_ns, 1, 1, 1])
    return analyse_files([place])


def notes(analysis: RooflineAnalysis) -> list[str]:
    return [note.message for note in analysis.diagnostics if note.code == "second-opinion"]


def test_stated_times_of_kernels_agree(tmp_path: Path) -> None:
    analysis = workload(tmp_path, {})
    assert not notes(analysis)
    stated = analysis.profile.stated
    assert len(stated) == 2 * len(analysis.profile.ops) and all(one.agrees for one in stated)


def test_a_stated_time_that_differs_is_noted_with_both_numbers(tmp_path: Path) -> None:
    (text,) = notes(workload(tmp_path, {1: 1.05}))
    assert text.startswith("By pmc_kernel_top.csv it is 2,875 µs in ") and text.endswith(" 2,738.")


def test_half_of_a_stated_total_has_no_verdict(tmp_path: Path) -> None:
    analysis = workload(tmp_path, {0: 20.0})
    assert notes(analysis)
    verdict = answer_of(analysis).verdict
    assert verdict.coverage is not None and verdict.coverage < 0.5
    assert verdict.kind.value == "unknown"


@pytest.mark.parametrize(("stated", "differs"), [(8, False), (900, True)])
def test_events_that_nsight_systems_counts(tmp_path: Path, stated: int, differs: bool) -> None:
    path = export(tmp_path / "program.sqlite", [GEMM, SCALE] * 2)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE DIAGNOSTIC_EVENT (severity, text)")
        text = f"Number of CUDA events collected: \t{stated:,}."
        connection.execute("INSERT INTO DIAGNOSTIC_EVENT VALUES (1, ?)", (text,))
        connection.commit()
    assert bool(notes(analyse_files([path]))) is differs


@pytest.mark.parametrize(("unreadable", "has_verdict"), [(0.0, True), (0.6, False)])
def test_a_file_of_which_most_rows_cannot_be_read_has_no_verdict(
    tmp_path: Path, unreadable: float, has_verdict: bool
) -> None:
    """Times as a spreadsheet leaves them, in three of five dispatches of each kernel."""
    place = tmp_path / "workload"
    shutil.copytree(FOLDER, place)
    (place / "timestamps.csv").unlink(missing_ok=True)
    table = place / "pmc_perf.csv"
    with table.open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    begin, end = header.index("Start_Timestamp"), header.index("End_Timestamp")
    repeated = [[*row] for row in rows for _ in range(5)]
    for k, row in enumerate(repeated):
        if k % 5 < 5 * unreadable:
            row[begin] = row[end] = "8.1E+14"
    with table.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *repeated])
    verdict = answer_of(analyse_files([place])).verdict
    assert (verdict.kind.value != "unknown") is has_verdict
    assert has_verdict or (verdict.coverage is not None and verdict.coverage < 0.5)
