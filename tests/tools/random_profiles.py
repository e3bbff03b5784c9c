"""Random profiles: realistic ones of any device and traits, and tiny ones full of corners."""

import random
from pathlib import Path

from tests.tools.generate_xspace import DEVICES, TRAITS, Config
from tests.tools.small_profiles import (
    CAPABILITIES,
    SmallOp,
    add_ops,
    add_steps,
    space_bytes,
    tpu_plane,
)
from tests.tools.xspace_wire import CMEM, HBM, READ, VMEM, WRITE, PlaneBuilder, Stat

# Each leaves little else to compare, so they are rare.
_RARE = {"host_only": 0.01, "no_caps": 0.04, "zero_steps": 0.06, "pregrouped": 0.08}
_SEVERAL_HOSTS_ONLY = {"ragged_hosts": 0.35, "coordinator": 0.15}


def random_config(seed: int) -> Config:
    """The configuration of this seed."""
    rng = random.Random(seed)
    n_hosts = rng.choice([1, 1, 1, 2, 3, 4])
    return Config(
        device=rng.choice(sorted(DEVICES)),
        n_devices=rng.choice([1, 1, 2, 3, 4]),
        n_hosts=n_hosts,
        n_steps=rng.choice([1, 2, 3, 4, 6, 9]),
        n_distinct_ops=rng.choice([12, 40, 120, 400, 1500]),
        n_events=rng.choice([60, 400, 2_000, 6_000]),
        n_programs=rng.choice([1, 1, 2, 3]),
        mix=rng.choice(["training", "inference"]),
        seed=seed,
        traits=_random_traits(rng, n_hosts),
        loop_share=rng.choice([0.0, 0.5, 0.8, 0.95]),
        mean_us=rng.choice([0.5, 20.0, 300.0]),
        compact=rng.random() < 0.5,
    )


def _random_traits(rng: random.Random, n_hosts: int) -> tuple[str, ...]:
    share = rng.choice([0.05, 0.2, 0.5])
    chosen = []
    for trait in sorted(TRAITS):
        likely = _RARE.get(trait, share)
        if trait in _SEVERAL_HOSTS_ONLY:
            likely = _SEVERAL_HOSTS_ONLY[trait] if n_hosts > 1 else 0.0
        if rng.random() < likely:
            chosen.append(trait)
    return tuple(chosen)


_US = 1_000_000
_CATEGORIES = [
    "loop fusion",
    "while",
    "call",
    "infeed",
    "outfeed fusion",
    "custom-call",
    "",
    "reduce",
]


def write_random_corner(seed: int, folder: Path) -> list[Path]:
    """A few ops on a coarse grid of times: ties, overlaps, nesting, odd stats; one or two hosts."""
    rng = random.Random(seed)
    hosts = rng.choice([1, 1, 1, 2, 3])
    shift = rng.choice([0, 1, 4])
    files = []
    for host in range(hosts):
        planes = [
            _random_plane(rng, seed, number, host * shift)
            for number in range(rng.choice([1, 1, 2, 3]))
        ]
        file = folder / f"host_{host}.xplane.pb"
        file.write_bytes(space_bytes(planes, hostname=f"host-{host}"))
        files.append(file)
    return files


def _random_plane(rng: random.Random, seed: int, number: int, shift: int) -> PlaneBuilder:
    sparse = rng.random() < 0.1
    ops = [_random_op(rng, seed, k, shift) for k in range(rng.choice([1, 3, 6, 12]))]
    begins = sorted(rng.sample(range(0, 30, 2), rng.choice([0, 1, 3, 5])))
    steps = [((begin + shift) * _US, rng.choice([0, 2, 2, 3, 5]) * _US) for begin in begins]
    peaks = {k: v for k, v in CAPABILITIES.items() if rng.random() < 0.9}
    plane = tpu_plane(
        [] if sparse else ops,
        [] if sparse else steps,
        name=f"/device:TPU:{number}" + (" SparseCore 0" if sparse else ""),
        plane_id=number + 100 * sparse,
        capabilities=peaks,
        timestamp_ns=rng.choice([0, 0, 1_000]),
    )
    if sparse:
        add_steps(plane, steps, name="Sparse Core Steps")
        add_ops(plane, ops, name="Sparse Core Ops")
    elif rng.random() < 0.3:
        modules = [(begin, length) for begin, length in steps if length]
        add_steps(plane, modules, name="XLA Modules")
    if rng.random() < 0.15:
        add_ops(plane, [_random_op(rng, seed, 50 + k, shift) for k in range(3)])
    if rng.random() < 0.3:
        plane.plane_stat("has_merged_vmem", 1, "i64")
    return plane


def _random_op(rng: random.Random, seed: int, number: int, shift: int) -> SmallOp:
    spans = [
        ((rng.randrange(24) + shift) * _US, rng.choice([0, 1, 1, 2, 3, 5, 9]) * _US)
        for _ in range(rng.choice([1, 1, 2, 4]))
    ]
    # An op costs the same on every core and host, and its name has one meaning: what contradicting
    # metadata shows, XProf leaves to the order of a hash.
    kind = random.Random(f"{seed}/{number}")
    flops = kind.choice([0, 0, 10**6, 10**9, 3 * 10**9])
    nbytes = kind.choice([0, 10**4, 10**6, 5 * 10**6])
    memory = [
        (
            kind.choice([0, READ, WRITE]),
            kind.choice([HBM, HBM, CMEM, VMEM, 7]),
            kind.randrange(10**7),
        )
        for _ in range(kind.choice([0, 1, 2, 4]))
    ]
    extra = [
        stat
        for stat, likely in (
            (("model_flops", kind.choice([0, 5, 10**8])), 0.2),
            (("tf_op", kind.choice(["jit(f)/mul:", "jit(f)/add:"])), 0.3),
            (("source", kind.choice(["a.py:3", "b.py", "c.py:x", "<d>.py:4"])), 0.3),
            (("source_stack", "x.py:1\ny'.py:2"), 0.1),
            (("_a", 1), 0.05),
        )
        if kind.random() < likely
    ]
    event: list[Stat] = []
    if rng.random() < 0.2:
        event += [("device_offset_ps", rng.randrange(40) * _US)]
        event += [("device_duration_ps", rng.randrange(5) * _US)] * (rng.random() < 0.8)
    if rng.random() < 0.2:
        event += [("Time Scale Multiplier", rng.choice([0.5, 0.93, 1.1]))]
    if rng.random() < 0.2:
        event += [("dma_stall_duration_ps", rng.randrange(10**6), "i64")]
    return SmallOp(
        name=f"op.{number}",
        spans=spans,
        category=kind.choice(_CATEGORIES),
        program=kind.choice([7, 7, 7, 8, None]),
        symbol=kind.choice([number + 1] * 5 + [0, -1]),
        flops=flops,
        bytes_accessed=nbytes,
        memory=kind.choice([None, memory]),
        extra=extra,
        event=event,
    )
