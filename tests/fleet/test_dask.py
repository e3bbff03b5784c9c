"""The engine `dask` on real schedulers and workers: the same bytes, through kills and TLS."""

import importlib
import json
import random
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from roofline.errors import ImportStoppedError, SettingsError
from roofline.fleet import dask_engine
from roofline.fleet import engine as fleet_engine
from roofline.fleet.choosing import start_engine
from roofline.fleet.dask_connection import Certificates, Cluster, address_of, connected
from roofline.fleet.dask_engine import DaskEngine
from roofline.fleet.engine import EngineChoice
from roofline.pods.folders import HostFile, files_of
from tests.conftest import ROOT
from tests.fleet import poison
from tests.fleet.cluster import Processes, processes
from tests.fleet.kills import LIMITS, distinct_files, one_by_one, rendered, run_with_kills

HOSTS = 40

pytestmark = [
    # Connections that are cut, and loops of libraries that end with the process.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("dask")


@pytest.fixture(scope="module")
def files(folder: Path) -> list[HostFile]:
    """Small captures of forty hosts: three batches."""
    return distinct_files(folder, HOSTS, events=2_000)


@pytest.fixture(scope="module")
def wanted(folder: Path, files: list[HostFile]) -> bytes:
    """What the engine `local` says."""
    return one_by_one(files, f"file://{folder / 'one-by-one'}")


@pytest.fixture(scope="module")
def certificates(folder: Path) -> Certificates:
    """Made by the script that we give to users."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    return made_certificates(folder / "certificates")


def made_certificates(folder: Path) -> Certificates:
    subprocess.run([ROOT / "deploy" / "dask-certificates.sh", folder], check=True)
    assert folder.stat().st_mode & 0o077 == 0
    names = ("ca.pem", "cert.pem", "key.pem")
    authority, certificate, key = (folder / name for name in names)
    assert {one.name for one in folder.iterdir()} == {*names}
    return Certificates(authority=authority, certificate=certificate, key=key)


@pytest.fixture(scope="module")
def cluster(folder: Path, certificates: Certificates) -> Iterator[Processes]:
    """One scheduler and one worker, over TLS."""
    options = ["--tls-ca-file", str(certificates.authority)]
    options += ["--tls-cert", str(certificates.certificate), "--tls-key", str(certificates.key)]
    with processes(folder, workers=1, options=options) as found:
        yield found


def engine_of(cluster: Processes, certificates: Certificates, folder: Path) -> DaskEngine:
    where = Cluster(scheduler_file=cluster.scheduler_file, certificates=certificates)
    return DaskEngine(where, f"file://{folder / 'kept'}", LIMITS)


def test_same_bytes_and_one_more_host_is_one_map(
    cluster: Processes,
    certificates: Certificates,
    files: list[HostFile],
    wanted: bytes,
    tmp_path: Path,
) -> None:
    engine, place = engine_of(cluster, certificates, tmp_path), f"file://{tmp_path / 'kept'}"
    try:
        first = list(engine.submit(files[:-1]).receipts())
        assert len(first) == HOSTS - 1
        shuffled = [*files, *files[:5]]
        random.Random(1).shuffle(shuffled)
        second = list(engine.submit(shuffled).receipts())
        assert "tls://" in engine.client.scheduler_info()["address"]
    finally:
        engine.close()
    assert [one.was_kept for one in first] == [False] * (HOSTS - 1)
    computed = [one.address for one in second if not one.was_kept]
    assert computed == [files[-1].address]
    assert rendered(second, place) == wanted


def test_a_server_reads_runs_with_its_cluster(
    cluster: Processes, certificates: Certificates, files: list[HostFile], tmp_path: Path
) -> None:
    from roofline.settings import Settings
    from tests.web.api.test_runs import made, pushed, said, settled
    from tests.web.conftest import running

    run_folder = tmp_path / "run"
    run_folder.mkdir()
    for one in files[:3]:
        shutil.copy(one.address, run_folder)
    engine = engine_of(cluster, certificates, tmp_path)
    try:
        before = runs_ended(engine)
        settings = Settings.from_env(
            data_dir=tmp_path / "data",
            buckets=[str(tmp_path)],
            pods_engine="dask",
            dask_scheduler=engine.client.scheduler_info()["address"],
            dask_ca=certificates.authority,
            dask_cert=certificates.certificate,
            dask_key=certificates.key,
        )
        with running(settings) as client:
            run = made(client, uri=str(run_folder), hosts=3)
            settled(client, run["id"])
            pushed(client, run["id"], (files[3].name, Path(files[3].address).read_bytes()))
            document = settled(client, run["id"])
        assert (document["state"], document["read"]) == ("complete", 4), document.get("reason")
        assert runs_ended(engine) == before + 1, "the pushed file is read on the server"
    finally:
        engine.close()
    wanted = one_by_one(files[:4], f"file://{tmp_path / 'one-by-one'}")
    assert said(document) == json.loads(wanted)


def runs_ended(engine: DaskEngine) -> int:
    """How many runs the workers of a cluster have read."""
    module = "roofline.fleet.dask_engine"
    ended = engine.client.run(lambda: len(importlib.import_module(module)._ended))
    return int(sum(ended.values()))


def test_a_server_names_what_its_cluster_lacks(tmp_path: Path) -> None:
    from roofline.library.build import build_instance
    from roofline.settings import Settings

    for given, said in (
        ({}, "ROOFLINE_PODS_ENGINE=dask needs"),
        ({"dask_scheduler": "tcp://10.0.0.7:8786"}, "does not use TLS"),
        ({"dask_scheduler": "tls://10.0.0.7:8786"}, "needs certificates"),
        ({"dask_scheduler": "tls://a:1", "dask_ca": Path("ca.pem")}, "together"),
    ):
        options: dict[str, Any] = {"data_dir": tmp_path, "pods_engine": "dask", **given}
        with pytest.raises(SettingsError, match=said):
            build_instance(Settings.from_env(**options))


def test_killed_worker_and_scheduler_do_not_change_a_byte(
    cluster: Processes,
    certificates: Certificates,
    files: list[HostFile],
    wanted: bytes,
    tmp_path: Path,
) -> None:
    kept = tmp_path / "kept"
    dice = random.Random(1)
    found = run_with_kills(
        files,
        kept,
        cluster,
        dice,
        kills=["scheduler", "worker"],
        certificates=certificates,
        within_s=0.2,
    )
    assert (found.workers, found.schedulers) == (1, 1)
    assert len(found.receipts) == HOSTS
    assert rendered(found.receipts, f"file://{kept}") == wanted


def test_closing_ends_what_workers_read(
    cluster: Processes, certificates: Certificates, files: list[HostFile], tmp_path: Path
) -> None:
    engine = engine_of(cluster, certificates, tmp_path)
    try:
        found = engine.submit(files * 20).receipts()
        next(found)
        (worker,) = cluster.workers
        assert readers_below(worker.pid)
        found.close()  # as Ctrl-C does
    finally:
        engine.close()
    deadline = time.monotonic() + 60
    while readers_below(worker.pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not readers_below(worker.pid)
    assert worker.poll() is None, "the worker itself lives"


def readers_below(pid: int) -> list[str]:
    """Programs that read files, started by this process; those of a worker have no secrets."""
    found = []
    for thread in Path(f"/proc/{pid}/task").iterdir():
        for child in (thread / "children").read_text().split():
            if b"reading_child" in Path(f"/proc/{child}/cmdline").read_bytes():
                assert b"hunter2" not in Path(f"/proc/{child}/environ").read_bytes()
                found.append(child)
    return found


def test_another_authority_is_refused(
    cluster: Processes, certificates: Certificates, folder: Path
) -> None:
    other = made_certificates(folder / "others")
    mixed = replace(certificates, certificate=other.certificate, key=other.key)
    where = Cluster(scheduler_file=cluster.scheduler_file, certificates=mixed)
    with pytest.raises(ImportStoppedError, match="No Dask scheduler answers"), connected(where):
        pass


def test_a_file_that_kills_workers_is_unreadable_and_the_others_go_on(
    files: list[HostFile], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(dask_engine, "read_batch", poison.read_batch)
    shutil.copy(files[0].address, tmp_path / poison.NAME)
    (culprit,) = files_of([tmp_path / poison.NAME])
    with processes(tmp_path, workers=1, allowed_failures=0) as found:
        where = Cluster(scheduler_file=found.scheduler_file)
        with closing(DaskEngine(where, f"file://{tmp_path / 'kept'}", LIMITS)) as engine:
            receipts = list(engine.submit([culprit, *files[1:4]]).receipts())
    said = {one.address: one.unreadable for one in receipts}
    assert said.pop(culprit.address)[0].reason == "Reading it ended several workers."
    assert said == {one.address: () for one in files[1:4]}


def test_no_scheduler_is_started(tmp_path: Path) -> None:
    """Any account of this machine could run code in one without certificates."""
    with pytest.raises(SettingsError, match="has no scheduler"):
        start_engine(EngineChoice(engine="dask", workers=2), f"file://{tmp_path}", LIMITS)


def test_batches_take_two_seconds_or_more() -> None:
    one = HostFile(address="a", name="a", size_bytes=4_100_000, is_named=False)
    large = replace(one, size_bytes=1 << 30)
    found = list(fleet_engine.batches([one] * 30 + [large] * 2 + [one]))
    assert [len(batch) for batch in found] == [13, 13, 5, 1, 1]
    for batch in found[:-1]:
        assert sum(map(fleet_engine.expected_cpu_seconds, batch)) >= 2.0


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("tcp://10.0.0.7:8786", "does not use TLS"),
        ("tcp://scheduler:8786", "does not use TLS"),
        ("10.0.0.7:8786", "does not use TLS"),
        ("ws://127.0.0.1:8786", "does not use TLS"),
        ("ucx://10.0.0.7:8786", "does not use TLS"),
        ("tls://10.0.0.7:8786", "needs certificates"),
    ],
)
def test_addresses_of_other_machines_need_tls(address: str, said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        address_of(Cluster(address=address))


@pytest.mark.parametrize("host", ["127.0.0.1", "127.3.2.1", "[::1]", "localhost"])
def test_loopback_needs_no_tls(host: str) -> None:
    assert address_of(Cluster(address=f"tcp://{host}:8786")) == f"tcp://{host}:8786"


def test_a_scheduler_file_is_held_to_the_same_rule(tmp_path: Path) -> None:
    path = tmp_path / "scheduler.json"
    for text in ("", "{}", "[]"):
        path.write_text(text)
        with pytest.raises(ImportStoppedError, match="not the file"):
            address_of(Cluster(scheduler_file=path))
    path.write_text('{"address": "tcp://10.0.0.7:8786"}')
    with pytest.raises(SettingsError, match="does not use TLS"):
        address_of(Cluster(scheduler_file=path))


def test_a_missing_certificate_is_named(tmp_path: Path) -> None:
    gone = Certificates(
        authority=tmp_path / "ca.pem", certificate=tmp_path / "cert.pem", key=tmp_path / "key.pem"
    )
    where = Cluster(address="tls://127.0.0.1:1", certificates=gone)
    with pytest.raises(SettingsError, match=r"ca\.pem is not there"), connected(where):
        pass
