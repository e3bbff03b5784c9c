"""Random configurations for the generator: any device, any mix of traits, one to four hosts."""

import random

from tests.tools.generate_xspace import DEVICES, TRAITS, Config

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
