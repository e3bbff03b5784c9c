"""One host of several has the numbers of its file alone; peaks follow the clock as in XProf."""

import json
from pathlib import Path
from typing import Any

import pytest

from roofline.analysis.one_host import hosts_alone
from roofline.errors import NoSuchRangeError
from roofline.exports.records import analysis_to_json
from roofline.exports.xprof import to_xprof
from roofline.model.memory import MemoryLevel
from roofline.pipeline import analyse_files
from tests.tools.make_kineto_traces import FP32, KinetoTrace

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "xspace"
THREE = sorted((GOLDEN / "s06_v5e_three_hosts").glob("*.xplane.pb"))
SLOWED = [GOLDEN / "s10_v6e_dvfs_overlap" / "host_0.xplane.pb"]


def record(**options: Any) -> Any:
    """The analysis of the hosts as JSON, without its notes and the name of the one shown alone."""
    found = json.loads(analysis_to_json(analyse_files(**options), include_infeed_outfeed=True))
    assert found["subject"].pop("host") == options.get("host")
    return {name: value for name, value in found.items() if name != "diagnostics"}


def test_every_number_of_a_host_is_that_of_its_file_alone() -> None:
    shown = analyse_files(THREE, host="host-1")
    assert shown.diagnostics[0].code == "one-host"
    assert hosts_alone(shown.profile) == ("host-0", "host-1", "host-2")
    assert record(paths=THREE, host="host-1") == record(paths=THREE[1:2])
    part = (0.0, 1e9)
    cut = record(paths=THREE, host="host-1", range_ps=part)
    assert cut == record(paths=THREE[1:2], range_ps=part)
    one = to_xprof(analyse_files(THREE, host="host-2", xprof_compat=True))
    assert one == to_xprof(analyse_files(THREE[2:], xprof_compat=True))


def test_a_host_that_is_not_there_is_named_with_those_that_are() -> None:
    with pytest.raises(NoSuchRangeError) as refused:
        analyse_files(THREE, host="host-9")
    assert "host-0, host-1, host-2" in refused.value.remedy
    alone = analyse_files(THREE[:1], host="host-0")
    assert alone.profile.host == "" and hosts_alone(alone.profile) == ()


def traces(folder: Path, *hosts: str) -> list[Path]:
    """Files of ranks on these machines, of which each later one runs a kernel more."""
    paths = []
    for number, host in enumerate(hosts):
        trace = KinetoTrace()
        for _ in range(number + 1):
            trace.call("aten::mm", [((64, 64), FP32), ((64, 64), FP32)], ("gemm", 20.0))
        trace.header["distributedInfo"] = {"backend": "nccl", "rank": number}
        trace.header |= {"host_name": host} if host else {}
        paths.append(folder / f"worker{number}.json")
        paths[-1].write_text(trace.as_json(), "utf-8")
    return paths


@pytest.mark.parametrize("name", ["rank 1", "worker1.json"])
def test_a_rank_that_is_listed_can_be_shown_alone(name: str, tmp_path: Path) -> None:
    """Its format reads all ranks together, so its file is read again without the others."""
    files = traces(tmp_path, "", "", "")
    shown = analyse_files(files, host=name)
    assert (shown.profile.host, shown.profile.all_hosts) == (name, ("rank 0", "rank 1", "rank 2"))
    assert shown.diagnostics[0].message == f"All numbers are of the host {name}, one of 3."
    assert record(paths=files, host=name) == record(paths=files[1:2])


def test_a_machine_stands_for_all_of_its_ranks(tmp_path: Path) -> None:
    files = traces(tmp_path, "node1", "node2", "node1")
    assert analyse_files(files, host="node1").device.core_count == 2
    assert record(paths=files, host="node1") == record(paths=[files[0], files[2]])
    assert record(paths=files, host="rank 2") == record(paths=files[2:])
    with pytest.raises(NoSuchRangeError) as refused:
        analyse_files(files, host="rank 3")
    assert refused.value.remedy == "Its hosts are: node1, node2, rank 0, rank 2."
    alone = analyse_files(traces(tmp_path, "node1", "node1"), host="node1")
    assert alone.profile.host == "" and alone.device.core_count == 2


def test_a_rank_keeps_the_capture_of_its_graphs(tmp_path: Path) -> None:
    files = traces(tmp_path, "", "")
    capture = KinetoTrace()
    capture.runtime("cudaStreamBeginCapture")
    capture.recorded("graph_gemm", name="aten::mm", inputs=[((8, 64), FP32), ((64, 32), FP32)])
    capture.runtime("cudaStreamEndCapture")
    replay = KinetoTrace()
    replay.graph(("graph_gemm", 5.0))
    replay.header["distributedInfo"] = {"backend": "nccl", "rank": 2}
    for name, trace in (("capture", capture), ("replay", replay)):
        files.append(tmp_path / f"{name}.json")
        files[-1].write_text(trace.as_json(), "utf-8")
    graphs = analyse_files(files, host="rank 2").profile.graphs
    assert graphs is not None and (graphs.kernels, graphs.aligned) == (1, 1)


def test_files_of_several_hosts_under_one_name_are_not_told_apart(tmp_path: Path) -> None:
    files = traces(tmp_path, "", "")
    folder = tmp_path / "other"
    folder.mkdir()
    moved = files[0].rename(folder / files[1].name)
    with pytest.raises(NoSuchRangeError, match="have the same name"):
        analyse_files([moved, files[1]], host="rank 1")


def test_peaks_follow_the_clock_as_with_the_switch_of_xprof() -> None:
    own, slowed = analyse_files(SLOWED), analyse_files(SLOWED, dvfs=True)
    scale = own.time_scale_multiplier
    assert scale is not None
    assert scale == pytest.approx(0.915516, abs=1e-6)  # XProf's own reference has these digits
    assert slowed.device.dvfs_scale == scale
    assert slowed.device.peak_gflops == pytest.approx(918_000 * scale)
    for level in (MemoryLevel.VMEM_READ, MemoryLevel.VMEM_WRITE):
        nominal = own.device.memory_gbs(level)
        assert nominal and slowed.device.memory_gbs(level) == pytest.approx(nominal * scale)
    assert slowed.device.memory_gbs(MemoryLevel.HBM) == own.device.memory_gbs(MemoryLevel.HBM)
    assert slowed.profile.ops.time_ps.tolist() == own.profile.ops.time_ps.tolist()
    with pytest.raises(NoSuchRangeError):
        analyse_files(THREE[:1], dvfs=True)
