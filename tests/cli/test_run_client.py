"""`roofline import` and `roofline push` against a real server, which is killed meanwhile."""

import json
import os
import signal
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from roofline.cli import runs
from roofline.pods.partial import unpack
from roofline.storage.run_records import READING
from tests.browser.serving import Server, serving
from tests.cli.test_main import refused, run
from tests.conftest import SAMPLES
from tests.tools.make_rocprof_folder import workload
from tests.web.api.test_runs import analysed, said

THREE_HOSTS = SAMPLES / "xspace" / "v5e-three-hosts"
FILES = sorted(THREE_HOSTS.glob("*.xplane.pb"))


def command(server: Server, *words: object) -> str:
    return run(*words, "--server", server.url).stdout.decode().strip()


def document(server: Server, run_id: str) -> Any:
    """The run, once all of its hosts are read; a busy machine needs more than one wait."""
    for _ in range(4):
        with urlopen(f"{server.url}/api/v1/runs/{run_id}?wait=60", timeout=100) as answer:
            found = json.load(answer)
        if found["state"] != READING:
            break
    return found


def test_runs_are_imported_and_pushed_and_outlive_the_server(tmp_path: Path) -> None:
    settings = {"ROOFLINE_BUCKETS": str(SAMPLES)}
    with serving(tmp_path, settings) as server:
        made = json.loads(command(server, "import", "--json", "--title", "Pushed"))
        words = ("push", "--run", made["url"], "--partial", FILES[0], FILES[1])
        assert command(server, *words) == "added 2 of 2"
        assert command(server, *words) == "added 0 of 2", "a repetition adds nothing"
        last = command(server, "push", "--run", made["id"], "--close", FILES[2])
        os.kill(server.process.pid, signal.SIGKILL)
        assert last == "added 1 of 1"
    with serving(tmp_path, settings) as server:
        found = document(server, made["id"])
        assert (found["state"], found["read"], found["title"]) == ("complete", 3, "Pushed")
        assert said(found) == analysed(THREE_HOSTS)
        link = command(server, "import", THREE_HOSTS, "--hosts", "3", "--wait")
        imported = document(server, link.rpartition("/")[2])
        assert imported["digest"] == found["digest"]
        said_no = refused("import", "/etc", "--server", server.url)
        assert "This server does not read /etc" in said_no
        unknown = refused("push", "--run", "none", FILES[0], "--server", server.url)
        assert "There is no such run" in unknown


def test_a_file_without_a_partial_is_refused(tmp_path: Path) -> None:
    broken = tmp_path / "host.xplane.pb"
    broken.write_bytes(b"nothing")
    server = ("--server", "http://127.0.0.1:9")
    assert "has no partial" in refused("push", "--run", "a", "--partial", broken, *server)


def test_a_folder_that_is_one_host_is_sent_as_its_partial(tmp_path: Path) -> None:
    for number in range(2):
        folder = tmp_path / "out" / f"rank_{number}"
        folder.mkdir(parents=True)
        for name, text in workload().items():
            (folder / name).write_text(text)
    (tmp_path / "out" / "rank2.json").write_text("{}")
    with runs.files_to_send(tmp_path / "out", is_partial=False) as sent:
        names = ["rank2.json", "rank_0.partial", "rank_1.partial"]
        assert sorted(one.name for one in sent) == names
        partials = [unpack(one.read_bytes()) for one in sent if one.suffix != ".json"]
    assert {one.header.known_rank for one in partials} == {0, 1}
