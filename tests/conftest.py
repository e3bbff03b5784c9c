"""What every test shares: repeatable property tests, and where the samples are."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# The same examples on every run and machine; no deadline, because no test times anything.
settings.register_profile(
    "roofline",
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
)
settings.load_profile("roofline")

SAMPLES = Path(__file__).resolve().parents[1] / "sample_profiles"


@pytest.fixture(scope="session")
def samples_dir() -> Path:
    """The bundled profiles."""
    return SAMPLES
