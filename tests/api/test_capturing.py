"""`with roofline.capture()`: each form, in programs of their own; JAX here, PyTorch where it is."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.capture.test_record import TORCH_PYTHON, needs_torch
from tests.conftest import PYTHON_PATH

JAX = """
import dataclasses, json, sys, time, jax, jax.numpy as jnp, roofline
@jax.jit
def step(w, x):
    return w - 1e-3 * jax.grad(lambda w: jnp.mean((jnp.tanh(x @ w) - x) ** 2))(w)
w, x = jnp.ones((128, 128)), jnp.ones((64, 128))
def loop(items):
    global w
    for item in items:
        w = step(w, x)
        if run.done: break
def stretch(length_s):
    global w
    end = time.time() + length_s
    while time.time() < end:
        w = jax.block_until_ready(step(w, x))
        time.sleep(0.005)  # a program that computes without a pause fills the trace, and its reader
def tell(run):
    print(json.dumps([run.verdict, run.profile.subject.time_us > 0, len(run.profile.steps)]))
    assert (run.verdict == "cold") == run.profile.to_markdown().splitlines()[0].endswith(", cold)")
"""
TORCH = """
import json, torch, roofline
torch.set_num_threads(1)
model = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=.1)
def train(steps):
    for step in range(steps):
        optimizer.zero_grad()
        model(torch.randn(512, 256)).square().mean().backward()
        optimizer.step()
        if run.done: break
def tell(run):
    print(json.dumps([run.verdict, run.profile.subject.kind, run.profile.subject.count]))
    how = run.profile.capture
    assert how.verdict == run.verdict and how.tries >= 1
    if run.profile.subject.kind == "step":
        assert how.steps == run.profile.subject.count and how.slowdown > 0
    else:
        assert how.steps is None and how.slowdown is None
"""


def told(program: str, python: str = sys.executable) -> tuple[Any, str]:
    """What the program printed as JSON, and its standard error."""
    paths = (PYTHON_PATH, *(path for path in sys.path if path.endswith("site-packages")))
    ran = subprocess.run(
        [python, "-c", program],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "JAX_PLATFORMS": "cpu"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    lines = [line for line in ran.stdout.splitlines() if line.startswith(("[", "{", '"'))]
    return [json.loads(line) for line in lines], ran.stderr


def test_blocks_of_jax() -> None:
    """Each form, as the first of its program: it compiles again."""
    forms = {
        "with roofline.capture() as run: stretch(4)": ["ok", True, 0],
        "with roofline.capture(steps=3) as run: loop(run.steps(range(60)))": ["ok", True, 3],
        "with roofline.capture(skip=2) as run: loop(run.step() for _ in range(60))": [
            "ok",
            True,
            0,
        ],
        "step(w, x)\nwith roofline.capture(duration=0.5) as run: stretch(1)": ["ok", True, 0],
        "with roofline.capture(duration=1) as run: stretch(0.7)": ["cold", True, 0],
    }
    blocks = "\n".join(f"jax.clear_caches()\n{form}\ntell(run)" for form in forms)
    found, said = told(JAX + blocks)
    assert found == list(forms.values()), said
    assert said.count("roofline: recorded") == len(forms)
    assert said.count("Cold: the program compiled in the window.") == 1


def test_a_decorated_function_counts_its_calls() -> None:
    program = (
        "run = roofline.capture(skip=2, steps=4, title='four', quiet=True)\n"
        "again = run(step)\n"
        "for _ in range(12): w = again(w, x)\n"
        "tell(again.capture)\n"
        "how = dataclasses.asdict(run.profile.capture)\n"
        "print(json.dumps([run.profile.title, how]))"
    )
    found, said = told(JAX + program)
    how = {"verdict": "ok", "steps": 4, "slowdown": None, "tries": 1}
    assert found == [["ok", True, 4], ["four", how]]  # they are launched ahead of their work
    assert "recorded" not in said


def test_two_blocks_are_apart_and_one_in_another_is_refused() -> None:
    program = (
        "start = jax.profiler.start_trace\n"
        "for _ in range(2):\n"
        "    with roofline.capture(skip=1, quiet=True) as run: loop(run.steps(range(60)))\n"
        "    tell(run)\n"
        "    try:\n"
        "        with roofline.capture(duration=1, quiet=True):\n"
        "            with roofline.capture(): pass\n"
        "    except roofline.RooflineError as error: print(json.dumps(error.message))\n"
        "assert jax.profiler.start_trace is start\n"
    )
    found, _ = told(JAX + program)
    refused = "A capture is running in this process."
    assert [one if isinstance(one, str) else one[0] for one in found] == ["ok", refused] * 2


def test_an_error_of_the_block_passes_and_what_was_recorded_stays(tmp_path: Path) -> None:
    program = (
        "try:\n"
        "    with roofline.capture(skip=1, quiet=True) as run:\n"
        "        for k in run.steps(range(20)):\n"
        "            w = step(w, x)\n"
        "            if run.done: raise KeyError('of the program')\n"
        "except KeyError as error: print(json.dumps(str(error)))\n"
        "tell(run)\n"
        f"print(json.dumps([path.exists() for path in run.save({str(tmp_path)!r})]))"
    )
    found, _ = told(JAX + program)
    assert found[0] == "'of the program'"
    assert (found[1][0], found[2]) == ("ok", [True])


def test_a_block_without_a_framework_or_without_steps_says_what_to_do() -> None:
    asked = (
        "try: run.profile\n"
        "except roofline.RooflineError as error: print(json.dumps([error.message, error.remedy]))\n"
    )
    [[message, _]], said = told(
        f"import json, roofline\nwith roofline.capture() as run: pass\n{asked}"
    )
    assert message == "Neither PyTorch nor JAX ran in the block."
    assert message in said
    [[message, remedy]], _ = told(f"{JAX}with roofline.capture() as run: loop([0])\n{asked}")
    assert "Say skip=1" in remedy


@needs_torch
def test_blocks_of_pytorch() -> None:
    program = (
        "for _ in range(2):\n"
        "    with roofline.capture(quiet=True) as run: train(60)\n"
        "    tell(run)\n"
        "with roofline.capture(duration=0.3) as run:\n"
        "    for _ in range(500): model(torch.randn(512, 256))\n"
        "tell(run)\n"
        "again = roofline.capture(steps=2)(model)\n"
        "for _ in range(15): again(torch.randn(512, 256))\n"
        "tell(again.capture)\n"
        "from torch.optim import optimizer as hooks\n"
        "assert not hooks._global_optimizer_post_hooks\n"
    )
    found, said = told(TORCH + program, str(TORCH_PYTHON))
    assert {one[0] for one in found} <= {"ok", "cold"}, said
    assert [one[1] for one in found[:2]] == ["step", "step"]
