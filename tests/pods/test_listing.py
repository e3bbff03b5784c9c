"""Which files of a place are one run: sessions of one capture, and of several."""

import json
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from roofline.errors import UploadRejectedError
from roofline.pods.fetching import sources_of
from roofline.pods.listing import list_run
from tests.cli.test_main import refused, run
from tests.pods.test_command import THREE_HOSTS, analysed


def session(root: Path, name: str, *hosts: str) -> None:
    folder = root / "plugins" / "profile" / name
    folder.mkdir(parents=True)
    for host in hosts:
        (folder / f"{host}.xplane.pb").symlink_to(THREE_HOSTS / f"{host}.xplane.pb")
    (folder / "ALL_HOSTS.op_stats_v2.pb").write_bytes(b"a result of XProf's")


def test_sessions_that_do_not_overlap_are_two_captures(tmp_path: Path) -> None:
    begun = datetime(2026, 11, 21, 10, 0, 0, tzinfo=UTC).timestamp()
    for name, host, written in (
        ("2026_11_21_10_00_00", "host_0", begun + 6),
        ("2026_11_21_10_00_02", "host_1", begun + 20),
        ("2026_11_21_10_00_30", "host_2", begun + 40),
    ):
        folder = tmp_path / "plugins" / "profile" / name
        folder.mkdir(parents=True)
        file = folder / f"{host}.xplane.pb"
        file.write_bytes(b"")
        os.utime(file, (written, written))
    with pytest.raises(UploadRejectedError, match="begins 10 s after 2026_11_21_10_00_02 was"):
        list_run(str(tmp_path), join_s=120)
    os.utime(folder.parent / "2026_11_21_10_00_00" / "host_0.xplane.pb", (begun + 31, begun + 31))
    assert len(list_run(str(tmp_path), join_s=120).files) == 3, "the first one was longer"


def test_sessions_of_one_capture_are_joined(tmp_path: Path) -> None:
    session(tmp_path, "2026_11_21_10_00_00", "host_0", "host_2")
    session(tmp_path, "2026_11_21_10_00_04", "host_1")
    found = list_run(str(tmp_path), join_s=120)
    assert [one.name for one in found.files] == [f"host_{k}.xplane.pb" for k in (0, 2, 1)]
    assert found.note == (
        "2 sessions are one run; they begin 4 s apart: 2026_11_21_10_00_00, 2026_11_21_10_00_04."
    )
    joined = run("analyze", "--engine", "local", "-f", "json", "--join", "2m", tmp_path)
    assert joined.stdout == analysed(THREE_HOSTS)
    assert b"2 sessions are one run" in joined.stderr
    assert len(json.loads(joined.stdout)["hosts"]) == 3


def test_several_sessions_are_not_one_run_by_themselves(tmp_path: Path) -> None:
    session(tmp_path, "2026_11_21_10_00_00", "host_0")
    session(tmp_path, "2026_11_21_10_30_00", "host_1")
    for find in (list_run, lambda place: sources_of([place])):
        with pytest.raises(UploadRejectedError, match="There are 2 sessions: 2026_11_21_10_00_00"):
            find(str(tmp_path))
    said = refused("analyze", "--engine", "local", "--join", "120s", tmp_path)
    assert "begin 1,800 s apart, more than 120 s" in said
    one = tmp_path / "plugins" / "profile" / "2026_11_21_10_30_00"
    assert [file.name for file in list_run(str(one)).files] == ["host_1.xplane.pb"]


def test_two_captures_of_one_host_are_not_joined(tmp_path: Path) -> None:
    session(tmp_path, "2026_11_21_10_00_00", "host_0", "host_1")
    session(tmp_path, "2026_11_21_10_00_20", "host_1")
    with pytest.raises(UploadRejectedError, match=r"host_1\.xplane\.pb is in two sessions"):
        list_run(str(tmp_path), join_s=120)


def test_sessions_with_other_names_begin_with_their_first_file(tmp_path: Path) -> None:
    session(tmp_path, "first", "host_0")
    session(tmp_path, "9999_99_99_99_99_99", "host_1")
    for name, at in (("first", 1_000), ("9999_99_99_99_99_99", 1_050)):
        for file in (tmp_path / "plugins" / "profile" / name).glob("*.xplane.pb"):
            file.unlink()
            file.write_bytes(b"a capture")
            os.utime(file, (at, at))
    found = list_run(str(tmp_path), join_s=60)
    assert found.note.startswith("2 sessions are one run; they begin 50 s apart: first, ")


def test_ranks_of_other_profilers_are_one_run(tmp_path: Path) -> None:
    for rank in range(3):
        (tmp_path / f"rank{rank}").mkdir()
        (tmp_path / f"rank{rank}" / "trace.json").write_text("{}")
    assert len(list_run(str(tmp_path)).files) == 3
    with pytest.raises(UploadRejectedError, match="There are no files"):
        list_run(str(tmp_path / "rank0" / "none*"))
