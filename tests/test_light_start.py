"""What the terminal's commands do not load: starting is part of the wait."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import PYTHON_PATH, SAMPLES

SERVER_ONLY = {
    "alembic",
    "fastapi",
    "jinja2",
    "obstore",
    "procrastinate",
    "prometheus_client",
    "psycopg",
    "pydantic",
    "sqlalchemy",
    "starlette",
    "stream_zip",
    "structlog",
    "uvicorn",
}
NOTEBOOK_ONLY = {"pandas", "plotly"}
CLUSTER_ONLY = {"dask", "distributed", "tornado"}
READERS = {"numba", "numpy", "llvmlite", "google.protobuf", "roofline.importers"}
ALL = "import json, sys\n{}\nsys.stderr.write(json.dumps(sorted(sys.modules)))"


def loaded(code: str, *arguments: object) -> set[str]:
    """The modules that a fresh interpreter has loaded after `code`."""
    done = subprocess.run(
        [sys.executable, "-P", "-c", ALL.format(code), *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": PYTHON_PATH},
        capture_output=True,
        text=True,
        check=True,
    )
    return set(json.loads(done.stderr.splitlines()[-1]))


def test_command_line_loads_nothing_before_it_knows_the_command() -> None:
    found = loaded("import roofline.cli.main")
    assert not found & (SERVER_ONLY | NOTEBOOK_ONLY | CLUSTER_ONLY | READERS)
    assert not [name for name in found if name.startswith(("roofline.web", "roofline.storage"))]


@pytest.mark.parametrize("form", ["text", "json"])
def test_analyze_loads_no_server_and_no_notebook(form: str) -> None:
    sample: Path = SAMPLES / "generic" / "attention-h100.json"
    code = (
        "from roofline.cli.main import main\n"
        f"try: main(['analyze', '--format', '{form}', sys.argv[1]])\n"
        "except SystemExit as end: assert end.code == 0, end.code"
    )
    assert not loaded(code, sample) & (SERVER_ONLY | NOTEBOOK_ONLY | CLUSTER_ONLY)


def test_analyze_loads_the_one_reader_that_a_capture_needs() -> None:
    code = (
        "from roofline.cli.main import main\n"
        "try: main(['analyze', sys.argv[1]])\n"
        "except SystemExit as end: assert end.code == 0, end.code"
    )
    found = loaded(code, SAMPLES / "xspace" / "jax-cpu-transformer.xplane.pb")
    assert "roofline.importers.xspace.cpu" in found
    others = {f"roofline.importers.xspace.{kind}" for kind in ("gpu", "tpu")}
    drawing = {"roofline.presentation.charts", "roofline.compare.changes"}
    assert not found & {*others, *drawing, "roofline.importers.shared.join_cells"}


def test_a_report_is_written_without_a_server(tmp_path: Path) -> None:
    sample, path = SAMPLES / "generic" / "attention-h100.json", tmp_path / "report.html"
    code = (
        "from roofline.cli.main import main\n"
        "try: main(['report', sys.argv[1], '-o', sys.argv[2]])\n"
        "except SystemExit as end: assert end.code == 0, end.code"
    )
    found = loaded(code, sample, path)
    assert not found & ((SERVER_ONLY - {"jinja2"}) | NOTEBOOK_ONLY | CLUSTER_ONLY)
    assert "jinja2" in found
    assert b"attention-h100" in path.read_bytes()


def test_server_process_loads_no_reader_and_no_notebook() -> None:
    """Children read files: the server's memory stays small, and no file reaches a reader in it."""
    found = loaded("import roofline.web.app")
    assert not found & (NOTEBOOK_ONLY | CLUSTER_ONLY | {"numba", "numpy", "llvmlite", "stream_zip"})
    assert not [name for name in found if name.startswith("roofline.importers.xspace")]


def test_worker_of_a_cluster_loads_no_reader() -> None:
    """Its children read: what it loads itself is paid once for each of thousands of workers."""
    found = loaded("import roofline.fleet.dask_engine")
    assert not found & {"numba", "llvmlite", "google.protobuf", "roofline.importers"}


def test_a_server_with_a_folder_loads_no_object_store() -> None:
    """`make run` installs none: a server that loads it does not start."""
    assert "obstore" not in loaded("import roofline.web.server")
