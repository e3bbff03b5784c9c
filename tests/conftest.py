"""What every test shares: repeatable property tests, and where the samples are."""

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

SAMPLES = Path(__file__).resolve().parents[1] / "sample_profiles"


@pytest.fixture(scope="session", autouse=True)
def unmeasured_machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What `roofline calibrate` found on this machine decides no test."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("data-home")))
        patch.delenv("ROOFLINE_DATA_DIR", raising=False)
        yield


@pytest.fixture(scope="session")
def samples_dir() -> Path:
    """The bundled profiles."""
    return SAMPLES
