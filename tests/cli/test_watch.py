"""`roofline watch`: which files of a folder are a run, and when it is whole."""

import os
from pathlib import Path

import pytest

from roofline.api.servers import Receiver, Upload
from roofline.cli import watch
from roofline.cli.watch import Watched
from roofline.errors import UploadRejectedError
from tests.compare.captures import unpack_ten


def write(path: Path, text: str = "x", at: int = 1) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, ns=(at, at))
    return path


def test_run_is_whole_when_no_file_of_it_changes_any_more(tmp_path: Path) -> None:
    watched = Watched(tmp_path)
    first = write(tmp_path / "run" / "a.xplane.pb")
    assert watched.ready() == []
    second = write(tmp_path / "run" / "b.xplane.pb")
    assert watched.ready() == []  # the second host has just begun
    write(second, "longer")
    assert watched.ready() == []
    assert watched.ready() == [(first, second)]
    watched.sent((first, second))
    assert watched.ready() == []
    write(second, "again", at=2)
    assert watched.ready() == []
    assert watched.ready() == [(first, second)]


def test_captures_of_one_host_in_one_folder_are_a_run_each(tmp_path: Path) -> None:
    for name, path in zip("ab", unpack_ten(tmp_path / "from"), strict=False):
        (tmp_path / "to").mkdir(exist_ok=True)
        (tmp_path / "to" / f"{name}.xplane.pb").write_bytes(path.read_bytes())
    watched = Watched(tmp_path / "to")
    watched.ready()
    a, b = (tmp_path / "to" / f"{name}.xplane.pb" for name in "ab")
    assert watched.ready() == [(a,), (b,)]
    watched.sent((a,))
    assert watched.ready() == [(b,)]


def test_other_files_are_a_run_each_and_unknown_or_empty_ones_none(tmp_path: Path) -> None:
    present = write(tmp_path / "old.csv")
    watched = Watched(tmp_path)
    watched.skip_present()
    one, other = write(tmp_path / "1.json"), write(tmp_path / "2.json")
    write(tmp_path / "notes.txt")
    write(tmp_path / "empty.csv", "")
    watched.ready()
    assert watched.ready() == [(one,), (other,)]
    write(present, "new", at=2)
    watched.sent((one,))
    watched.ready()
    assert watched.ready() == [(other,), (present,)]


def test_run_is_sent_again_only_where_the_server_was_not_reached(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    outcomes: list[Exception | None] = [OSError("refused"), None]

    def refuse(*_given: object, **_options: object) -> None:
        raise UploadRejectedError("No.", remedy="Look.") from outcomes.pop(0)

    monkeypatch.setattr("roofline.api.servers.send", refuse)
    run = Upload(files=(write(tmp_path / "1.json"),), title="t")
    receiver = Receiver("http://127.0.0.1:1")
    assert not watch._sent(run, receiver, None)
    assert "tried again" in capfd.readouterr().out
    assert watch._sent(run, receiver, None)
    assert "1.json was not sent: No. Look.\n" in capfd.readouterr().out
