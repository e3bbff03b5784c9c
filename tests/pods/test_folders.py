"""Folders whose files are one host: workloads of rocprof-compute, and passes of rocprofv3."""

import json
import shutil
from pathlib import Path

import pytest

from roofline.errors import UploadRejectedError
from roofline.importers.intake.archives import UnpackLimits
from roofline.pods.fetching import fetch_folder
from roofline.pods.folders import HostFile, digest_of, files_of, name_of, rank_of
from roofline.pods.listing import list_run, runs_below
from roofline.pods.partial import FLOP, Partial
from roofline.pods.reading import read_file
from roofline.pods.reduce import reduce_run
from tests.importers.test_skew import rank
from tests.tools.make_rocprof_folder import workload
from tests.tools.make_rocprofiler_sdk import COUNTERS, GEMM, results

NAMES = list(COUNTERS[GEMM])


def read(found: HostFile, scratch: Path) -> Partial:
    """The one partial of a host, as every engine reads it."""
    path = found.path
    if found.is_folder:
        path = scratch / "packed"
        fetch_folder(found.address, path)
    digest = digest_of(path)
    (one,) = read_file(found, path, digest=digest, scratch=scratch / digest, limits=UnpackLimits())
    assert isinstance(one, Partial), one
    return one


def written(folder: Path, number: int) -> None:
    """A workload with a kernel that takes longer in each rank."""
    folder.mkdir(parents=True)
    for name, text in workload().items():
        (folder / name).write_text(text + "\n" * number)
    (folder / "log.txt").write_text("words")


def test_workloads_of_several_ranks_are_hosts_in_their_order(tmp_path: Path) -> None:
    run = tmp_path / "run"
    for number in (10, 2, 0, 1):
        written(run / f"rank_{number}" / "MI300X_A1", number)
    found = [one for one in files_of([run]) if one.is_folder]
    assert [one.name for one in found] == ["rank_0", "rank_1", "rank_10", "rank_2"]
    report = reduce_run(read(one, tmp_path) for one in found)
    assert [one.rank for one in report.hosts] == [0, 1, 2, 10]
    assert len({one.host for one in report.hosts}) == 4
    assert all("rank_" in one.host and one.work_ps for one in report.hosts)
    (listed,) = [one for one in list_run(str(run)).files if "rank_2" in one.address]
    assert listed.size_bytes == sum(file.stat().st_size for file in run.glob("rank_2/*/*.csv"))


def test_equal_files_are_packed_to_equal_bytes(tmp_path: Path) -> None:
    written(tmp_path / "a", 0)
    shutil.copytree(tmp_path / "a", tmp_path / "b", copy_function=shutil.copyfile)
    for name in "ab":
        fetch_folder(f"{tmp_path / name}/", tmp_path / f"{name}.tar")
    assert (tmp_path / "a.tar").read_bytes() == (tmp_path / "b.tar").read_bytes()
    (tmp_path / "b" / "pmc_perf.csv").unlink()
    with pytest.raises(UploadRejectedError, match="folder is gone"):
        fetch_folder(f"{tmp_path / 'b'}/", tmp_path / "b.tar")


def passes(folder: Path, *process: int) -> None:
    """Two passes of each process, with a counter each."""
    for number, names in enumerate((NAMES[:2], NAMES[2:]), 1):
        for one in process:
            file = folder / f"pmc_{number}" / "node7" / f"{one + number}_results.json"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps(results(names)))


def test_passes_of_one_rank_are_one_host(tmp_path: Path) -> None:
    for number in range(2):
        passes(tmp_path / "out" / f"rank_{number}", 4_000)
    found = files_of([tmp_path])
    assert [(one.name, one.is_folder) for one in found] == [("rank_0", True), ("rank_1", True)]
    one = read(found[1], tmp_path)
    assert (one.header.host, one.header.known_rank, one.header.cores) == ("rank_1", 1, 1)
    assert one.ops[FLOP].max() > 0


def test_the_watch_finds_folders_of_ranks_as_one_run(tmp_path: Path) -> None:
    for number in range(3):
        written(tmp_path / "compute" / f"rank_{number}" / "MI300X_A1", number)
        passes(tmp_path / "out" / f"rank_{number}", 4_000)
        single = tmp_path / "single" / f"rank_{number}" / "node7"
        single.mkdir(parents=True)
        (single / f"{number}_results.json").write_text("{}")
    written(tmp_path / "workloads" / "app" / "MI300X_A1", 1)
    passes(tmp_path / "mixed", 4_000, 5_000)
    (tmp_path / "config.json").write_text("{}")
    found = {one.place: one for one in runs_below(str(tmp_path))}
    hosts = {place.removeprefix(f"{tmp_path}/"): one.hosts for place, one in found.items()}
    assert hosts == {"compute/": 3, "out/": 3, "single/": 3, "workloads/app/MI300X_A1/": 1}
    for place, one in found.items():
        listed = list_run(place).files
        assert len(listed) == one.hosts
        assert sum(file.size_bytes for file in listed) == one.size_bytes


def test_passes_of_several_processes_in_one_folder_are_refused(tmp_path: Path) -> None:
    passes(tmp_path / "out", 4_000, 5_000)
    with pytest.raises(UploadRejectedError, match="out holds 2 passes of several processes"):
        files_of([tmp_path])


def test_files_of_one_pass_are_hosts_each(tmp_path: Path) -> None:
    passes(tmp_path / "out", 4_000, 5_000)
    shutil.rmtree(tmp_path / "out" / "pmc_2")
    found = files_of([tmp_path])
    assert [one.name for one in found] == ["node7/4001_results.json", "node7/5001_results.json"]
    assert read(found[0], tmp_path).header.host == "node7/4001_results.json"


@pytest.mark.parametrize(
    ("path", "name", "rank"),
    [
        ("/runs/a/rank_3/trace.json", "rank_3/trace.json", 3),
        ("/runs/rank_3/b/rank4.json.gz", "rank4.json.gz", 4),
        ("runs/node-1_77.1.pt.trace.json", "node-1_77.1.pt.trace.json", None),
        ("/runs/Rank-12/MI200/", "Rank-12", 12),
        ("/workloads/MI200/", "workloads", None),
        ("/out/rank_3/app/MI300X_A1/", "rank_3", 3),
        ("/out/rank_3/node7/17_results.json", "rank_3/17_results.json", 3),
        ("/out/pmc_1/node7/17_results.json", "node7/17_results.json", None),
        ("/frank3/x.json", "x.json", None),
        ("x_results.json", "x_results.json", None),
    ],
)
def test_names_of_hosts_by_their_path(path: str, name: str, rank: int | None) -> None:
    assert (name_of(path), rank_of(name_of(path))) == (name, rank)


def test_clocks_that_differ_by_seconds_change_no_wait(tmp_path: Path) -> None:
    """Collectives are matched by group and order, never by time."""
    found = []
    for ahead_us in (0.0, 7_000_000.0):
        folder = tmp_path / f"{ahead_us:.0f}"
        folder.mkdir()
        for number, lasts_us in enumerate(([10, 50, 30], [40, 20, 30])):
            trace = rank(number, *lasts_us)
            for event in trace.events:
                if "ts" in event:
                    event["ts"] += number * ahead_us
            (folder / f"rank{number}.pt.trace.json").write_text(trace.as_json())
        report = reduce_run(read(one, folder) for one in files_of([folder]))
        (collective,) = report.collectives
        assert (collective.instances, collective.transfer_ps) == (3, 60_000_000)
        found.append([one.wait_ps for one in report.hosts])
    assert found == [[30_000_000, 30_000_000]] * 2


def test_ranks_on_machines_with_names_keep_their_rank(tmp_path: Path) -> None:
    """Newer versions of PyTorch write the name of the machine, which several ranks share."""
    for number in range(3):
        trace = rank(number, 10, 50)
        trace.header["host_name"] = "node7"
        (tmp_path / f"node7_{9 - number}.17.pt.trace.json").write_text(trace.as_json())
    found = reduce_run(read(one, tmp_path) for one in files_of([tmp_path])).hosts
    assert [(one.host, one.rank) for one in found] == [
        (f"node7 rank {number}", number) for number in range(3)
    ]
