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
import time
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import roofline
from roofline.cli.main import main
from roofline.cli.progress import progress_on_terminal, say_when_compiling
from roofline.importers import kernels
from roofline.presentation.text_table import WIDTH, table, wrapped
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


def test_a_folder_of_sessions_is_its_newest_one(hosts: list[Path], tmp_path: Path) -> None:
    assert "is a folder without a profiling session" in refused("analyze", tmp_path)
    for session, files, at in (("b", hosts, 2e9), ("a", hosts[:1], 3e9), ("c", hosts[:1], 1e9)):
        folder = tmp_path / "plugins" / "profile" / session
        folder.mkdir(parents=True)
        for host in files:
            (folder / host.name).write_bytes(host.read_bytes())
            os.utime(folder / host.name, (at, at))
    newest = json.loads(run("analyze", tmp_path, "-f", "json").stdout)
    assert newest["ops"] == json.loads(run("analyze", hosts[0], "-f", "json").stdout)["ops"]
    os.utime(tmp_path / "plugins/profile/b" / hosts[1].name, (4e9, 4e9))
    both = json.loads(run("analyze", tmp_path / "plugins", "-f", "json").stdout)
    assert both["ops"] == json.loads(run("analyze", *hosts, "-f", "json").stdout)["ops"]


def test_a_minus_sign_is_standard_input(
    hosts: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(hosts[0].read_bytes())))
    said = json.loads(run("compare", "-", hosts[0], "-f", "json").stdout)
    assert said["change_us"] == 0
    for words in (("report", "-", "-o", tmp_path / "page.html"), ("devices", "--over", "-")):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(hosts[0].read_bytes())))
        run(*words)
    assert "standard-input" in (tmp_path / "page.html").read_text("utf-8")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO()))
    assert "standard-input is empty" in refused("analyze", "-")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["analyse", "x"], "“analyse” is not a command.\n          Did you mean analyze? "),
        (
            ["analyze", "x", "--fromat", "json"],
            "no option --fromat.\n          Did you mean --format? ",
        ),
        (["analyze", "x", "--zzz=1"], "no option --zzz.\n          `roofline analyze --help`"),
        (["devices", "a", "b"], "`roofline devices` does not take “b”."),
        (["devices", "h10"], "Near it: "),
    ],
)
def test_a_wrong_word_is_named_with_the_likeliest_one(words: list[str], expected: str) -> None:
    assert expected in refused(*words)


def test_colour_is_for_terminals_and_as_the_environment_says(
    hosts: list[Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    said = run("series", hosts[0], hosts[0]).stdout.decode()
    assert said.startswith("\x1b[1mRuns over time")
    assert "\x1b[32mpassed\x1b[0m" in said
    for plain in (["-f", "json"], ["-o", tmp_path / "out.txt"]):
        assert b"\x1b" not in run("series", hosts[0], hosts[0], *plain).stdout
    assert "\x1b" not in (tmp_path / "out.txt").read_text()
    assert b"\x1b[31mroofline:" in run("analyze", "missing.pb", code=2).stderr
    monkeypatch.setenv("NO_COLOR", "1")
    assert b"\x1b" not in run("series", hosts[0], hosts[0]).stdout


def test_a_table_fits_into_the_terminal() -> None:
    rows = [["jit(step)/jvp(Block_0)/Attention/dot_general", "1,234 us"], ["short", "1 us"]]
    token = WIDTH.set(30)
    try:
        shown = table(["Name", "Time"], rows, left={0})
    finally:
        WIDTH.reset(token)
    assert max(map(len, shown.splitlines())) == 30
    assert "1,234 us" in shown
    assert table(["Name", "Time"], rows, left={0}).splitlines()[1].startswith(rows[0][0])


def test_columns_that_do_not_fit_and_sentences_give_way_to_the_terminal() -> None:
    heads = ["Name", *(f"Number {k}" for k in range(6))]
    rows = [["Attention/dot_general", *("1,234.5 us" for _ in range(6))]]
    token = WIDTH.set(60)
    try:
        shown = table(heads, rows, left={0}).splitlines()
        text = wrapped("one sentence of a report " * 9)
    finally:
        WIDTH.reset(token)
    assert max(map(len, (*shown, *text))) <= 60
    assert shown[0].split()[-2:] == ["Number", "3"]
    assert shown[-1] == "On a wider terminal: Number 4, Number 5."
    assert max(map(len, wrapped("one sentence of a report " * 9))) > 90


def test_sentences_beside_tables_give_way_to_the_terminal() -> None:
    ours, theirs = os.openpty()
    asked = "predict llama-3-70b --phase decode --device h100-sxm --batch 8 --context 4096 --tp 8"
    subprocess.run(
        [sys.executable, "-m", "roofline", *asked.split()],
        stdout=theirs,
        env={**os.environ, "COLUMNS": "80", "NO_COLOR": "1"},
        check=True,
        timeout=60,
    )
    os.close(theirs)
    shown = b""
    while not shown.endswith(b"8 H200.\r\n"):
        shown += os.read(ours, 4096)
    os.close(ours)
    lines = shown.decode().split("\r\n")
    assert max(map(len, lines)) <= 80
    at_best = next(k for k, line in enumerate(lines) if line.startswith("expected"))
    assert lines[at_best + 1] == f"{' ' * 26}memory's, by default"


def test_bash_completes_commands_options_and_choices() -> None:
    script = run("completion", "bash").stdout.decode()

    def completed(*words: str) -> list[str]:
        line = " ".join(f"'{word}'" for word in words)
        asked = f"{script}\nCOMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _roofline\n"
        shown = subprocess.run(
            ["bash", "-c", f'{asked}echo "${{COMPREPLY[*]}}"'], capture_output=True, timeout=60
        )
        assert shown.stderr == b""
        return shown.stdout.decode().split()

    assert completed("roofline", "ana") == ["analyze"]
    assert completed("roofline", "compare", "--ex") == ["--explain"]
    assert completed("roofline", "analyze", "x", "--format", "x") == ["xprof"]
    h100s = ["h100-sxm", "h100-sxm-96", "h100-pcie", "h100-nvl"]
    assert completed("roofline", "predict", "--device", "h100") == h100s
    assert completed("roofline", "completion", "") == ["bash", "zsh", "fish", "--help"]
    assert completed("roofline", "serve", "--po") == ["--port"]
    assert completed("roofline", "ci", "i") == ["init"]
    assert completed("roofline", "ci", "init", "g") == ["github", "gitlab"]
    assert completed("roofline", "baseline", "save", "--not") == ["--note"]
    assert script in run("completion", "zsh").stdout.decode()
    fish = run("completion", "fish").stdout.decode().splitlines()
    after = "complete -c roofline -n '__fish_seen_subcommand_from check'"
    assert f"{after} -l format -x -a 'text json markdown'" in fish
    assert f"{after} -s f -x -a 'text json markdown'" in fish
    after = after.replace("check", "completion")
    assert [one for one in fish if one.startswith(f"{after} -a ")] == [
        f"{after} -a {shell}" for shell in ("bash", "zsh", "fish")
    ]


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_what_takes_long_says_so_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("roofline.cli.progress._STARTED_S", 0.0)  # the files before took long
    monkeypatch.setenv("TERM", "xterm")
    for is_terminal, stream in ((True, _Terminal()), (False, io.StringIO())):
        monkeypatch.setattr("sys.stderr", stream)
        with progress_on_terminal() as show:
            while is_terminal and "Reading events" not in stream.getvalue():
                show("read", 0.4)
                time.sleep(0.02)
        assert bool(stream.getvalue()) is is_terminal


def test_the_first_compile_says_so_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(kernels, "BEFORE_COMPILING", [])
    say_when_compiling.cache_clear()
    for name in ("first", "second"):
        say_when_compiling()
        made: Any = SimpleNamespace(name=f"{kernels.__name__}.{name}", compile=lambda _cpu: b"code")
        assert kernels._object_file(made) == b"code"
    assert capsys.readouterr().err.count("compiling the readers") == 1


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
