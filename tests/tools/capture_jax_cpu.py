"""Makes `jax-cpu-transformer.xplane.pb` again: five training steps of a two-block transformer.

Needs JAX (0.10.2 made the sample), which this project does not install. The capture appears below
`profile_log/plugins/profile/<time>/`.
"""

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp

WIDTH, HIDDEN, HEADS, LENGTH, BATCH, BLOCKS, WORDS = 256, 1024, 8, 128, 8, 2, 1024

Parameters = dict[str, Any]  # arrays, and blocks of them


def initial_parameters(key: jax.Array) -> Parameters:
    keys = jax.random.split(key, 6 * BLOCKS + 2)
    parameters: Parameters = {"emb": jax.random.normal(keys[-1], (WORDS, WIDTH)) * 0.02}
    shapes = {"qkv": (WIDTH, 3 * WIDTH), "o": (WIDTH, WIDTH), "u": (WIDTH, HIDDEN)}
    shapes["d"] = (HIDDEN, WIDTH)
    for block in range(BLOCKS):
        parameters[f"b{block}"] = {
            name: jax.random.normal(keys[6 * block + k], shape) * 0.02
            for k, (name, shape) in enumerate(shapes.items())
        }
    return parameters


def normalise(x: jax.Array) -> jax.Array:
    return (x - x.mean(-1, keepdims=True)) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)


def split_heads(x: jax.Array) -> jax.Array:
    return x.reshape(BATCH, LENGTH, HEADS, WIDTH // HEADS).transpose(0, 2, 1, 3)


def block_output(parameters: Mapping[str, jax.Array], x: jax.Array) -> jax.Array:
    parts = jnp.split(normalise(x) @ parameters["qkv"], 3, -1)
    query, key, value = (split_heads(part) for part in parts)
    scores = query @ key.transpose(0, 1, 3, 2) / jnp.sqrt(WIDTH // HEADS)
    attended = (jax.nn.softmax(scores, -1) @ value).transpose(0, 2, 1, 3)
    x = x + attended.reshape(BATCH, LENGTH, WIDTH) @ parameters["o"]
    return x + jax.nn.gelu(normalise(x) @ parameters["u"]) @ parameters["d"]


def loss(parameters: Parameters, tokens: jax.Array) -> jax.Array:
    x = parameters["emb"][tokens]
    for block in range(BLOCKS):
        x = block_output(parameters[f"b{block}"], x)
    return -jax.nn.log_softmax(x @ parameters["emb"].T)[..., 0].mean()


def train_step(parameters: Parameters, tokens: jax.Array) -> tuple[Parameters, jax.Array]:
    value, gradient = jax.value_and_grad(loss)(parameters, tokens)
    return jax.tree.map(lambda p, g: p - 1e-3 * g, parameters, gradient), value


def main() -> None:
    parameters = initial_parameters(jax.random.key(0))
    tokens = jax.random.randint(jax.random.key(1), (BATCH, LENGTH), 0, WORDS)
    compiled_step = jax.jit(train_step)
    parameters, value = compiled_step(parameters, tokens)
    jax.block_until_ready(value)
    with jax.profiler.trace("profile_log"):
        for step in range(5):
            with jax.profiler.StepTraceAnnotation("train", step_num=step):
                parameters, value = compiled_step(parameters, tokens)
                value.block_until_ready()


if __name__ == "__main__":
    main()
