"""The dialog that captures a program which runs: from its address to its page."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import NewPage
from tests.browser.serving import Server, serving
from tests.browser.watching import Watch

# Computes until its standard input ends, with pauses that leave the processors to others, and says
# on which port its profiler listens.
PROGRAM = """
import socket, sys, threading, jax, jax.numpy as jnp
with socket.socket() as one:
    one.bind(("127.0.0.1", 0))
    port = one.getsockname()[1]
@jax.jit
def step(w, x):
    return w - 1e-3 * jax.grad(lambda w: jnp.mean((jnp.tanh(x @ w) - x) ** 2))(w)
w, x = jnp.ones((256, 256)), jnp.ones((128, 256))
w = jax.block_until_ready(step(w, x))
server = jax.profiler.start_server(port)
over = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), over.set())).start()
print(port, flush=True)
while not over.wait(0.01):
    w = jax.block_until_ready(step(w, x))
"""


@pytest.fixture(scope="module")
def capturing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server whose owner lists this machine."""
    settings = {"ROOFLINE_CAPTURE_TARGETS": "127.0.0.1"}
    with serving(tmp_path_factory.mktemp("capturing"), settings) as running:
        yield running


@contextmanager
def computing(folder: Path) -> Iterator[str]:
    """The address of a JAX program that runs."""
    log = folder / "log"
    with log.open("wb") as errors:
        process = subprocess.Popen(
            (sys.executable, "-c", PROGRAM),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            env={**os.environ, "JAX_PLATFORMS": "cpu"},
        )
    assert process.stdin is not None
    assert process.stdout is not None
    port = process.stdout.readline().decode().strip()
    assert port, log.read_text()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        process.stdin.close()
        process.stdout.close()
        process.wait(60)


def test_no_entry_where_nothing_is_listed(server: Server, new_page: NewPage) -> None:
    page = new_page()
    page.goto("/")
    expect(page.get_by_role("heading", level=1)).to_be_attached()
    expect(page.get_by_role("button", name="Capture")).to_have_count(0)
    expect(page.locator("[data-capture]")).to_have_count(0)


def test_a_program_is_captured_and_its_page_opens(
    capturing: Server, tmp_path: Path, new_page: NewPage
) -> None:
    with computing(tmp_path) as program:
        captures(capturing, program, new_page)


def captures(capturing: Server, program: str, new_page: NewPage) -> None:
    page = new_page(capturing.url)
    page.goto("/")
    page.get_by_role("button", name="Capture").click()
    dialog = page.get_by_role("dialog", name="Capture a program that runs")
    expect(dialog.get_by_label("Addresses")).to_be_focused()
    dialog.get_by_label("Addresses").fill(program)
    dialog.get_by_label("Seconds").fill("0.5")
    dialog.get_by_label("Title").fill("Captured here")
    dialog.get_by_role("button", name="Capture").click()
    expect(dialog.get_by_text(program)).to_be_visible()
    page.wait_for_url(re.compile("/p/"), timeout=90_000)
    expect(page).to_have_title(re.compile("Captured here"), timeout=90_000)
    expect(page.get_by_text(re.compile("fusion|dot")).first).to_be_attached(timeout=90_000)
    # The next capture begins with the addresses of the last one.
    page.goto("/")
    page.get_by_role("button", name="Capture").click()
    expect(page.get_by_label("Addresses")).to_have_value(program)


def test_stop_ends_the_recording(capturing: Server, tmp_path: Path, new_page: NewPage) -> None:
    page = new_page(capturing.url)
    page.goto("/")
    page.get_by_role("button", name="Capture").click()
    dialog = page.get_by_role("dialog", name="Capture a program that runs")
    with computing(tmp_path) as program:
        dialog.get_by_label("Addresses").fill(program)
        dialog.get_by_label("Seconds").fill("60")
        dialog.get_by_role("button", name="Capture").click()
        expect(dialog.get_by_text(re.compile("recording"))).to_be_visible()
        dialog.get_by_role("button", name="Stop").click()
        page.wait_for_url(re.compile("/p/"), timeout=50_000)


def test_an_address_that_is_not_listed_is_said(
    capturing: Server, new_page: NewPage, watches: list[Watch]
) -> None:
    page = new_page(capturing.url)
    watches[0].expect("status of 403")
    page.goto("/")
    page.get_by_role("button", name="Capture").click()
    dialog = page.get_by_role("dialog", name="Capture a program that runs")
    dialog.get_by_label("Addresses").fill("169.254.169.254:9012")
    dialog.get_by_role("button", name="Capture").click()
    expect(dialog.get_by_role("alert")).to_contain_text(
        "This server does not capture from 169.254.169.254:9012."
    )
    dialog.get_by_role("button", name="Close").click()
    expect(dialog).not_to_be_visible()
