"""The queue is fair: each person in turn, and no more than so many imports of one at once."""

import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import insert, update

from roofline.library.reader import Importing
from roofline.storage.database import Database
from roofline.storage.jobs import JobStore, end_job, insert_job
from roofline.storage.records import JobKind, new_profile_id, timestamp
from roofline.storage.tables import job, profile
from tests.storage.places import Place, add, settled


class Queue:
    """Jobs of people, as claimed one after the other. Others of the same database do not count."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._jobs = JobStore(database)
        self._mark = secrets.token_hex(4)
        self._people: dict[str, str] = {}

    def add(self, person: str, kind: JobKind = "import") -> None:
        profile_id = new_profile_id()
        self._people[profile_id] = person
        values = {"id": profile_id, "title": "x", "created_at": timestamp(), "state": "importing"}
        with self._database.write() as connection:
            uploader = f"{person}{self._mark}" if person else None
            connection.execute(insert(profile).values(uploader=uploader, **values))
            insert_job(connection, profile_id, kind, self._mark)

    def start(self, most_running: int | None = None) -> tuple[str, str]:
        """The person whose job is claimed, and the job; both empty when none is due."""
        found = self._jobs.claim_next("me", self._mark, most_running)
        return ("", "") if found is None else (self._people[found.profile_id], found.id)

    def end(self, job_id: str) -> None:
        with self._database.write() as connection:
            assert end_job(connection, job_id, "me")

    def lose(self, job_id: str) -> None:
        """Its process has died."""
        with self._database.write() as connection:
            connection.execute(update(job).where(job.c.id == job_id).values(lease_until=0.0))

    def one_by_one(self, count: int) -> str:
        """Whose jobs one runner runs, by initials."""
        order = ""
        for _ in range(count):
            person, job_id = self.start()
            self.end(job_id)
            order += person[0]
        return order


@pytest.fixture(params=["sqlite", "postgres"])
def queue(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Queue]:
    url = None if request.param == "sqlite" else request.getfixturevalue("postgres_url")
    database = Database(tmp_path, url)
    database.migrate()
    yield Queue(database)
    database.close()


def test_first_import_of_one_waits_for_one_import_of_another(queue: Queue) -> None:
    for _ in range(100):
        queue.add("ada")
    _, running = queue.start()
    queue.add("eve")
    assert queue.start()[0] == "eve", "ada has one that runs"
    queue.end(running)
    assert queue.start()[0] == "ada"


def test_one_runner_takes_people_in_turn(queue: Queue) -> None:
    for _ in range(5):
        queue.add("ada")
    assert queue.one_by_one(2) == "aa"
    for _ in range(2):
        queue.add("eve")
    queue.add("bob")
    assert queue.one_by_one(6) == "ebaeaa"
    assert queue.start() == ("", "")


def test_analysis_that_a_reader_waits_for_comes_first(queue: Queue) -> None:
    queue.add("eve")
    queue.add("ada")
    _, running = queue.start()
    queue.add("eve", "analyse")
    assert queue.start()[0] == "eve"
    assert queue.start()[0] == "ada"
    queue.end(running)


def test_person_may_only_run_so_many_at_once(queue: Queue) -> None:
    for _ in range(3):
        queue.add("ada")
    first = queue.start(most_running=2)[1]
    assert queue.start(most_running=2)[0] == "ada"
    assert queue.start(most_running=2) == ("", "")
    queue.add("")
    assert queue.start(most_running=2)[1] != ""
    queue.end(first)
    assert queue.start(most_running=2)[0] == "ada"


def test_job_of_a_dead_process_is_due_and_does_not_count(queue: Queue) -> None:
    queue.add("ada")
    _, lost = queue.start(most_running=1)
    assert queue.start(most_running=1) == ("", "")
    queue.lose(lost)
    assert queue.start(most_running=1) == ("ada", lost)


@pytest.mark.parametrize("most", [None, 1])
def test_hundred_imports_of_one_do_not_hold_up_anothers_first(
    folder: Place, most: int | None
) -> None:
    server = folder.server(runner="local:1", user_imports=most)
    many = [add(server, b"nap 0.2 %d" % number, uploader="ada") for number in range(20)]
    one = add(server, b"stub eve", uploader="eve")
    settled(server, one)
    waiting = [isinstance(server.reader.state(profile_id), Importing) for profile_id in many]
    assert sum(waiting) >= 10
    for profile_id in many:
        settled(server, profile_id)


def test_limit_of_one_leaves_no_import_behind(folder: Place) -> None:
    server = folder.server(runner="local:3", user_imports=1)
    many = [add(server, b"nap 0.05 %d" % number, uploader="ada") for number in range(8)]
    for profile_id in many:
        settled(server, profile_id, within_s=30)
