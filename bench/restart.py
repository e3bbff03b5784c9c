"""How soon a server answers after its start, with many profiles and many queued imports."""

import hashlib
import json
import random
import re
import statistics
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

import zstandard
from sqlalchemy import Connection, insert

from bench.growth import rows_of_profile
from roofline.library.results_version import results_version
from roofline.storage import tables
from roofline.storage.database import Database
from roofline.storage.jobs import insert_job
from roofline.storage.results import PAGE, ResultWriter
from tests.browser.serving import START_SECONDS

PROFILES, QUEUED = 2_000, 100
READY_S = 2.0
STARTS = 3
SAMPLE = Path("sample_profiles/xspace/v6e-training.xplane.pb")
_ANNOUNCED = re.compile(r"Roofline is at (http://\S+)")


def restarts(root: Path) -> list[str]:
    """The time from the start of the process until `/readyz` says yes, and its CPU time."""
    _fill(root / "data")
    found = [_start(root) for _ in range(STARTS)]
    waited = statistics.median(one for one, _ in found)
    spent = statistics.median(one for _, one in found)
    missed = "" if waited < READY_S else " missed"
    return [
        "",
        f"Restart with {PROFILES:,} profiles and {QUEUED} queued imports: ready after"
        f" {waited:.2f} s, {spent:.2f} s of them CPU (median of {STARTS}; aim: < {READY_S:g} s"
        f"{missed}).",
    ]


def _start(root: Path) -> tuple[float, float]:
    """Seconds until ready, and CPU seconds of the server's own process until then."""
    log = root / "server.log"
    command = [sys.executable, "-m", "roofline", "serve", "--port", "0", "--data-dir"]
    with log.open("wb") as output:
        began = time.monotonic()
        process = subprocess.Popen([*command, str(root / "data")], stdout=output, stderr=output)
        try:
            while not _is_ready(log):
                assert process.poll() is None, log.read_text()
                assert time.monotonic() - began < START_SECONDS
                time.sleep(0.01)
            waited = time.monotonic() - began
            times = Path(f"/proc/{process.pid}/schedstat").read_text().split()
            return waited, int(times[0]) / 1e9
        finally:
            process.kill()  # as a machine that restarts: imports are queued again
            process.wait()


def _is_ready(log: Path) -> bool:
    announced = _ANNOUNCED.search(log.read_text())
    if announced is None:
        return False
    try:
        with urllib.request.urlopen(f"{announced[1]}/readyz", timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def _fill(root: Path) -> None:
    """Profiles as imports leave them, and uploads that wait."""
    root.mkdir(parents=True)
    database, chance, version = Database(root), random.Random(1), results_version()
    database.migrate()
    content = SAMPLE.read_bytes()
    with database.write() as connection:
        for number in range(PROFILES):
            profile_id = _add(connection, root, number, chance, b"%d" % number)
            _write_results(root / "derived" / profile_id, version)
        for number in range(QUEUED):
            profile_id = _add(connection, root, number, chance, content)
            waiting = {"state": "importing", "format": None, "device": None, "summary": None}
            changed = tables.profile.update().where(tables.profile.c.id == profile_id)
            connection.execute(changed.values(waiting))
            insert_job(connection, profile_id, "import", version)
    database.close()


def _add(
    connection: Connection, root: Path, number: int, chance: random.Random, content: bytes
) -> str:
    row, files, tags = rows_of_profile(number, chance)
    digest = hashlib.sha256(content).hexdigest()
    path = root / "blobs" / digest[:2] / f"{digest}.zst"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(zstandard.compress(content))
    one: dict[str, Any] = {**files[0], "sha256": digest, "size_bytes": len(content)}
    connection.execute(insert(tables.profile).values(row))
    connection.execute(insert(tables.file).values(one))
    connection.execute(insert(tables.tag), tags)
    return str(row["id"])


def _write_results(folder: Path, version: str) -> None:
    folder.mkdir(parents=True, mode=0o700)
    writer = ResultWriter(folder / version)
    writer.add(PAGE, json.dumps({"page": "small"}).encode())
    writer.finish()
