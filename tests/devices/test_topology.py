"""What joins a group, and what a collective takes: by hand, and by counting the load of links."""

from itertools import product
from math import prod

import pytest

from roofline.devices.catalogue import part as part_of
from roofline.devices.topology import (
    NetworkChoice,
    Topology,
    even_axes,
    rate_of,
    topology,
)
from roofline.errors import BadViewError
from tests.narrowing import known

PAYLOAD = 134_217_728.0


def of(part: str, ranks: int, **choice: object) -> Topology:
    return topology(known(part_of(part)), NetworkChoice(**choice), ranks)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("stride", "ranks", "inside"),
    [(1, 8, 8), (8, 64, 1), (2, 32, 4), (1, 16, 8), (4, 8, 2), (1, 12, 6)],
)
def test_a_group_fills_what_its_inner_groups_leave_of_a_node(
    stride: int, ranks: int, inside: int
) -> None:
    place = of("h100-sxm", ranks * stride).place(ranks, (stride,))
    assert (place.inside, place.nodes) == (inside, ranks // inside)


def test_data_parallelism_beside_eight_ways_takes_the_network_alone() -> None:
    """2 · 63/64 · 134 MB over 50 GB/s; a contiguous group has eight cards for the same bytes."""
    apart = of("h100-sxm", 512).time("all-reduce", PAYLOAD, 64, stride=8)
    together = of("h100-sxm", 64).time("all-reduce", PAYLOAD, 64)
    assert apart.network_us == pytest.approx(2 * 63 / 64 * PAYLOAD / 50e9 * 1e6)
    assert apart.link_us == 0
    assert together.network_us == pytest.approx(2 * 7 / 8 * PAYLOAD / 8 / 50e9 * 1e6)


def test_a_mesh_has_a_link_for_each_pair() -> None:
    two = of("mi300x", 2).time("all-reduce", PAYLOAD, 2)
    eight = of("mi300x", 8).time("all-reduce", PAYLOAD, 8)
    assert two.link_us == pytest.approx(PAYLOAD / 64e9 * 1e6)
    assert eight.link_us == pytest.approx(2 * 7 / 8 * PAYLOAD / 448e9 * 1e6)


def test_reduction_in_the_switch_is_a_choice() -> None:
    plain = of("h100-sxm", 8)
    added = of("h100-sxm", 8, in_switch=True)
    times = [known(one.time("all-reduce", PAYLOAD, 8).link_us) for one in (plain, added)]
    assert times[0] / times[1] == pytest.approx(2 * 7 / 9)
    assert any("1.56 times" in note for note in plain.notes("all-reduce", plain.place(8)))
    assert not added.notes("all-reduce", added.place(8))


@pytest.mark.parametrize(
    ("ranks", "count", "sizes"),
    [
        (8, 2, (2, 4)),
        (16, 2, (4, 4)),
        (32, 2, (4, 8)),
        (16, 3, (2, 2, 4)),
        (32, 3, (2, 4, 4)),
        (256, 3, (4, 8, 8)),
        (12, 3, (2, 2, 3)),
    ],
)
def test_a_slice_is_the_most_even_one(ranks: int, count: int, sizes: tuple[int, ...]) -> None:
    assert even_axes(ranks, count) == sizes


@pytest.mark.parametrize(
    ("part", "axes", "rings"),
    [
        ("tpu-v5e", "4x16", (False, True)),
        ("tpu-v5e", "4x4", (False, False)),
        ("tpu-v3", "16x32", (False, True)),
        ("tpu-v4", "4x4x8", (True, True, True)),
        ("tpu-v5p", "2x2x4", (False, False, False)),
        ("tpu-v5p", "4", (True,)),
    ],
)
def test_axes_close_where_the_slice_is_large_enough(
    part: str, axes: str, rings: tuple[bool, ...]
) -> None:
    ranks = prod(map(int, axes.split("x")))
    assert tuple(one.is_ring for one in of(part, ranks, axes=axes).axes) == rings


def busiest(sizes: tuple[int, ...], rings: tuple[bool, ...]) -> float:
    """The bytes over the busiest link, where each chip sends one byte in all, evenly to all."""
    chips = list(product(*map(range, sizes)))
    loads: dict[tuple[object, ...], float] = {}
    for source, target in product(chips, chips):
        at = list(source)
        for axis, size in enumerate(sizes):
            ahead = (target[axis] - at[axis]) % size
            ways = [(1, ahead)]
            if rings[axis]:
                ways = [(1, ahead)] if 2 * ahead <= size else [(-1, size - ahead)]
                if 2 * ahead == size:
                    ways = [(1, ahead), (-1, ahead)]
            elif target[axis] < at[axis]:
                ways = [(-1, at[axis] - target[axis])]
            for way, steps in ways:
                here = list(at)
                for _ in range(steps):
                    link = (tuple(here), axis, way)
                    loads[link] = loads.get(link, 0.0) + 1 / len(chips) / len(ways)
                    here[axis] = (here[axis] + way) % size
            at[axis] = target[axis]
    return max(loads.values())


@pytest.mark.parametrize(
    ("part", "axes", "wrap"),
    [
        ("tpu-v5e", "16", "auto"),
        ("tpu-v5e", "4x4", "auto"),
        ("tpu-v5e", "2x4", "none"),
        ("tpu-v5e", "5", "all"),
        ("tpu-v5e", "7", "none"),
        ("tpu-v5p", "4x4x4", "auto"),
        ("tpu-v5p", "2x3x5", "all"),
    ],
)
def test_an_exchange_takes_what_its_busiest_link_takes(part: str, axes: str, wrap: str) -> None:
    sizes = tuple(map(int, axes.split("x")))
    found = of(part, prod(sizes), axes=axes, wrap=wrap)
    rings = tuple(one.is_ring for one in found.axes)
    time = found.time("all-to-all", PAYLOAD, prod(sizes)).link_us
    expected = busiest(sizes, rings) * PAYLOAD / known(found.pair) * 1e6
    assert time == pytest.approx(expected)


def test_groups_take_whole_axes_then_parts() -> None:
    found = of("tpu-v5e", 64, axes="4x16")
    inner, outer = found.place(4), found.place(16, (4,))
    assert [one.size for one in inner.axes] == [4]
    assert [(one.size, one.is_ring) for one in outer.axes] == [(16, True)]
    part = found.place(8)
    assert [(one.size, one.is_ring) for one in part.axes] == [(4, False), (2, False)]


@pytest.mark.parametrize(
    ("part", "ranks", "choice", "words"),
    [
        ("tpu-v5e", 8, {"axes": "4x4"}, "16 chips are not 8 ranks."),
        ("h100-sxm", 8, {"axes": "2x4"}, "is not part of a torus."),
        ("tpu-v5e", 8, {"gpus_per_node": 4}, "TPU v5e has no nodes: give --axes."),
        ("h100-sxm", 8, {"per_node": 3}, "8 ranks do not fill nodes of 3."),
        ("h100-sxm", 8, {"network": "0GB/s"}, "is not the rate of a network."),
        ("h100-sxm", 8, {"network": "fast"}, "is not the rate of a network."),
        ("h100-sxm", 8, {"nodes": 0}, "--nodes is below 1."),
        ("tpu-v5e", 8, {"axes": "4y2"}, "are not axes of a torus."),
        ("h100-sxm", 8, {"nodes": 2, "gpus_per_node": 8}, "say the same in two ways."),
    ],
)
def test_what_cannot_be_is_refused(
    part: str, ranks: int, choice: dict[str, object], words: str
) -> None:
    with pytest.raises(BadViewError, match=words):
        of(part, ranks, **choice)


def test_rates_are_per_chip_in_bytes_or_bits() -> None:
    assert rate_of("50GB/s") == rate_of("400Gbit/s") == rate_of("400 gbit/s") == 50e9


def test_what_is_assumed_is_said_where_a_group_leaves_its_domain() -> None:
    h100 = of("h100-sxm", 64)
    assert not h100.notes("all-gather", h100.place(8))
    assumed = h100.notes("all-gather", h100.place(64))
    assert assumed[0].startswith("Assumed: 8 GPUs per node, 50 GB/s each")
    given = of("h100-sxm", 64, gpus_per_node=4, network="25GB/s")
    assert given.notes("all-gather", given.place(64)) == ("Given: 4 GPUs per node, 25 GB/s each.",)
    half = of("h100-sxm", 64, gpus_per_node=4)
    assert half.notes("all-gather", half.place(64))[0].startswith(
        "Nodes given, network assumed: 4 GPUs per node, 50 GB/s each ("
    )
    unknown = of("trainium3", 64)
    assert "no public figure; give --gpus-per-node" in unknown.notes("send", unknown.place(64))[0]
    v5e = of("tpu-v5e", 16)
    assert v5e.notes("all-gather", v5e.place(16)) == (
        "Assumed: a slice of 4x4, no axis closed to a ring.",
    )
