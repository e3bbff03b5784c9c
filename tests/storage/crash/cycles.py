"""Which kinds of crash come in which order, and how many there were."""

from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from roofline.storage.database import Database
from tests.storage.crash import CHECK_EVERY, Disturb, Ground, crash, examine
from tests.storage.crash import disturbing as by
from tests.storage.places import Workers
from tests.tools.services import postgres, postgres_folder

# Twenty crashes; those of a team take longer, because processes start anew.
ORDER = (
    *("server", "fork server", "child", "disk", "worker"),
    *("server", "child", "fork server", "server", "disk"),
    *("server", "fork server", "child", "disk", "database"),
    *("server", "child", "fork server", "server", "server"),
)


@dataclass(kw_only=True)
class Kind:
    """One kind of crash: where it happens, what happens, and what is put right afterwards."""

    ground: Ground
    disturb: Disturb
    after: Callable[[], None] = lambda: None


class Cycles:
    """Crashes below `folder`, in turn."""

    def __init__(self, folder: Path, first_seed: int) -> None:
        self._folder = folder
        self._seed = first_seed
        self._kinds: dict[str, Kind] = {}
        self._stack = ExitStack()
        self.counts: Counter[str] = Counter()
        self.left_out: set[str] = set()
        self.uploads = 0

    def run(self, cycles: int) -> None:
        """Crashes so many times, checking all promises."""
        with self._stack:
            for number in range(cycles):
                kind = self._kind(ORDER[number % len(ORDER)])
                crash(kind.ground, self._seed + number, kind.disturb)
                kind.after()
                if kind.ground.crashes % CHECK_EVERY == 0:
                    self.uploads += examine(kind.ground)
            for ground in {id(kind.ground): kind.ground for kind in self._kinds.values()}.values():
                self.uploads += examine(ground)

    def _kind(self, name: str) -> Kind:
        """The kind `name`, or that of a killed server where this machine cannot do it."""
        if name not in self._kinds:
            self._kinds.update(self._made(name))
        if name not in self._kinds:
            self.left_out.add(name)
            return self._kind("server")
        self.counts[name] += 1
        return self._kinds[name]

    def _made(self, name: str) -> dict[str, Kind]:
        if name == "disk":
            return self._on_a_small_disk()
        if name in ("worker", "database"):
            return self._of_a_team()
        ground = Ground(folder=self._folder / "crash")
        return {
            "server": Kind(ground=ground, disturb=by.nothing),
            "fork server": Kind(ground=ground, disturb=by.kill_fork_servers),
            "child": Kind(ground=ground, disturb=by.kill_children),
        }

    def _on_a_small_disk(self) -> dict[str, Kind]:
        disk = self._stack.enter_context(by.small_disk(self._folder / "disk"))
        if disk is None:
            return {}
        ground = Ground(folder=disk.root / "crash")
        return {"disk": Kind(ground=ground, disturb=disk.fill, after=disk.empty)}

    def _of_a_team(self) -> dict[str, Kind]:
        if postgres_folder() is None:
            return {}
        database = self._stack.enter_context(postgres())
        options = {
            "database_url": database.url,
            "blobs": f"file://{self._folder / 'team-blobs'}",
            "runner": "procrastinate",
        }
        found = Database(self._folder, database.url)
        found.migrate()
        found.close()
        workers = Workers(self._folder, options)
        self._stack.callback(workers.stop)
        for _ in range(2):
            workers.start()
        team = by.Team(database, workers)
        ground = Ground(folder=self._folder / "team", options=options)
        return {
            "worker": Kind(ground=ground, disturb=team.kill_worker),
            "database": Kind(ground=ground, disturb=team.crash_database),
        }
