"""Compiled kernels are used wherever Roofline is installed, writable or not."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from roofline.importers import kernel_cache


def test_folder_that_can_be_written_is_used_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv(kernel_cache.VARIABLE, str(tmp_path / "kernels"))
    kernel_cache.make_usable()
    assert os.environ[kernel_cache.VARIABLE] == str(tmp_path / "kernels")


def test_numba_chooses_where_nobody_did(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv(kernel_cache.VARIABLE, raising=False)
    kernel_cache.make_usable()
    assert kernel_cache.VARIABLE not in os.environ


def test_kernels_of_a_read_only_folder_are_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "kernels" / "xspace").mkdir(parents=True)
    (tmp_path / "kernels" / "xspace" / "wire.nbc").write_bytes(b"code")
    monkeypatch.setenv(kernel_cache.VARIABLE, str(tmp_path / "kernels"))
    monkeypatch.setattr(kernel_cache, "_is_writable", lambda _folder: False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    kernel_cache.make_usable()
    copy = Path(os.environ[kernel_cache.VARIABLE])
    assert copy != tmp_path / "kernels"
    assert (copy / "xspace" / "wire.nbc").read_bytes() == b"code"


def test_readers_load_where_no_folder_can_be_written_and_leave_nothing(tmp_path: Path):
    place = {kernel_cache.VARIABLE: "/proc/none", "TMPDIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", "from roofline.importers.xspace import wire; print(wire.__name__)"],
        env={**os.environ, **place},
        capture_output=True,
        text=True,
    )
    assert (done.stdout.strip(), done.stderr) == ("roofline.importers.xspace.wire", "")
    assert list(tmp_path.iterdir()) == []
