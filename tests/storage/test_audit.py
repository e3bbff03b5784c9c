"""The audit table: rows are only added, in their order, and none is lost to a busy database."""

import json
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from roofline.errors import StorageFullError
from roofline.settings import Settings
from roofline.storage import audit
from roofline.storage.audit import AuditEntry, AuditLog
from roofline.storage.database import Database
from roofline.web.upkeep import run_audit


@pytest.fixture(params=["sqlite", "postgres"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Database:
    url = None if request.param == "sqlite" else request.getfixturevalue("postgres_url")
    opened = Database(tmp_path, url)
    opened.migrate()
    if url:  # the database of all tests
        with opened.write() as connection:
            connection.execute(text("ALTER TABLE audit DISABLE TRIGGER USER"))
            connection.execute(text("TRUNCATE audit"))
            connection.execute(text("ALTER TABLE audit ENABLE TRIGGER USER"))
    request.addfinalizer(opened.close)
    return opened


@pytest.mark.parametrize("change", ["UPDATE audit SET person = 'eve'", "DELETE FROM audit"])
def test_rows_can_neither_be_changed_nor_deleted(database: Database, change: str) -> None:
    log = AuditLog(database)
    log.write(AuditEntry(action="delete", person="ada", subject="p"))
    changes = [change, "TRUNCATE audit"] if database.is_shared else [change]
    for one in changes:
        with pytest.raises(DBAPIError, match="never changed"), database.write() as connection:
            connection.execute(text(one))
    (entry,) = log.entries()
    assert (entry.action, entry.person, entry.subject) == ("delete", "ada", "p")


def test_reads_are_written_later_and_once(database: Database) -> None:
    now = 0.0
    log, other = AuditLog(database, clock=lambda: now), AuditLog(database)
    for person in ("ada", "ada", "eve"):
        log.note_read("read page", person, "10.0.0.1", "p")
    assert list(other.entries()) == []
    log.flush()
    assert [one.person for one in other.entries()] == ["ada", "eve"]
    now = audit.SAME_READ_S
    log.note_read("read page", "ada", "10.0.0.1", "p")
    assert [one.person for one in log.entries()] == ["ada", "eve", "ada"]


def test_entries_are_read_in_parts(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "BATCH", 2)
    log = AuditLog(database)
    for number in range(5):
        at = f"2026-01-0{number + 1}T00:00:00Z"
        log.write(AuditEntry(action="edit", person=str(number), at=at))
    found = list(log.entries())
    assert [one.person for one in found] == list("01234")
    assert [one.person for one in log.entries(after=found[2].number)] == ["3", "4"]
    assert [one.person for one in log.entries(since="2026-01-04")] == ["3", "4"]


def test_entry_waits_for_a_database_that_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = Database(tmp_path)
    database.migrate()
    log = AuditLog(database)

    def full() -> None:
        raise StorageFullError("The disk is full.", remedy="Free space.")

    with monkeypatch.context() as patch:
        patch.setattr(database, "write", full)
        log.write(AuditEntry(action="delete", person="ada"))
    log.write(AuditEntry(action="edit", person="eve"))
    assert [one.action for one in log.entries()] == ["delete", "edit"]
    database.close()


def test_command_prints_json_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    database = Database(tmp_path)
    database.migrate()
    AuditLog(database).write(AuditEntry(action="edit", person="Ada\n\u202e", subject="p"))
    database.close()
    assert run_audit(Settings.from_env(data_dir=tmp_path), after=0, since="") == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert json.loads(line)["person"] == "Ada\n\u202e" and line.isascii()
