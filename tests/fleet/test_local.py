"""The engine `local`: the same bytes in any order, kept partials, limits, and hostile files."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from roofline.children.program import Program
from roofline.errors import ImportStoppedError
from roofline.exports.run_report import render_run
from roofline.fleet.choosing import reduce_receipts
from roofline.fleet.engine import Receipt, files_from, receipts_from, to_text
from roofline.fleet.kept import file_key, open_kept
from roofline.fleet.local import LocalEngine, map_file
from roofline.fleet.readers import Readers, Reading
from roofline.pods.folders import HostFile, files_of
from tests.children.processes import LIMITS, program_id
from tests.conftest import PYTHON_PATH, SAMPLES

THREE_HOSTS = SAMPLES / "xspace" / "v5e-three-hosts"
FILES = files_of([THREE_HOSTS])


@pytest.fixture(scope="module")
def readers() -> Iterator[Readers]:
    found = Readers(LIMITS)
    yield found
    found.close()


@pytest.fixture
def engine(tmp_path: Path, readers: Readers) -> LocalEngine:
    """An engine that keeps partials in an empty folder, and shares the program that reads."""
    return LocalEngine(open_kept(place(tmp_path)), LIMITS, workers=2, readers=readers)


def place(folder: Path) -> str:
    return f"file://{folder / 'kept'}"


def test_kept_partials_are_found_and_give_the_same_bytes(
    engine: LocalEngine, tmp_path: Path
) -> None:
    first = list(engine.submit(FILES).receipts())
    assert [one.was_kept for one in first] == [False] * 3
    assert all(one.cpu_seconds > 0 for one in first)
    again = list(engine.submit([*reversed(FILES), FILES[1]]).receipts())
    assert [one.was_kept for one in again] == [True] * 4
    kept = open_kept(place(tmp_path))
    wanted = render_run(reduce_receipts(first, kept), "json")
    assert render_run(reduce_receipts(again, kept), "json") == wanted
    keys = {path.relative_to(tmp_path / "kept").as_posix() for path in files_below(tmp_path)}
    assert {key for one in first for key in one.partials} < keys
    assert {key.partition("/")[0] for key in keys} == {"partials", "names"}


def files_below(folder: Path) -> list[Path]:
    return [one for one in (folder / "kept").rglob("*") if one.is_file()]


def test_a_damaged_kept_partial_is_computed_again(engine: LocalEngine, tmp_path: Path) -> None:
    (receipt,) = engine.submit(FILES[:1]).receipts()
    path = tmp_path / "kept" / receipt.partials[0]
    whole = path.read_bytes()
    for damaged in (b"", whole[:-8], b"{", b'{"entries":[3]}'):
        path.write_bytes(damaged)
        (again,) = engine.submit(FILES[:1]).receipts()
        assert not again.was_kept
        assert path.read_bytes() == whole


def test_a_file_that_is_not_a_capture_is_kept_as_that(engine: LocalEngine, tmp_path: Path) -> None:
    (tmp_path / "notes.json").write_text("[")
    shutil.copy(THREE_HOSTS / "host_0.xplane.pb", tmp_path / "broken.xplane.pb")
    with (tmp_path / "broken.xplane.pb").open("r+b") as file:
        file.truncate(5_000)
    files = files_of([tmp_path / "notes.json", tmp_path / "broken.xplane.pb"])
    first = {one.address: one for one in engine.submit(files).receipts()}
    again = {one.address: one for one in engine.submit(files).receipts()}
    for address, one in first.items():
        assert len(one.unreadable) == 1
        assert again[address] == replace(one, was_kept=True, cpu_seconds=0.0)


def test_a_file_that_ends_its_child_is_unreadable_and_the_others_go_on(tmp_path: Path) -> None:
    """Too little address space, as a hostile file would make of any."""
    few = replace(LIMITS, memory_bytes=1 << 20)
    engine = LocalEngine(open_kept(place(tmp_path)), few, workers=2)
    try:
        receipts = list(engine.submit(FILES).receipts())
    finally:
        engine.close()
    for one in receipts:
        assert re.search("GiB of memory|ended", one.unreadable[0].reason)
    assert files_below(tmp_path) == [], "what a machine's limits ended may be readable elsewhere"


def test_a_file_that_takes_too_long_is_unreadable(tmp_path: Path) -> None:
    engine = LocalEngine(open_kept(place(tmp_path)), replace(LIMITS, wall_seconds=0.0))
    try:
        (receipt,) = engine.submit(FILES[:1]).receipts()
    finally:
        engine.close()
    # A child that is done before anybody looks at the clock is not stopped.
    assert receipt.partials or "took longer than 0 s" in receipt.unreadable[0].reason


def test_a_killed_program_is_started_again(engine: LocalEngine, readers: Readers) -> None:
    list(engine.submit(FILES[:1]).receipts())
    os.kill(program_of(readers), signal.SIGKILL)
    (receipt,) = engine.submit(FILES[1:2]).receipts()
    assert receipt.partials


def program_of(readers: Readers) -> int:
    program: Program = vars(readers)["_program"]
    return program_id(program)


def test_a_file_that_is_written_meanwhile_is_not_kept(tmp_path: Path) -> None:
    target = tmp_path / "host.xplane.pb"
    shutil.copy(FILES[0].address, target)
    (file,) = files_of([target])

    class Growing(Readers):
        def read(self, file: HostFile, path: Path, digest: str) -> Reading:
            with target.open("ab") as writer:
                writer.write(b"more")
            return Reading(entries=(), cpu_seconds=0.0, is_sure=True)

    found = map_file(file, open_kept(place(tmp_path)), Growing(LIMITS))
    assert found.unreadable[0].reason == "The file changes while it is read."
    assert not (tmp_path / "kept").exists()


def test_closing_ends_the_program_and_the_receipts(tmp_path: Path) -> None:
    readers = Readers(LIMITS)
    engine = LocalEngine(open_kept(place(tmp_path)), LIMITS, readers=readers)
    found = engine.submit(FILES * 40).receipts()
    next(found)
    program = program_of(readers)
    engine.close()
    with pytest.raises(ImportStoppedError):
        list(found)
    assert not Path("/proc", str(program)).exists()


def test_the_program_has_no_secrets_and_ends_with_its_parent() -> None:
    code = (
        "import sys; from pathlib import Path; from roofline.fleet.readers import Readers;"
        "from roofline.fleet.engine import files_from;"
        "from tests.fleet.test_local import LIMITS, program_of;"
        "r, (f,) = Readers(LIMITS), files_from(sys.argv[1]); r.read(f, Path(f.address), 'd');"
        "print(program_of(r), flush=True); input()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, to_text(FILES[:1])],
        env={**os.environ, "PYTHONPATH": PYTHON_PATH, "AWS_SECRET_ACCESS_KEY": "hunter2"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as parent:
        assert parent.stdout is not None
        program = Path("/proc", parent.stdout.readline().decode().strip())
        shown = (program / "environ").read_bytes()
        parent.kill()
    assert b"PATH=" in shown
    assert b"hunter2" not in shown
    deadline = time.monotonic() + 30
    while program.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not program.exists()


def test_receipts_and_files_survive_the_way() -> None:
    receipt = Receipt(
        address="a", digest="d", partials=("p",), unreadable=(), cpu_seconds=0.5, was_kept=False
    )
    assert receipts_from(to_text([receipt])) == [receipt]
    assert files_from(to_text(FILES)) == FILES
    assert json.loads(to_text([]) or "") == []


def test_keys_tell_names_apart_because_a_host_may_be_called_by_its_file() -> None:
    one = FILES[0]
    assert file_key(one, "d") != file_key(replace(one, name="other.xplane.pb"), "d")
    assert file_key(one, "d") == file_key(replace(one, address="elsewhere"), "d")
