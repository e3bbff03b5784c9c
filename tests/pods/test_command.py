"""`roofline analyze --engine local` on files: hosts, states, waits, and the same bytes."""

import gzip
import json
import shutil
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from roofline.importers.intake.archives import UnpackLimits
from roofline.pods.folders import files_of
from roofline.pods.partial import Partial
from roofline.pods.reading import read_file
from roofline.pods.workers import in_order
from tests.cli.test_main import refused, run
from tests.conftest import ROOT, SAMPLES
from tests.importers.test_skew import rank
from tests.pods import runs
from tests.profiles import imported
from tests.tools.generate_xspace import Config, write_profile
from tests.tools.make_kineto_traces import KinetoTrace

SHARED = ROOT.parent / "shared"
THREE_HOSTS = SAMPLES / "xspace" / "v5e-three-hosts"
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="the reference folder is not there")


def document(*paths: object) -> Any:
    """What the command prints as JSON."""
    return json.loads(analysed(*paths))


def analysed(*paths: object) -> bytes:
    """The bytes that the command prints as JSON."""
    return run("analyze", "--engine", "local", "--format", "json", *paths).stdout


def test_a_folder_of_hosts_has_the_values_of_each() -> None:
    found = document(THREE_HOSTS)
    assert [one["host"] for one in found["hosts"]] == ["host-0", "host-1", "host-2"]
    assert {one["state"] for one in found["hosts"]} == {"read"}
    assert found["no_verdict"] == "few hosts"
    assert all(one["verdict"] is None for one in found["hosts"])
    alone = json.loads(run("analyze", "--format", "json", THREE_HOSTS / "host_1.xplane.pb").stdout)
    fusions = {one["name"]: one["self_time_per_core_us"] for one in alone["ops"]}
    for op in found["ops"]:
        if op["max_host"] == "host-1" and op["program"] == found["ops"][0]["program"]:
            assert op["max_us"] == pytest.approx(fusions[op["name"]], rel=1e-6)


def test_work_is_the_budget_without_waits() -> None:
    """Work is what the timeline leaves without communication, infeed, gaps and idle."""

    file = THREE_HOSTS / "host_0.xplane.pb"
    times = imported(file).timeline
    assert times is not None
    of = times.times
    mine = of.scope == -1
    rest = of.infeed_outfeed_ps + of.host_ps + of.launch_gaps_ps + of.idle_ps
    work_ps = (of.total_ps - rest - sum(of.exposed_ps.values()))[mine].mean()
    assert document(THREE_HOSTS)["hosts"][0]["work_us"] == pytest.approx(work_ps / 1e6, rel=1e-9)


def test_files_folders_order_and_repetition_give_the_same_bytes() -> None:
    files = sorted(THREE_HOSTS.glob("*.pb"))
    wanted = analysed(THREE_HOSTS)
    assert analysed(*reversed(files)) == wanted
    assert analysed(files[1], THREE_HOSTS, files[1]) == wanted


def test_equal_files_are_said_to_count_once() -> None:
    file = THREE_HOSTS / "host_0.xplane.pb"
    done = run("analyze", "--engine", "local", file, file)
    assert b"equal files count once; left out: 1" in done.stderr
    assert done.stdout.startswith(b"1 of 1 host read.")


def test_a_broken_host_is_listed_and_the_others_go_on(tmp_path: Path) -> None:
    shutil.copytree(THREE_HOSTS, tmp_path / "run")
    whole = (tmp_path / "run" / "host_1.xplane.pb").read_bytes()
    (tmp_path / "run" / "host_1.xplane.pb").write_bytes(b"\x00not a capture" + whole[:500])
    (tmp_path / "run" / "host_3.xplane.pb").write_bytes(b"")
    (tmp_path / "run" / "ALL_HOSTS.op_stats.pb").write_bytes(b"a result of XProf")
    found = document(tmp_path / "run")
    assert [(one["host"], one["state"]) for one in found["hosts"]] == [
        ("host-0", "read"),
        ("host-2", "read"),
        ("host_1.xplane.pb", "unreadable"),
        ("host_3.xplane.pb", "unreadable"),
    ]
    assert "host_1.xplane.pb" in found["hosts"][2]["reason"]
    assert found["hosts"][2]["work_us"] is None
    assert found["no_verdict"] == "unreadable hosts"
    assert found["verdict"].startswith("2 of 4 hosts read")


def test_a_missing_file_is_listed(tmp_path: Path) -> None:
    found = document(THREE_HOSTS, tmp_path / "gone.xplane.pb")
    assert found["hosts"][-1]["state"] == "unreadable"
    assert "no such file" in found["hosts"][-1]["reason"]


def test_ranks_of_pytorch_wait_for_the_slowest(tmp_path: Path) -> None:
    for number, trace in enumerate((rank(0, 10, 50, 30), rank(1, 40, 20, 30))):
        (tmp_path / f"rank{number}.json").write_text(trace.as_json())
    found = document(tmp_path)
    assert [(one["host"], one["rank"], one["wait_us"]) for one in found["hosts"]] == [
        ("rank 0", 0, 30.0),
        ("rank 1", 1, 30.0),
    ]
    (collective,) = found["collectives"]
    assert (collective["transfer_us"], collective["instances"]) == (60.0, 3)
    assert collective["wait_is"] == "exact"


def test_two_ranks_of_the_sample() -> None:
    folder = SAMPLES / "pytorch" / "mi300x-two-ranks"
    found = document(folder)
    assert [one["rank"] for one in found["hosts"]] == [0, 1]
    assert all(one["work_us"] > 0 for one in found["hosts"])
    assert len(found["steps"]) > 0


def test_compressed_files_are_the_same_hosts(tmp_path: Path) -> None:
    for file in THREE_HOSTS.glob("*.pb"):
        (tmp_path / f"{file.name}.gz").write_bytes(gzip.compress(file.read_bytes()))
    assert analysed(tmp_path) == analysed(THREE_HOSTS)


def test_the_same_file_gives_the_same_partial(tmp_path: Path) -> None:
    (file, *_) = files_of([THREE_HOSTS])
    again = replace(file, is_named=True)
    (first,), (second,) = (
        read_file(one, one.path, digest="d", scratch=tmp_path, limits=UnpackLimits())
        for one in (file, again)
    )
    assert isinstance(first, Partial)
    assert isinstance(second, Partial)
    assert first.content() == second.content()
    assert len(first.content()) + len(first.names.content) < file.path.stat().st_size / 4
    read = Partial.read(first.content(), lambda _digest: first.names)
    assert read.content() == first.content()


def test_a_coordinator_takes_no_part(tmp_path: Path) -> None:
    config = Config(n_hosts=5, n_events=2_000, traits=("coordinator",))
    write_profile(config, tmp_path)
    states = [one["state"] for one in document(tmp_path)["hosts"]]
    assert sorted(states) == ["no accelerator", *["read"] * 4]


@needs_shared
def test_eight_chips_of_one_host() -> None:
    found = document(SHARED / "profiles" / "amd-mi300x-conv-jax08")
    (host,) = found["hosts"]
    assert host["host"] == "tw003"
    assert [chip["chip"] for chip in host["chips"]] == [f"/device:GPU:{k}" for k in range(8)]
    assert host["work_us"] == pytest.approx(28_132.877 / 8, rel=1e-9)


@needs_shared
def test_a_shared_run_of_three_hosts() -> None:
    found = document(SHARED / "cases" / "s06_v5e_three_hosts")
    assert len(found["hosts"]) == 3
    assert found["verdict"] == "3 of 3 hosts read. A verdict needs at least 4."
    assert len(found["steps"]) == 4


@needs_shared
def test_packed_workloads_of_rocprof_compute_are_one_host_each(tmp_path: Path) -> None:
    workload = SHARED / "samples" / "rocprof_compute" / "vcopy_MI200"
    for number in range(4):
        with zipfile.ZipFile(tmp_path / f"rank{number}.zip", "w") as packed:
            for file in sorted(workload.glob("*.csv")):
                packed.write(file, file.name)
            packed.comment = f"rank {number}".encode()
    found = document(tmp_path)
    assert [one["state"] for one in found["hosts"]] == ["read"] * 4
    names = [one["host"] for one in found["hosts"]]
    assert len(set(names)) == 4 and all(f"rank{k}.zip" in name for k, name in enumerate(names))
    assert {one["device"] for one in found["hosts"]} == {"MI200"}
    assert {one["same_work_ratio"] for one in found["hosts"]} == {1.0}
    assert found["hosts"][0]["work_us"] > 0


@needs_shared
def test_reports_of_nsight_compute_are_ranks(tmp_path: Path) -> None:
    report = SHARED / "samples" / "nsight_compute" / "a40_5kernels_raw_auto_by2022.3.csv"
    for number in range(4):
        (tmp_path / f"rank{number}.csv").write_bytes(report.read_bytes() + b"\n" * number)
    found = document(tmp_path)
    assert [one["state"] for one in found["hosts"]] == ["read"] * 4
    assert len({one["host"] for one in found["hosts"]}) == 4
    assert {one["same_work_ratio"] for one in found["hosts"]} == {1.0}
    assert found["no_verdict"] is None


def test_files_of_one_name_in_several_folders_are_told_apart() -> None:
    header = runs.run(1, hosts=1)[0].header
    same = [
        replace(one, header=replace(header, host="rank 2", file_digest=f"{number}" * 64))
        for number, one in enumerate(runs.run(1, hosts=3))
    ]
    names = [one.header.host for one in in_order(same)]
    assert names == [f"rank 2 ({header.file_name}, {str(k) * 8})" for k in range(3)]


def test_other_formats_are_refused() -> None:
    assert "csv" in refused("analyze", "--engine", "local", "--format", "csv", THREE_HOSTS)


def test_an_empty_folder_is_refused(tmp_path: Path) -> None:
    assert "no files" in refused("analyze", "--engine", "local", tmp_path)


def training_rank(number: int, factor: float, *, ranks: int = 6) -> str:
    """Four steps of products and an all-reduce, which ends on all ranks together."""
    trace = KinetoTrace()
    trace.header["distributedInfo"] = {"backend": "nccl", "rank": number, "world_size": ranks}
    products = [([2_048, 4_096], "float"), ([4_096, 4_096], "float")]
    for step in range(4):
        begin = trace.host_us
        for layer in range(3):
            lasts = (900.0 + layer) * factor
            trace.call("aten::mm", products, ("sgemm_128x64", lasts))
        trace.launch("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 400.0 - 2_703 * (factor - 1))
        trace.wait()
        trace.step(step, begin)
    return trace.as_json()


def test_a_slow_rank_of_pytorch_is_named(tmp_path: Path) -> None:
    for number in range(6):
        (tmp_path / f"rank{number}.json").write_text(
            training_rank(number, 1.0 + 0.06 * (number == 3))
        )
    found = document(tmp_path)
    assert {one["host"]: one["verdict"] for one in found["hosts"] if one["verdict"]} == {
        "rank 3": "slow chip"
    }
    assert found["hosts"][3]["same_work_ratio"] == pytest.approx(1.06)
    assert {one["critical_host"] for one in found["steps"]} == {"rank 3"}
    assert found["stragglers_cost_ratio"] == pytest.approx(1 - 1 / 1.06)
    assert found["collectives"][0]["waited_for"] == "rank 3"
