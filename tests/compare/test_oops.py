"""A layer called `oops`, added to each block of a real program: every report names it and its line.

JAX captures the program on the CPU, and Flax and PyTorch where they are installed. The blocks of
JAX call `dense` of a library that is installed in `site-packages`, so that the innermost frame of
a product is not the user's; those of Flax and PyTorch call their own layers. A trace of PyTorch
does not number the blocks of an operation. The layer is most of the work, so that it stands out of
what a busy machine does to a time.
"""

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.cli.test_main import run

LIBRARY = "import jax.numpy as jnp\n\n\ndef dense(w, x):\n    return jnp.dot(x, w)\n"
JAX_NET = """\
import sys
sys.path.insert(0, "site-packages")
import jax
from nnlib import dense

def block(w, x, number, has_oops):
    with jax.named_scope(f"Block_{number}"):
        with jax.named_scope("Mlp"):
            x = x + dense(w["down"], jax.nn.relu(dense(w["up"], x)))
        if has_oops:
            with jax.named_scope("oops"):
                x = x + dense(w["more"], dense(w["wide"], x))  # line 12
        return x

def program(has_oops):
    shapes = {"up": (32, 512), "down": (512, 32)}
    shapes |= {"wide": (32, 4096), "more": (4096, 32)} if has_oops else {}
    keys = jax.random.split(jax.random.key(0), 4)
    w = {name: jax.random.normal(k, shapes[name]) * 0.05 for k, name in zip(keys, shapes)}
    def loss(w, x):
        for number in range(3):
            x = block(w, x, number, has_oops)
        return (x * x).mean()
    step = jax.jit(lambda w, x: jax.tree.map(lambda p, g: p - 0.01 * g, w, jax.grad(loss)(w, x)))
    return step, w, jax.random.normal(jax.random.key(1), (256, 32))

sides = {name: program(name == "slow") for name in ("base", "slow")}
options = jax.profiler.ProfileOptions()
options.python_tracer_level, options.host_tracer_level = 0, 1
for step, w, x in sides.values():
    jax.block_until_ready(step(w, x))
for turn in range(3):
    for name, (step, w, x) in sides.items():
        with jax.profiler.trace(f"{name}{turn}", profiler_options=options):
            for number in range(5):
                with jax.profiler.StepTraceAnnotation("train", step_num=number):
                    jax.block_until_ready(step(w, x))
"""
FLAX_NET = """\
import jax
import flax.linen as nn

class Block(nn.Module):
    has_oops: bool
    @nn.compact
    def __call__(self, x):
        x = x + nn.Dense(32, name="down")(nn.relu(nn.Dense(64, name="up")(x)))
        if self.has_oops:
            wide = Oops(name="oops")
            x = x + wide(x)
        return x
class Oops(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(32)(nn.relu(nn.Dense(4096)(x)))  # line 16

class Net(nn.Module):
    has_oops: bool
    @nn.compact
    def __call__(self, x):
        for number in range(3):
            x = Block(self.has_oops, name=f"Block_{number}")(x)
        return x

def program(has_oops):
    net, x = Net(has_oops), jax.random.normal(jax.random.key(1), (256, 32))
    w = net.init(jax.random.key(0), x)
    def loss(w, x):
        return (net.apply(w, x) ** 2).mean()
    step = jax.jit(lambda w, x: jax.tree.map(lambda p, g: p - 0.01 * g, w, jax.grad(loss)(w, x)))
    return step, w, x
""" + JAX_NET[JAX_NET.index("\nsides = ") :]
TORCH_NET = """\
import os, torch
from torch import nn
torch.set_num_threads(1)

class Oops(nn.Module):
    def __init__(self):
        super().__init__()
        self.wide, self.more = nn.Linear(32, 4096, bias=False), nn.Linear(4096, 32, bias=False)
    def forward(self, x):
        return self.more(self.wide(x))  # line 10

class Block(nn.Module):
    def __init__(self, has_oops):
        super().__init__()
        self.mlp, self.oops = nn.Linear(32, 32), Oops() if has_oops else nn.Identity()
    def forward(self, x):
        return self.oops(x + torch.relu(self.mlp(x)))

class Net(nn.Module):
    def __init__(self, has_oops):
        super().__init__()
        self.blocks = nn.ModuleList(Block(has_oops) for _ in range(3))
    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x

sides, x = {name: Net(name == "slow") for name in ("base", "slow")}, torch.randn(256, 32)
for turn in range(3):
    for name, net in sides.items():
        net(x).sum().backward()
        with torch.profiler.profile(with_flops=True, record_shapes=True, with_stack=True) as found:
            for _ in range(5):
                net(x).sum().backward()
        os.mkdir(f"{name}{turn}")
        found.export_chrome_trace(f"{name}{turn}/trace.json")
"""
PEAKS = ("--peak", "compute=100GFLOP/s", "--peak", "dram=20GB/s")


@dataclass(frozen=True)
class Program:
    """A program in a framework: its text, the layer's name, how many blocks are told apart, the
    user's lines (PyTorch before 2.14 has the first one of the function) and the library's."""

    text: str
    name: str
    copies: int
    lines: tuple[int, ...]
    library: str


PROGRAMS = {
    "jax": Program(JAX_NET, "oops", 3, (12,), "site-packages/nnlib/__init__.py:5"),
    "flax": Program(FLAX_NET, "oops", 3, (16,), "flax/linen/linear.py"),
    "torch": Program(TORCH_NET, "Oops", 1, (9, 10), "torch/nn/modules/linear.py"),
}


@dataclass(frozen=True)
class Captured:
    """Three captures without the layer and three with it, taken in turns."""

    program: Program
    base: list[Path]
    slow: list[Path]

    @property
    def place(self) -> str:
        """What every report says of the layer: a pattern, up to the amount."""
        places = f" in each of {self.program.copies} Blocks" if self.program.copies > 1 else ""
        return rf"{self.program.name},? (?:is )?new{places}: \+"

    @property
    def where(self) -> str:
        """The pattern of the user's line, behind the amount."""
        return rf"[^(]*\(net\.py:{self.line}"

    @property
    def line(self) -> str:
        return f"(?:{'|'.join(map(str, self.program.lines))})"


@pytest.fixture(scope="module", params=PROGRAMS)
def captured(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Captured:
    """The captures of a framework, where it is installed."""
    python: str | None = sys.executable
    if request.param == "flax" and find_spec("flax") is None:
        pytest.skip("Flax is not installed")
    if request.param == "torch":
        python = os.environ.get("ROOFLINE_TORCH_PYTHON")
    if python is None:
        pytest.skip("ROOFLINE_TORCH_PYTHON names no Python that has PyTorch")
    folder = tmp_path_factory.mktemp("oops")
    package = folder / "site-packages" / "nnlib"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(LIBRARY)
    (folder / "net.py").write_text(PROGRAMS[request.param].text)
    environment = {**os.environ, "JAX_PLATFORMS": "cpu"}
    subprocess.run([python, "net.py"], cwd=folder, env=environment, check=True)
    suffix = "*.json" if request.param == "torch" else "*.xplane.pb"
    base, slow = (
        [next((folder / f"{name}{turn}").rglob(suffix)) for turn in range(3)]
        for name in ("base", "slow")
    )
    return Captured(PROGRAMS[request.param], base, slow)


def test_compare_names_the_layer_and_the_users_line(captured: Captured) -> None:
    given = [word for path in captured.base for word in ("--a", path)]
    given += [word for path in captured.slow for word in ("--b", path)]
    said = re.compile(captured.place + captured.where)
    lines = run("compare", *given, *PEAKS).stdout.decode().splitlines()
    assert said.search(lines[1]), lines[:3]
    markdown = run("compare", *given, *PEAKS, "-f", "markdown").stdout.decode()
    assert said.search(markdown)
    found = json.loads(run("compare", *given, *PEAKS, "-f", "json").stdout)
    first = found["places"][0]
    assert (first["name"], first["is_new"], first["copies"]) == (
        captured.program.name,
        True,
        captured.program.copies,
    )
    added_us = [one["change_us"] for one in found["places"] if one["kind"] != "wait"]
    # Idle time is the machine's.
    assert first["b_us"] > 0.5 * sum(max(us, 0.0) for us in added_us) > 0
    name, where = captured.program.name, rf"net\.py:{captured.line}"
    assert any(re.match(rf"{name} .*{where}, in \S+:\d+$", one) for one in lines)
    assert re.search(where + "$", first["source"])
    assert captured.program.library in first["library"]


def test_each_format_of_a_check_names_them(captured: Captured, tmp_path: Path) -> None:
    baseline, junit, sarif, summary = (
        tmp_path / name for name in ("base.json", "r.xml", "r.sarif", "summary.md")
    )
    run("baseline", "save", baseline, *captured.base, *PEAKS)
    files = ("--junit", junit, "--sarif", sarif, "--summary", summary, "--annotations")
    done = run("check", *captured.slow, "--against", baseline, *files, *PEAKS, code=1)
    text = done.stdout.decode()
    rules = ("exact.flops", "exact.hbm_bytes", "time.step")
    for form in (junit.read_text(), sarif.read_text(), summary.read_text(), text):
        said = re.findall(captured.place + captured.where, form)
        assert len(said) >= len(rules), form
    results = json.loads(sarif.read_text())["runs"][0]["results"]
    for rule in rules:
        first = next(one for one in results if one["ruleId"] == rule)
        place = first["locations"][0]["physicalLocation"]
        assert place["artifactLocation"]["uri"].endswith("net.py")
        assert place["region"]["startLine"] in captured.program.lines
        line = rf"::error file=\S*net\.py,line={captured.line},title=Roofline {rule}::"
        assert re.search(line, text)
    assert re.search(rf"Change of time: {captured.place}", text)
