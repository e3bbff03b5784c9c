"""What every test shares: repeatable property tests, and where the samples are."""

import gc
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# The same examples on every run and machine; no deadline, because no test times anything.
settings.register_profile(
    "roofline",
    derandomize=True,
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
)
settings.load_profile("roofline")

# Folders whose files take longest go first, so that no process ends long before another. Those of
# one row take turns: browsers need the processors while tests of the store wait for others.
LONGEST_FIRST = (("browser", "storage", "fleet"), ("web",))
# What takes long and has a shorter neighbour in `make test`: `make test-long` runs these.
LONG = (
    "tests/browser/test_costs.py",
    "tests/browser/test_formats.py",
    "tests/browser/test_retry.py",
    "tests/browser/test_split.py",
    "tests/cli/test_gating.py::test_the_fixture",
    "tests/cli/test_run_client.py",
    "tests/compare/test_comparison.py::test_every_pair_of_shared_profiles",
    "tests/fleet/test_dask.py::test_a_file_that_kills_workers",
    "tests/fleet/test_dask.py::test_a_server_reads_runs_with_its_cluster",
    "tests/fleet/test_dask.py::test_killed_worker",
    "tests/fuzz/test_hostile.py::test_hostile_archive",
    "tests/fuzz/test_openapi.py::test_every_operation_answers_as_documented[many",
    "tests/importers/test_nsight_compute_damage.py",
    "tests/importers/test_pytorch_damage.py",
    "tests/importers/test_tutorial.py",
    "tests/importers/test_xspace_damage.py",
    "tests/storage/test_fair_queue.py::test_hundred_imports",
    "tests/storage/test_faults.py::test_killing_processes",
    "tests/storage/test_faults.py::test_restart_of_the_database",
    "tests/test_wheel.py",
    "tests/web/test_generated_client.py::test_the_program",
)
TESTS = Path(__file__).resolve().parent
ROOT = Path(__file__).resolve().parents[1]
SAMPLES = ROOT / "sample_profiles"
# Processes started by tests import what is tested, wherever the package is installed.
PYTHON_PATH = f"{ROOT / 'app'}{os.pathsep}{ROOT}"


def pytest_collection() -> None:
    """Modules and tests live until the end: looking for garbage among them finds none."""
    gc.disable()


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    ranks = _ranks(list(dict.fromkeys(item.path for item in items)))
    items.sort(key=lambda item: ranks[item.path])
    for item in items:
        if item.nodeid.startswith(LONG):
            item.add_marker("long")


def _ranks(files: list[Path]) -> dict[Path, tuple[int, float]]:
    """When each file's turn is: by the row of its folder, there by its place within the folder."""
    folders: dict[str, list[Path]] = {}
    for file in files:
        folders.setdefault(file.relative_to(TESTS).parts[0], []).append(file)
    rows = {folder: row for row, same in enumerate(LONGEST_FIRST) for folder in same}
    return {
        file: (rows[folder], place / len(own)) if folder in rows else (len(LONGEST_FIRST), 0.0)
        for folder, own in folders.items()
        for place, file in enumerate(own)
    }


@pytest.fixture(scope="session", autouse=True)
def any_machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What `roofline calibrate` found on this machine, or how full its disk is, decides no test."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("data-home")))
        patch.delenv("ROOFLINE_DATA_DIR", raising=False)
        patch.setenv("ROOFLINE_DISK_RESERVE_BYTES", "0")
        yield


@pytest.fixture(scope="session")
def samples_dir() -> Path:
    """The bundled profiles."""
    return SAMPLES
