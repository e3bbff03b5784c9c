"""Captures one training step and changes of it: `python capture_jax_variants.py VARIANT OUT`.

Variants: `layernorm`; `rmsnorm`, the same with another norm. The capture `unfused` is `layernorm`
with `XLA_FLAGS=--xla_disable_hlo_passes=fusion`. Made with JAX 0.10.2 on the CPU, which this
project does not install; `tests/golden/compare/` has the files. To keep folders out of a capture,
run a copy of this file as `exec(compile(open("train.py").read(), "train.py", "exec"))`.
"""

import os
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

os.environ["JAX_PLATFORMS"] = "cpu"
VARIANT, OUT = sys.argv[1:3]

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402

WIDTH, HIDDEN, BATCH, LENGTH, BLOCKS, STEPS = 64, 128, 4, 32, 1, 6
Parameters = list[dict[str, Any]]


def norm(parameters: Mapping[str, Any], x: jax.Array) -> jax.Array:
    if VARIANT == "rmsnorm":
        with jax.named_scope("RMSNorm"):
            square = (x * x).mean(-1, keepdims=True)
            return jnp.asarray(x * jax.lax.rsqrt(square + 1e-6) * parameters["g"])
    with jax.named_scope("LayerNorm"):
        mean = x.mean(-1, keepdims=True)
        variance = ((x - mean) ** 2).mean(-1, keepdims=True)
        scaled = (x - mean) * jax.lax.rsqrt(variance + 1e-6)
        return jnp.asarray(scaled * parameters["g"] + parameters["b"])


def block(parameters: Mapping[str, Any], x: jax.Array, number: int) -> jax.Array:
    with jax.named_scope(f"Block_{number}"):
        h = norm(parameters["n1"], x)
        with jax.named_scope("Attention"):
            q, k, v = (h @ parameters[name] for name in ("q", "k", "v"))
            scores = jax.nn.softmax(q @ k.swapaxes(-1, -2) / 8.0, -1)
            x = x + (scores @ v) @ parameters["o"]
        h = norm(parameters["n2"], x)
        with jax.named_scope("Mlp"):
            h = h @ parameters["up"]
            h = jnp.tanh(h) * 0.5 + h * 0.5
            return x + h @ parameters["down"]


def initial(key: jax.Array) -> Parameters:
    keys = iter(jax.random.split(key, 8 * BLOCKS))

    def weights(*shape: int) -> jax.Array:
        return jax.random.normal(next(keys), shape) * 0.05

    def scale() -> dict[str, jax.Array]:
        return {"g": jnp.ones(WIDTH), "b": jnp.zeros(WIDTH)}

    square = ("q", "k", "v", "o")
    return [
        {
            "n1": scale(),
            "n2": scale(),
            **{name: weights(WIDTH, WIDTH) for name in square},
            "up": weights(WIDTH, HIDDEN),
            "down": weights(HIDDEN, WIDTH),
        }
        for _ in range(BLOCKS)
    ]


def loss(parameters: Parameters, x: jax.Array) -> jax.Array:
    for number, one in enumerate(parameters):
        x = block(one, x, number)
    return (x * x).mean()


def descend(parameters: Parameters, x: jax.Array) -> Parameters:
    gradients = jax.grad(loss)(parameters, x)
    updated: Parameters = jax.tree.map(lambda p, g: p - 0.01 * g, parameters, gradients)
    return updated


step = jax.jit(descend)
parameters = initial(jax.random.key(0))
batch = jax.random.normal(jax.random.key(1), (BATCH, LENGTH, WIDTH))
parameters = jax.block_until_ready(step(parameters, batch))
options = jax.profiler.ProfileOptions()
options.python_tracer_level, options.host_tracer_level = 0, 1
with tempfile.TemporaryDirectory() as folder:
    with jax.profiler.trace(folder, profiler_options=options):
        for number in range(STEPS):
            with jax.profiler.StepTraceAnnotation("train", step_num=number):
                parameters = jax.block_until_ready(step(parameters, batch))
    (capture,) = Path(folder).rglob("*.xplane.pb")
    shutil.copy(capture, OUT)
