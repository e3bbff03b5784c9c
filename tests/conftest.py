"""What every test shares: repeatable property tests, and where the samples are."""

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

# Folders whose files take longest go first, so that no process ends long before another.
LONGEST_FIRST = ("browser", "storage", "web")
TESTS = Path(__file__).resolve().parent
ROOT = Path(__file__).resolve().parents[1]
SAMPLES = ROOT / "sample_profiles"
# Processes started by tests import what is tested, wherever the package is installed.
PYTHON_PATH = f"{ROOT / 'app'}{os.pathsep}{ROOT}"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=_rank)


def _rank(item: pytest.Item) -> int:
    folder = item.path.relative_to(TESTS).parts[0]
    return LONGEST_FIRST.index(folder) if folder in LONGEST_FIRST else len(LONGEST_FIRST)


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
