"""Compiled kernels are used wherever Roofline is installed, and only while their sources last."""

import atexit
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from roofline.importers import kernel_cache
from roofline.importers.kernel_cache import KEPT, kernel_folder
from roofline.source_closure import PACKAGE_FOLDER, source_closure

MODULE = "roofline.importers.pytorch.scan"


@pytest.fixture(autouse=True)
def forgetful(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a process that has not looked for folders yet."""
    for name in ("kernel_folder", "_temporary_folder"):
        function = getattr(kernel_cache, name).__wrapped__
        monkeypatch.setattr(kernel_cache, name, function)
    monkeypatch.setattr(atexit, "register", lambda _function: None)


def folder_of(module: str = MODULE) -> Path:
    return kernel_cache.kernel_folder(module)


def test_chosen_folder_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(kernel_cache.VARIABLE, str(tmp_path / "kernels"))
    found = folder_of()
    assert found.parent == tmp_path / "kernels"
    assert found.name.startswith("scan-")
    assert found.is_dir()
    assert folder_of() == found


def test_folder_is_beside_the_code_or_in_the_users_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(kernel_cache.VARIABLE, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert folder_of().parent == PACKAGE_FOLDER / "importers" / "__pycache__" / "kernels"
    writable = kernel_cache._is_writable
    monkeypatch.setattr(
        kernel_cache, "_is_writable", lambda path: tmp_path in path.parents and writable(path)
    )
    assert folder_of().parent == tmp_path / "roofline" / "kernels"


def test_name_changes_with_the_sources_that_are_compiled_in(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    closure = source_closure(MODULE, with_packages=False)
    assert {path.name for path in closure} >= {"scan.py", "json_text.py"}
    before = kernel_cache._digest(MODULE)
    changed = {
        path: source + b"#" * (path.name == "json_text.py") for path, source in closure.items()
    }
    monkeypatch.setattr(kernel_cache, "source_closure", lambda *_, **__: changed)
    assert kernel_cache._digest(MODULE) != before


def test_old_folders_do_not_pile_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(kernel_cache.VARIABLE, str(tmp_path))
    for number in range(6):
        old = tmp_path / f"scan-{number:016x}"
        old.mkdir()
        os.utime(old, (number, number))
    other = tmp_path / "wire-0000000000000000"
    other.mkdir()
    current = folder_of()
    left = sorted(path.name for path in tmp_path.glob("scan-*"))
    assert len(left) == KEPT
    assert {current.name, f"scan-{5:016x}", f"scan-{4:016x}"} == set(left)
    assert other.is_dir()


def test_kernels_of_a_read_only_folder_are_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(kernel_cache.VARIABLE, str(tmp_path / "kernels"))
    compiled = folder_of()
    (compiled / "pytorch").mkdir()
    (compiled / "pytorch" / "scan.nbc").write_bytes(b"code")
    monkeypatch.setattr(kernel_cache, "_is_writable", lambda _folder: False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    copy = folder_of()
    assert copy != compiled
    assert (copy / "pytorch" / "scan.nbc").read_bytes() == b"code"


def test_readers_load_where_no_folder_can_be_written_and_leave_nothing(tmp_path: Path) -> None:
    place = {kernel_cache.VARIABLE: "/proc/none", "TMPDIR": str(tmp_path)}
    done = run("from roofline.importers.pytorch import nesting; print(nesting.__name__)", **place)
    assert (done.stdout.strip(), done.stderr) == ("roofline.importers.pytorch.nesting", "")
    assert list(tmp_path.iterdir()) == []


def run(code: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
    )


INNER = """
from roofline.importers.kernel_cache import kernel

@kernel()
def inner(x):
    return x + {}
"""
OUTER = """
from roofline.importers.inner import inner
from roofline.importers.kernel_cache import kernel

@kernel()
def outer(x):
    return 10 * inner(x)
"""


def test_change_of_a_kernel_reaches_the_kernels_it_is_compiled_into(tmp_path: Path) -> None:
    package = tmp_path / "roofline"
    (package / "importers").mkdir(parents=True)
    for name in ("__init__.py", "source_closure.py"):
        shutil.copy(PACKAGE_FOLDER / name, package / name)
    for name in ("__init__.py", "kernel_cache.py"):
        shutil.copy(PACKAGE_FOLDER / "importers" / name, package / "importers" / name)
    (package / "importers" / "outer.py").write_text(OUTER)
    code = "import numba; from roofline.importers.outer import outer as f; print(f(1)," + (
        " sum(f.stats.cache_hits.values()), repr(numba.config.CACHE_DIR))"
    )
    place = {
        "PYTHONPATH": str(tmp_path),
        kernel_cache.VARIABLE: str(tmp_path / "kernels"),
        "PYTHONDONTWRITEBYTECODE": "1",  # Python tells sources apart by seconds and sizes
    }
    said = []
    for constant in (1, 1, 2):
        (package / "importers" / "inner.py").write_text(INNER.format(constant))
        said.append(run(code, **place).stdout.split())
    chosen = repr(str(tmp_path / "kernels"))
    assert said == [["20", "0", chosen], ["20", "1", chosen], ["30", "0", chosen]]
    assert len(list((tmp_path / "kernels").glob("outer-*"))) == 2


def test_every_kernel_is_kept_by_its_sources() -> None:
    """Numba's own decorator with a cache would run old code after a change of another module."""
    for path in PACKAGE_FOLDER.rglob("*.py"):
        if path.name != "kernel_cache.py":
            assert "cache=True" not in path.read_text("utf-8"), path
    assert kernel_folder(MODULE).is_dir()
