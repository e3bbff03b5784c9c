"""Percentiles of an op's launches: against those of the file, and where no file tells any."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from roofline.analysis.time_range import in_range
from roofline.exports.records import analysis_to_json
from roofline.importers.shared.launch_times import LaunchPieces, joined_launches
from roofline.model.timeline import LaunchTimes
from roofline.pipeline import analyse_files
from tests.cli.test_main import run

SAMPLES = Path(__file__).resolve().parents[2] / "sample_profiles"
RATIOS = {"p50_us": 50, "p90_us": 90, "p99_us": 99}


def ops_of(*paths: Path) -> list[dict[str, Any]]:
    found = analysis_to_json(analyse_files(list(paths)), include_infeed_outfeed=True)
    ops: list[dict[str, Any]] = json.loads(found)["ops"]
    return ops


def uneven(path: Path) -> Path:
    """A training whose k-th launch of each kernel takes k µs more than in the sample."""
    trace = json.loads((SAMPLES / "pytorch" / "h100-training.json").read_text())
    seen: dict[str, int] = {}
    for event in trace["traceEvents"]:
        if event.get("cat") == "kernel":
            seen[event["name"]] = seen.get(event["name"], 0) + 1
            event["dur"] += seen[event["name"]]
    path.write_text(json.dumps(trace))
    return path


def plain_trace(path: Path, times: dict[str, list[float]]) -> Path:
    """A trace of kernels without operators, one after the other."""
    events: list[dict[str, Any]] = []
    begin = 0.0
    for name, durations in times.items():
        for us in durations:
            events.append(
                {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": begin}
                | {"dur": us, "args": {"device": 0, "stream": 7, "correlation": len(events) + 1}}
            )
            begin += us + 1
    device = [{"id": 0, "name": "NVIDIA H100 80GB HBM3"}]
    path.write_text(json.dumps({"deviceProperties": device, "traceEvents": events}))
    return path


def test_percentiles_of_a_trace_are_those_of_its_kernels(tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    times = {
        f"kernel_{number}": [round(us, 3) for us in random.lognormal(3, 1, count).tolist()]
        for number, count in enumerate((1, 2, 9, 100, 333))
    }
    ops = {op["name"]: op for op in ops_of(plain_trace(tmp_path / "trace.json", times))}
    assert "launch_times" not in ops["kernel_0"], "of one launch nothing is spread"
    for name in list(times)[1:]:
        found = ops[name]["launch_times"]
        assert found["count"] == ops[name]["occurrences"] == len(times[name])
        for key, percent in RATIOS.items():
            expected = np.percentile(times[name], percent, method="inverted_cdf")
            assert found[key] == pytest.approx(expected, abs=0.0011)
        assert "p95_gibs" not in found, "no bytes are known"


@pytest.mark.covers(240)
def test_the_bandwidth_of_launches_of_the_same_shapes_follows_their_times(tmp_path: Path) -> None:
    ops = ops_of(uneven(tmp_path / "trace.json"))
    known = [op for op in ops if "p95_gibs" in op.get("launch_times", {})]
    assert len(known) > 10
    for op in known:
        found, mean = op["launch_times"], op["memory_bandwidth_gibs"]
        assert mean * op["avg_time_us"] / found["p50_us"] <= found["p95_gibs"] * (1 + 1e-9)
        if found["count"] == 2:  # the faster of two: each a µs or more from the mean
            shortest = 2 * op["avg_time_us"] - found["p99_us"]
            assert found["p95_gibs"] == pytest.approx(mean * op["avg_time_us"] / shortest)


def test_a_table_of_launches_has_percentiles_of_its_own_rows() -> None:
    ops = {op["name"]: op for op in ops_of(SAMPLES / "nsight_compute" / "a100-kernels.ncu-rep")}
    found = next(op for op in ops.values() if op["name"].startswith("void sgemm_tiled"))
    # 1,571.84 µs, 1,574.02 µs and one below; each launch moved its own bytes.
    assert found["launch_times"]["count"] == 3
    assert found["launch_times"]["p50_us"] == pytest.approx(1571.84)
    assert found["launch_times"]["p99_us"] == pytest.approx(1574.016)
    assert found["launch_times"]["p95_gibs"] == pytest.approx(found["memory_bandwidth_gibs"], 0.01)
    once = next(op for op in ops.values() if op["occurrences"] == 1)
    assert "launch_times" not in once


@pytest.mark.parametrize("name", ["generic/cfd-cpu.csv", "xprof_export/a100-hlo_stats.csv"])
def test_sums_of_launches_have_none(name: str) -> None:
    assert not any("launch_times" in op for op in ops_of(SAMPLES / name))


def test_operators_on_a_processor_have_percentiles_of_their_own_times(tmp_path: Path) -> None:
    begin, events = 0.0, list[dict[str, Any]]()
    times = {"aten::relu": [5.0, 2.0, 9.0], "aten::mm": [40.0, 30.0]}
    for name, durations in times.items():
        for us in durations:
            events.append(
                {"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": begin}
                | {"dur": us, "args": {"Input Dims": [[64, 64]] * 2, "Input type": ["float"] * 2}}
            )
            begin += us + 1
    path = tmp_path / "cpu.json"
    path.write_text(json.dumps({"traceEvents": events}))
    told = {op["name"].split()[0]: op["launch_times"] for op in ops_of(path) if op["occurrences"]}
    assert told.keys() == times.keys()
    for name, found in told.items():
        assert found["count"] == len(times[name])
        assert found["p50_us"] == np.percentile(times[name], 50, method="inverted_cdf")
        assert found["p99_us"] == max(times[name])
    assert told["aten::mm"]["p95_gibs"] == pytest.approx(3 * 64 * 64 * 4 / 30e-6 / 2**30)


def test_cores_and_hosts_of_a_tpu_count_together() -> None:
    folder = SAMPLES / "xspace" / "v5e-three-hosts"
    ops = ops_of(*sorted(folder.iterdir()))
    told = [op for op in ops if "launch_times" in op]
    assert len(told) > 100
    for op in told:
        found = op["launch_times"]
        assert found["count"] == op["occurrences"]
        assert found["p50_us"] <= found["p90_us"] <= found["p99_us"]


def test_a_range_of_the_time_and_one_operation(tmp_path: Path) -> None:
    trace = uneven(tmp_path / "trace.json")
    cut = analyse_files([trace])
    timeline = cut.profile.timeline
    assert timeline is not None and timeline.bins is not None
    edges = timeline.bins.edges_ps
    part = in_range(cut.profile, float(edges[1]), float(edges[-2]))
    assert part.timeline is not None
    assert part.timeline.launches is None
    name = next(op["name"] for op in ops_of(trace) if "launch_times" in op)
    told = run("analyze", trace, "--format", "markdown", "--explain", name)
    said = told.stdout.decode()
    assert "single launches, percentiles" in said
    assert "p99_us\t" in said


def test_many_launches_are_few_classes_and_pieces_add_up() -> None:
    random = np.random.default_rng(5)
    op = random.integers(-1, 40, 400_000).astype(np.int32)
    time_ps = random.lognormal(12, 0.6, len(op)) * 1000
    pieces = [LaunchPieces(), LaunchPieces()]
    for number, rows in enumerate(np.array_split(np.arange(len(op)), 21)):
        pieces[number % 2].add(op[rows], time_ps[rows])
    found = joined_launches([one.all() for one in pieces])
    assert len(found) < 20_000
    assert found.count.sum() == (op >= 0).sum()
    assert (found.count * found.time_ps).sum() == pytest.approx(time_ps[op >= 0].sum())
    mine = found.op == 7
    for percent in (50, 90, 99):
        at = np.searchsorted(np.cumsum(found.count[mine]), percent / 100 * found.count[mine].sum())
        expected = np.percentile(time_ps[op == 7], percent, method="inverted_cdf")
        assert found.time_ps[mine][at] == pytest.approx(expected, rel=0.015)


def test_launches_of_no_op_are_left_out() -> None:
    pieces = LaunchPieces()
    pieces.add(np.array([2, -1, 2]), np.array([5.0, 6.0, 0.0]))
    found = pieces.all()
    assert isinstance(found, LaunchTimes)
    assert (found.op.tolist(), found.count.tolist(), found.time_ps.tolist()) == (
        [2, 2],
        [1, 1],
        [0.0, 5.0],
    )


def test_a_launch_without_length_has_a_time_and_no_rate(tmp_path: Path) -> None:
    trace = json.loads(uneven(tmp_path / "trace.json").read_text())
    first = next(one for one in trace["traceEvents"] if one.get("cat") == "kernel")
    first["dur"] = 0
    (tmp_path / "trace.json").write_text(json.dumps(trace))
    ops = [op for op in ops_of(tmp_path / "trace.json") if "launch_times" in op]
    assert any(op["launch_times"]["p50_us"] == 0 for op in ops if op["occurrences"] > 1)
