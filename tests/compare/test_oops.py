"""A layer called `oops`, added to each block of a real program: every report names it and its line.

JAX captures the program on the CPU. Its blocks call `dense` of a library that is installed in
`site-packages`, so that the innermost frame of a product is not the user's.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.test_main import run

LIBRARY = "import jax.numpy as jnp\n\n\ndef dense(w, x):\n    return jnp.dot(x, w)\n"
NET = """\
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
                x = x + dense(w["more"], jax.nn.relu(dense(w["wide"], x)))  # line 12
        return x

def program(has_oops):
    shapes = {"up": (32, 64), "down": (64, 32), "wide": (32, 512), "more": (512, 32)}
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
            for number in range(3):
                with jax.profiler.StepTraceAnnotation("train", step_num=number):
                    jax.block_until_ready(step(w, x))
"""
PEAKS = ("--peak", "compute=100GFLOP/s", "--peak", "dram=20GB/s")
OOPS = re.compile(r"oops.* new in each of 3 Blocks: \+\S.*\(net\.py:12")


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Path], list[Path]]:
    """Three captures without the layer, three with it, taken in turns."""
    folder = tmp_path_factory.mktemp("oops")
    package = folder / "site-packages" / "nnlib"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(LIBRARY)
    (folder / "net.py").write_text(NET)
    environment = {**os.environ, "JAX_PLATFORMS": "cpu"}
    subprocess.run([sys.executable, "net.py"], cwd=folder, env=environment, check=True)
    base, slow = (
        [next((folder / f"{name}{turn}").rglob("*.xplane.pb")) for turn in range(3)]
        for name in ("base", "slow")
    )
    return base, slow


def test_compare_names_the_layer_and_the_users_line(sides: tuple[list[Path], list[Path]]) -> None:
    base, slow = sides
    given = [word for path in base for word in ("--a", path)]
    given += [word for path in slow for word in ("--b", path)]
    lines = run("compare", *given, *PEAKS).stdout.decode().splitlines()
    assert OOPS.search(lines[1]), lines[:3]
    assert any(re.match(r"oops .*net\.py:12, in nnlib/__init__\.py:5$", line) for line in lines)
    markdown = run("compare", *given, *PEAKS, "-f", "markdown").stdout.decode()
    assert OOPS.search(markdown)
    found = json.loads(run("compare", *given, *PEAKS, "-f", "json").stdout)
    first = found["places"][0]
    assert (first["name"], first["is_new"], first["copies"]) == ("oops", True, 3)
    assert first["source"].endswith("net.py:12")
    assert first["library"].endswith("site-packages/nnlib/__init__.py:5")
    assert first["b_us"] > 0.5 * found["change_us"] > 0


def test_each_format_of_a_check_names_them(
    sides: tuple[list[Path], list[Path]], tmp_path: Path
) -> None:
    base, slow = sides
    baseline, junit, sarif, summary = (
        tmp_path / name for name in ("base.json", "r.xml", "r.sarif", "summary.md")
    )
    run("baseline", "save", baseline, *base, *PEAKS)
    files = ("--junit", junit, "--sarif", sarif, "--summary", summary, "--annotations")
    text = run("check", *slow, "--against", baseline, *files, *PEAKS, code=1).stdout.decode()
    rules = ("exact.flops", "exact.hbm_bytes", "time.step")
    written = (junit.read_text(), sarif.read_text(), summary.read_text(), text)
    for form in written:
        named = re.compile(r"oops, new in each of 3 Blocks: \+[^(]*\(net\.py:12")
        assert len(named.findall(form)) >= len(rules)
    results = json.loads(sarif.read_text())["runs"][0]["results"]
    for rule in rules:
        first = next(one for one in results if one["ruleId"] == rule)
        place = first["locations"][0]["physicalLocation"]
        assert place["artifactLocation"]["uri"].endswith("net.py")
        assert place["region"]["startLine"] == 12
        assert re.search(rf"::error file=\S*net\.py,line=12,title=Roofline {rule}::", text)
    assert "Change of time: oops is new in each of 3 Blocks: +" in text
