"""The page of a profile can be opened before what is downloaded from it has been written."""

from pathlib import Path

import pytest

from roofline.errors import CorruptProfileError, NotReadyError
from roofline.library.advising import AdviceBook
from roofline.library.reader import ProfileLists, Ready
from roofline.settings import Settings
from roofline.storage.results import ADVICE, CSV, PAGE, ResultStore, ResultWriter
from roofline.storage.visibility import ALL_SEEING
from roofline.web.http.access import Actor
from roofline.web.pages.profile_view import own_view
from tests.storage.places import Place, add, eventually, settled


def test_page_is_ready_while_its_exports_are_written(folder: Place, tmp_path: Path) -> None:
    server = folder.server()
    gate = tmp_path / "gate"
    profile_id = add(server, b"page %s of it" % bytes(gate))
    pending = server.reader.pending(profile_id)
    eventually(lambda: isinstance(server.reader.state(profile_id), Ready))
    eventually(lambda: server.reader.page_pending(profile_id) is None)
    assert pending is not None and not pending.done(), "the import goes on"
    assert server.reader.packed(profile_id, PAGE)
    with pytest.raises(NotReadyError):
        server.reader.result(profile_id, CSV["in"])
    gate.touch()
    assert isinstance(settled(server, profile_id), Ready)
    assert server.reader.result(profile_id, CSV["in"]).plain() == b"{}"


def test_results_count_for_a_page_once_the_profile_is_ready(folder: Place, tmp_path: Path) -> None:
    server = folder.server()
    gate = tmp_path / "gate"
    profile_id = add(server, b"wait %s of it" % bytes(gate))
    written = ResultWriter(tmp_path / "page")
    written.add(ADVICE, b"{}")
    written.finish()
    store = server.instance.store
    store.results.adopt(profile_id, tmp_path / "page")  # the database learns of it a moment later
    lists, book = ProfileLists(store.queries, ALL_SEEING), AdviceBook(store)
    page = own_view(server.reader, lists, profile_id, Actor(), Settings(), book)
    assert page.state == "importing" and page.advice is None
    gate.touch()
    assert isinstance(settled(server, profile_id), Ready)


def test_exports_are_written_after_the_server_died_behind_the_page(
    folder: Place, tmp_path: Path
) -> None:
    server = folder.server()
    gate = tmp_path / "gate"
    profile_id = add(server, b"page %s of it" % bytes(gate))
    eventually(lambda: isinstance(server.reader.state(profile_id), Ready))
    server.instance.close()
    gate.touch()
    server.instance.open()
    assert isinstance(server.reader.state(profile_id), Ready)
    assert isinstance(settled(server, profile_id), Ready)
    assert server.reader.result(profile_id, CSV["in"]).plain() == b"{}"
    assert server.instance.store.results.is_intact(profile_id)


def test_profile_stays_ready_when_its_exports_fail(folder: Place) -> None:
    server = folder.server()
    profile_id = add(server, b"half of it")
    assert isinstance(settled(server, profile_id), Ready)
    assert server.reader.packed(profile_id, PAGE)
    with pytest.raises(CorruptProfileError, match="broken"):
        server.reader.result(profile_id, CSV["in"])


def test_exports_of_removed_results_do_not_come_back(tmp_path: Path) -> None:
    store = ResultStore(tmp_path / "derived", "v")
    page, exports = ResultWriter(tmp_path / "page"), ResultWriter(tmp_path / "exports")
    page.add(PAGE, b"{}")
    exports.add(CSV["in"], b"a")
    page.finish(measurements="of one day")
    exports.finish()
    store.complete("p", tmp_path / "exports")
    assert not (tmp_path / "derived").exists()
    store.adopt("p", tmp_path / "page")
    assert store.file("p", PAGE) and not store.file("p", CSV["in"])
    store.complete("p", tmp_path / "exports")
    assert store.is_intact("p")
    found = store.file("p", CSV["in"])
    assert found and found.plain() == b"a"
    dated = ResultStore(tmp_path / "derived", "v", lambda: "of another day")
    assert not dated.has("p"), "they say still by which measurements they were computed"


def test_claim_of_a_job_does_not_wait_for_the_disk(folder: Place) -> None:
    """A power cut makes the job due again, as every other end of its process does."""
    database = folder.server().instance.store.database
    for lasting in (True, False, True):
        with database.write(lasting=lasting) as connection:
            found = connection.exec_driver_sql("PRAGMA synchronous").scalar()
        assert found == (2 if lasting else 1)
