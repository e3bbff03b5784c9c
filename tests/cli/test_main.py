"""The `roofline` command: what it prints, how it fails, and what it does not import."""

import csv
import gzip
import io
import json
import os
import random
import subprocess
import sys
import tarfile
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

import roofline
from roofline.cli.main import main
from tests.tools.generate_xspace import Config, write_profile
from tests.tools.make_rocprof_folder import workload

HEAVY = ("fastapi", "starlette", "uvicorn", "pandas", "plotly", "pydantic", "jinja2", "structlog")


def run(*arguments: object, code: int = 0) -> subprocess.CompletedProcess[bytes]:
    """The command in this process: starting another one takes a second each time."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as ended:
        main([*map(str, arguments)])
    said, complained = (stream.buffer.getvalue() for stream in (out, err))
    assert ended.value.code == code, complained.decode()
    return subprocess.CompletedProcess(["roofline", *map(str, arguments)], code, said, complained)


def refused(*arguments: object) -> str:
    """Standard error of a command that must fail with a message and a remedy."""
    done = run(*arguments, code=2)
    said = done.stderr.decode()
    assert done.stdout == b""
    assert said.startswith("roofline: ")
    assert len(said.strip().splitlines()) >= 2
    assert "Traceback" not in said
    return said


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    config = Config(n_events=900, n_steps=3, n_distinct_ops=40, n_hosts=2)
    return write_profile(config, tmp_path_factory.mktemp("cli"))


def test_version() -> None:
    assert run("--version").stdout.decode() == f"roofline {roofline.__version__}\n"


def test_no_arguments_shows_what_there_is() -> None:
    shown = subprocess.run([sys.executable, "-m", "roofline"], capture_output=True, timeout=60)
    for command in (b"serve", b"analyze", b"warm-up"):
        assert command in shown.stdout + shown.stderr


def test_text_names_device_bound_and_savings(hosts: list[Path]) -> None:
    shown = run("analyze", *hosts).stdout.decode()
    for word in ("TPU v5 lite", "197", "Total", "HBM", "fusion"):
        assert word.lower() in shown.lower(), word
    assert "\x1b" not in shown
    assert max(len(line) for line in shown.splitlines()) <= 120


def test_json_has_units_in_its_keys(hosts: list[Path]) -> None:
    body = json.loads(run("analyze", "--format", "json", *hosts).stdout)
    assert {"device", "roofs", "program_points", "ops", "diagnostics"} <= set(body)
    assert "total_time_us" in body["ops"][0]


def test_csv_has_one_row_per_op(hosts: list[Path]) -> None:
    rows = list(csv.DictReader(io.StringIO(run("analyze", "-f", "csv", *hosts).stdout.decode())))
    ops = json.loads(run("analyze", "-f", "json", *hosts).stdout)["ops"]
    assert len(rows) == len(ops)


def test_xprof_format_is_its_table(hosts: list[Path]) -> None:
    table = json.loads(run("analyze", "--format", "xprof", *hosts).stdout)
    assert {"cols", "rows", "p"} <= set(table[0])


def test_infeed_and_outfeed_can_be_left_out(hosts: list[Path]) -> None:
    def shares(*options: str) -> list[object]:
        body = json.loads(run("analyze", "-f", "json", *options, *hosts).stdout)
        return [op["name"] for op in body["ops"]]

    assert set(shares("--exclude-infeed-outfeed")) < set(shares())


def test_output_goes_to_a_file(hosts: list[Path], tmp_path: Path) -> None:
    target = tmp_path / "out.json"
    assert run("analyze", "-f", "json", "-o", target, *hosts).stdout == b""
    assert json.loads(target.read_bytes())["ops"]
    said = run("analyze", "-o", tmp_path / "no" / "such", *hosts, code=2).stderr
    assert b"cannot be written" in said


def test_archives_and_gzip_are_read(hosts: list[Path], tmp_path: Path) -> None:
    expected = json.loads(run("analyze", "-f", "json", *hosts).stdout)
    packed = tmp_path / "run.tar.gz"
    with tarfile.open(packed, "w:gz") as archive:
        for host in hosts:
            archive.add(host, host.name)
    zipped = [tmp_path / f"{host.name}.gz" for host in hosts]
    for source, target in zip(hosts, zipped, strict=True):
        target.write_bytes(gzip.compress(source.read_bytes()))
    for given in ([packed], zipped):
        assert json.loads(run("analyze", "-f", "json", *given).stdout)["ops"] == expected["ops"]


def test_every_bad_file_exits_2_with_a_remedy(hosts: list[Path], tmp_path: Path) -> None:
    whole = hosts[0].read_bytes()
    bad = {
        "empty.pb": b"",
        "notes.txt": b"These are notes.\n" * 40,
        "random.bin": random.Random(3).randbytes(4000),
        "cut.gz": gzip.compress(whole)[:-50],
        "cut.pb": whole[: len(whole) // 2],
    }
    for name, content in bad.items():
        path = tmp_path / name
        path.write_bytes(content)
        assert name.removesuffix(".gz") in refused("analyze", path)


@pytest.mark.parametrize("output_format", ["text", "json", "csv", "xprof"])
def test_missing_file_is_named_in_every_format(tmp_path: Path, output_format: str) -> None:
    said = refused("analyze", "--format", output_format, tmp_path / "missing.pb")
    assert "missing.pb cannot be read: no such file" in said


def test_folder_is_told_apart(tmp_path: Path) -> None:
    assert "is a folder" in refused("analyze", tmp_path)


def test_a_folder_of_rocprof_compute_is_its_workload(tmp_path: Path) -> None:
    """In the folder itself or the one below, with what the profiler leaves beside its tables."""
    below = tmp_path / "solver" / "MI200"
    below.mkdir(parents=True)
    for name, content in workload().items():
        (below / name).write_text(content)
    (below / "log.txt").write_text("INFO ROCProfiler")
    (below / "pmc_kernel_top.csv").write_text("Kernel_Name,Count,Sum(ns)\nk,1,5\n")
    (below / "empirRoof_gpu-ALL_fp32.pdf").write_bytes(b"%PDF-1.4")
    (below / "perfmon").mkdir()
    (below / "perfmon" / "pmc_perf_0.txt").write_text("pmc: SQ_WAVES")
    shown = [run("analyze", folder).stdout for folder in (below, below.parent)]
    assert shown[0] == shown[1]
    assert "Every kernel ran several times" in shown[0].decode()
    assert "skipped" not in shown[0].decode()

    again = tmp_path / "solver" / "MI300X_A1"
    again.mkdir()
    (again / "pmc_perf.csv").write_text(workload()["pmc_perf.csv"])
    said = refused("analyze", below.parent)
    assert "holds 2 workloads of rocprof-compute: MI200, MI300X_A1." in said
    assert "Name one of them." in said


def test_unknown_format_is_a_usage_error(hosts: list[Path]) -> None:
    said = run("analyze", "--format", "xml", hosts[0], code=2).stderr.decode()
    assert "xml" in said
    assert "Traceback" not in said


def test_closed_pipe_is_no_traceback(hosts: list[Path]) -> None:
    reader = subprocess.Popen(
        ["head", "-c", "10"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
    )
    done = subprocess.run(
        [sys.executable, "-m", "roofline", "analyze", "-f", "json", str(hosts[0])],
        stdout=reader.stdin,
        stderr=subprocess.PIPE,
        timeout=60,
    )
    assert reader.stdin is not None
    reader.stdin.close()
    reader.wait(timeout=10)
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("output_format", ["json", "xprof", "csv"])
def test_analysis_imports_no_server_and_no_frames(hosts: list[Path], output_format: str) -> None:
    script = (
        "import sys, json, os\n"
        "from roofline.cli.main import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "os.write(2, json.dumps(sorted(sys.modules)).encode())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, "analyze", "--format", output_format, str(hosts[0])],
        capture_output=True,
        timeout=60,
        env={**os.environ},
    )
    loaded = set(json.loads(done.stderr))
    assert not loaded & {*HEAVY, "rich"}


def test_files_of_two_machines_are_listed_by_group() -> None:
    samples = Path(__file__).parents[2] / "sample_profiles/xspace"
    one, other = samples / "v4-training-cmem.xplane.pb", samples / "v6e-training.xplane.pb"
    said = refused("analyze", one, other)
    assert f"TPU v4: {one.name}\n" in said
    assert f"TPU v6e (Trillium): {other.name}\n" in said


def test_groups_as_text_json_and_csv(hosts: list[Path]) -> None:
    text = run("analyze", "--by", "layer:2", *hosts).stdout.decode()
    assert text.startswith("By layer, of ")
    document = json.loads(run("analyze", "--by", "category", "--format", "json", *hosts).stdout)
    found = document["groups"]
    groups = sum(one["time_us"] for one in found["tree"]) + sum(found["waits_us"].values())
    assert groups + found["unnamed_us"] == pytest.approx(document["subject"]["time_us"])
    table = run("analyze", "--by", "bound", "--format", "csv", *hosts).stdout.decode()
    assert table.startswith("group,level,op_count,time_us")


def test_groups_in_another_format_or_by_something_else_are_refused(hosts: list[Path]) -> None:
    said = refused("analyze", "--by", "phase", "--format", "xprof", *hosts)
    assert "groups cannot be written as xprof" in said
    done = run("analyze", "--by", "colour", *hosts, code=2)
    assert "is none of module, layer" in done.stderr.decode()
