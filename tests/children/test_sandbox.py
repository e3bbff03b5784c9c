"""What a process that reads strangers' files is started with, and how a limit is told."""

import errno

import pytest

from roofline.children.sandbox import needed_environment, system_fault
from roofline.errors import ImportStoppedError, StorageFullError, UploadTooLargeError
from roofline.model.outer_limits import ImportLimits

LIMITS = ImportLimits(
    memory_bytes=1 << 30,
    cpu_seconds=1,
    wall_seconds=1,
    max_unpacked_bytes=1 << 30,
    max_unpacked_files=1,
    max_expansion_ratio=1,
)


def test_secrets_are_not_needed_to_read(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_SECRET_ACCESS_KEY", "PGPASSWORD", "ROOFLINE_DASK_KEY", "ROOFLINE_TOKEN"):
        monkeypatch.setenv(name, "hunter2")
    monkeypatch.setenv("NUMBA_CACHE_DIR", "/var/cache/kernels")
    found = needed_environment()
    assert "hunter2" not in found.values()
    assert {"PATH", "NUMBA_CACHE_DIR"} <= found.keys()


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (errno.ENOMEM, ImportStoppedError),
        (errno.EFBIG, UploadTooLargeError),
        (errno.ENOSPC, StorageFullError),
        (errno.EIO, OSError),
    ],
)
def test_faults_of_the_system_are_told_by_their_limit(number: int, kind: type[Exception]) -> None:
    try:
        raised: Exception = system_fault(OSError(number, "no"), LIMITS)
    except OSError as error:
        raised = error
    assert type(raised) is kind
