"""`roofline capture` of a JAX program that runs."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.serving import serving
from tests.cli.test_main import refused, run
from tests.cli.test_run_client import document

PROGRAM = """
import sys, time, jax, jax.numpy as jnp
jax.profiler.start_server(int(sys.argv[1]))
step = jax.jit(lambda w, x: w + 1e-6 * jnp.tanh(x @ w))
w, x = jnp.ones((256, 256)), jnp.ones((256, 256))
w = jax.block_until_ready(step(w, x))
print('ready', flush=True)
while True:
    w = jax.block_until_ready(step(w, x))
    time.sleep(0.01)
"""
"""Runs until it is ended, so that no machine is too slow to capture it."""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    port = _free_port()
    words = (sys.executable, "-c", PROGRAM, str(port))
    environment = {**os.environ, "JAX_PLATFORMS": "cpu"}
    with subprocess.Popen(words, stdout=subprocess.PIPE, env=environment) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == b"ready\n"
        yield f"localhost:{port}"
        program.kill()


def _free_port() -> int:
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_a_program_that_runs_is_captured(address: str, tmp_path: Path) -> None:
    answer = run("capture", address, "--duration", "300ms", "--json", "-o", tmp_path)
    said = json.loads(answer.stdout)
    assert said["schema"] == "roofline.capture/1"
    assert said["hosts"][0]["address"] == address
    assert said["hosts"][0]["problem"] is None
    assert re.search(r"\d+ (ms|s)", said["sentence"].replace("\N{NO-BREAK SPACE}", " "))
    (file,) = said["files"]
    analysed = json.loads(run("analyze", "-f", "json", file).stdout)
    assert any("fusion" in op["name"] for op in analysed["ops"])


def test_programs_are_the_hosts_of_a_run_on_a_server(address: str, tmp_path: Path) -> None:
    other = address.replace("localhost", "127.0.0.1")
    with serving(tmp_path) as server:
        words = ("--duration", "300ms", "--server", server.url, "--title", "two")
        answer = run("capture", address, other, *words)
        url = answer.stdout.decode().strip()
        assert len(document(server, url.rpartition("/r/")[2])["hosts"]) == 2


def test_addresses_are_read_before_anything_is_asked(tmp_path: Path) -> None:
    assert "not an address" in refused("capture", "worker-3")
    assert "No address" in refused("capture")
    assert b"500ms" in run("capture", "localhost:1", "--duration", "2h", code=2).stderr
    hosts = tmp_path / "hosts.txt"
    hosts.write_text("127.0.0.1:1\n# a comment\n127.0.0.1:2\n")
    assert "None of 2 hosts was captured" in refused("capture", "--hosts", hosts, "--retry", "0")
