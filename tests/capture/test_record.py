"""Commands under `roofline record` run as without it, and a profile comes of what they did."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from roofline.capture.recorder import HOOK, best_of, said_of, tries_of
from tests.cli.test_main import run as ran
from tests.conftest import PYTHON_PATH

# A Python with PyTorch, where there is one: PyTorch is too large for the test environment.
TORCH_PYTHON = os.environ.get("ROOFLINE_TORCH_PYTHON")
needs_torch = pytest.mark.skipif(
    TORCH_PYTHON is None, reason="ROOFLINE_TORCH_PYTHON names no Python that has PyTorch"
)

JAX_TRAINING = """
import sys, time, jax, jax.numpy as jnp
@jax.jit
def step(w, x):
    return w - 1e-3 * jax.grad(lambda w: jnp.mean((jnp.tanh(x @ w) - x) ** 2))(w)
w, x = jnp.ones((64, 64)), jnp.ones((32, 64))
w, end, asked = step(w, x), time.time() + 60, 0
while time.time() < end:
    w = jax.block_until_ready(step(w, x))
    time.sleep(0.005)
    if len(sys.argv) > 1 and any(name.endswith('.done.json') for name in os.listdir(sys.argv[1])):
        break
print('trained')
"""
TORCH_TRAINING = """
import sys, torch
torch.set_num_threads(1)
model = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=.1)
for step in range(int(sys.argv[1])):
    optimizer.zero_grad()
    model(torch.randn(512, 256)).square().mean().backward()
    optimizer.step()
    if len(sys.argv) > 2 and step == int(sys.argv[2]):
        raise SystemExit(7)
print('trained')
"""


def recorded(folder: Path, *command: str, options: tuple[str, ...] = ()) -> tuple[Any, Any]:
    """The finished command, and the document of what was recorded."""
    document = folder / "record.json"
    words = ("record", "--json", str(document), *options, "--", *command)
    finished = subprocess.run(
        (sys.executable, "-m", "roofline", *words),
        capture_output=True,
        env={**os.environ, "PYTHONPATH": PYTHON_PATH, "JAX_PLATFORMS": "cpu"},
        timeout=300,
        check=False,
    )
    return finished, json.loads(document.read_text("utf-8"))


def test_a_jax_program_is_recorded_when_it_has_compiled(tmp_path: Path) -> None:
    program = tmp_path / "train.py"
    # The program goes on until its own recording is there: no machine is too slow for it.
    program.write_text(
        "import os\nos.environ.setdefault('X', '')\n"
        "sys_folder = os.environ['ROOFLINE_RECORD'].partition('\\n')[0]\n"
        + JAX_TRAINING.replace("len(sys.argv) > 1 and ", "").replace("sys.argv[1]", "sys_folder")
    )
    kept = tmp_path / "kept"
    finished, document = recorded(
        tmp_path, sys.executable, str(program), options=("--duration", "0.5s", "-o", str(kept))
    )
    assert finished.returncode == 0, finished.stderr
    assert finished.stdout == b"trained\n"
    assert document["framework"] == "jax"
    assert document["verdict"] in ("ok", "cold")
    assert document["ranks"] == [0]
    (file,) = kept.iterdir()
    assert document["files"] == [str(file)]
    analysed = json.loads(ran("analyze", "-f", "json", file).stdout)
    assert any("fusion" in op["name"] for op in analysed["ops"])
    assert document["sentence"] in finished.stderr.decode()


def test_a_command_without_a_framework_runs_as_it_is(tmp_path: Path) -> None:
    words = (sys.executable, "-c", "import sys; print('out'); print('err', file=sys.stderr)")
    finished, document = recorded(tmp_path, *words)
    assert finished.stdout == b"out\n"
    assert finished.stderr.decode().splitlines() == [
        "err",
        "roofline: No PyTorch or JAX was imported by the command.",
    ]
    assert document["said"] == ["No PyTorch or JAX was imported by the command."]
    assert document["verdict"] is None


def test_the_status_is_that_of_the_command(tmp_path: Path) -> None:
    end = "import os, signal; os.kill(os.getpid(), signal.SIGTERM)"
    assert recorded(tmp_path, sys.executable, "-c", end)[0].returncode == 128 + signal.SIGTERM
    assert recorded(tmp_path, sys.executable, "-c", "raise SystemExit(7)")[0].returncode == 7
    needed = recorded(tmp_path, sys.executable, "-c", "", options=("--require",))[0]
    assert needed.returncode == 2


def test_a_python_without_the_hook_is_named(tmp_path: Path) -> None:
    _, document = recorded(tmp_path, sys.executable, "-I", "-c", "print(1)")
    assert document["said"] == ["No Python process of the command loaded the hook."]


def test_a_command_that_is_not_there() -> None:
    finished = ran("record", "--", "/nowhere/program", code=2)
    assert b"/nowhere/program cannot be started" in finished.stderr


def test_the_next_sitecustomize_of_the_path_runs(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("print('theirs')")
    words = (sys.executable, "-c", "import sys; print(any('hook' in one for one in sys.path))")
    finished = subprocess.run(
        words,
        capture_output=True,
        check=True,
        env={
            **os.environ,
            "PYTHONPATH": f"{HOOK}{os.pathsep}{tmp_path}",
            "ROOFLINE_RECORD": f"{tmp_path}\n{{}}",
        },
    )
    assert finished.stdout.decode().split() == ["theirs", "False"]
    assert finished.stderr == b""


def test_a_hook_that_fails_is_not_noticed(tmp_path: Path) -> None:
    """The folder is gone and the options are not JSON: the program runs as without us."""
    (tmp_path / "torch.py").write_text("word = 'of the program'")
    finished = subprocess.run(
        (sys.executable, "-c", "import torch; print(torch.word)"),
        capture_output=True,
        check=True,
        env={
            **os.environ,
            "PYTHONPATH": f"{HOOK}{os.pathsep}{tmp_path}",
            "ROOFLINE_RECORD": f"{tmp_path}\nno options",
        },
    )
    assert finished.stdout == b"of the program\n"
    assert finished.stderr == b""
    assert "the hook could not be placed" in (tmp_path / "log").read_text("utf-8")


@needs_torch
def test_a_pytorch_training_is_recorded_when_steps_are_steady(tmp_path: Path) -> None:
    program = tmp_path / "train.py"
    program.write_text(TORCH_TRAINING)
    finished, document = recorded(tmp_path, str(TORCH_PYTHON), str(program), "60")
    assert finished.stdout == b"trained\n"
    assert (document["framework"], document["steps"], document["ranks"]) == ("torch", 3, [0])
    assert document["verdict"] in ("ok", "cold")
    assert "a step" in document["sentence"]


@needs_torch
def test_a_pytorch_training_that_ends_early_says_what_to_do(tmp_path: Path) -> None:
    program = tmp_path / "train.py"
    program.write_text(TORCH_TRAINING)
    _, document = recorded(tmp_path, str(TORCH_PYTHON), str(program), "2")
    assert "ended after 2 steps" in document["said"][0]
    assert "--skip 1" in document["said"][0]
    finished, document = recorded(
        tmp_path,
        str(TORCH_PYTHON),
        str(program),
        "20",
        "5",
        options=("--skip", "1", "--after", "10m"),
    )
    assert finished.returncode == 7
    assert document["steps"] == 3


def test_the_better_of_two_tries_is_told(tmp_path: Path) -> None:
    """Its time a step is the profile's to say: that is the mean, and there is one answer."""
    facts = {"rank": 0, "steps": 3, "wanted": 3, "seconds": 0.21, "slowdown": None}
    for number, verdict, longest in ((1, "cold", 52.5), (2, "no shapes", 1.0)):
        record = {**facts, "try": number, "verdict": verdict, "longest": longest}
        (tmp_path / f"rank0_try{number}.done.json").write_text(json.dumps(record))
    best = best_of(tries_of(tmp_path))
    assert best is not None
    assert said_of(best) == [
        "recorded 3 steps, first try, the better of two; 0.2 s of the program's time",
        "Cold: the longest step took 52.5 times the median.",
    ]
