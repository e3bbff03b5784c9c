"""What joins a group of devices, and what a collective takes at least: docs/estimate.md.

A part has links to the chips of its domain (a node, a rack, a torus) and a share of a network that
joins domains. All rates are per chip and one way, in B/s. Links and network are different clocks:
chunks of a collective pass both at once, so it takes the longer of the two, and its latency.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from roofline.devices.parts import Figure, LinkShape, Part
from roofline.errors import BadViewError
from roofline.model.device import DeviceKind
from roofline.model.plain_data import alike
from roofline.model.units import GIGA, TERA, US_PER_S

ALL_REDUCE, ALL_GATHER, REDUCE_SCATTER = "all-reduce", "all-gather", "reduce-scatter"
ALL_TO_ALL, SEND = "all-to-all", "permute"
_RINGS = (ALL_REDUCE, ALL_GATHER, REDUCE_SCATTER, ALL_TO_ALL)
_MOST_RANKS = 1 << 20
SCALE_UP, NETWORK = "scale-up", "network"
LATENCIES, WRAPS = ("hops", "library", "none"), ("auto", "all", "none")
ALGORITHMS = ("two-level", "ring")

# The constants by which NCCL chooses an algorithm (low-latency protocol), in µs: a step inside a
# node, a step of a ring and of a tree over the network, and the start; docs/estimate.md.
_HOP_US, _NETWORK_HOP_US, _TREE_HOP_US = 0.6, 2.7, 5.0
_START_US, _TREE_START_US, _IN_SWITCH_US = 6.6, 6.8, 23.0
_MEASURED_IN_SWITCH, _MEASURED_RANKS = "; measured 1.29 times on 8 H200", 8
_TORUS_HOP_US = 1.0
_OF_NCCL = "NVIDIA NCCL, tuning.cc (https://github.com/NVIDIA/nccl/tree/b6475625), vendor code"
_OF_A_TORUS = (
    "How to Scale Your Model, chapter on sharding "
    "(https://jax-ml.github.io/scaling-book/sharding), guide: 1 µs for a hop"
)
_RATE = re.compile(r"(?P<value>\d+(?:\.\d+)?)\s*(?P<unit>[GT]B|[GT]bit)/s", re.IGNORECASE)
_UNITS = {"gb": GIGA, "tb": TERA, "gbit": GIGA / 8, "tbit": TERA / 8}


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkChoice:
    """What a user says of the network; `None` is the part's own, which is then assumed.

    `network` is a rate such as "50GB/s" or "400Gbit/s", `axes` the sizes of a slice such as "4x4",
    or how many axes the ranks are spread over. `wrap` closes axes to rings: by the size of the
    slice (auto), all or none. `latency` is of hops, of a library, or none; `alpha_us` replaces it
    by so many µs for each step of a ring. `per_node` ranks of a group share a node.
    """

    nodes: int | None = None
    gpus_per_node: int | None = None
    per_node: int | None = None
    network: str | None = None
    axes: int | str | None = None
    wrap: str = "auto"
    latency: str = "hops"
    alpha_us: float | None = None
    algorithm: str = "two-level"
    in_switch: bool = False

    @property
    def choice(self) -> "NetworkChoice":
        """These fields alone, of options that have others beside them."""
        return alike(NetworkChoice, self)


class Axis(NamedTuple):
    """One axis of a torus: a ring where it is closed, else a line."""

    size: int
    is_ring: bool


class Place(NamedTuple):
    """Where a group lies: `inside` of its `ranks` share a domain, or they lie along `axes`."""

    ranks: int
    inside: int
    axes: tuple[Axis, ...] = ()

    @property
    def nodes(self) -> int:
        """Domains that the group reaches."""
        return self.ranks // self.inside


class Level(NamedTuple):
    """The part of a collective inside a domain, over the network, or along one axis of a torus."""

    name: str
    ranks: int
    us: float | None
    bytes: float | None = None
    rate: float | None = None
    wrap: bool | None = None


class CollectiveTime(NamedTuple):
    """A collective in µs; `None` where a rate is not known. `time_us` is the least time."""

    link_us: float | None = 0.0
    network_us: float | None = 0.0
    latency_us: float = 0.0
    levels: tuple[Level, ...] = ()

    @property
    def time_us(self) -> float | None:
        """The longer of links and network, and the latency."""
        if self.link_us is None or self.network_us is None:
            return None
        return max(self.link_us, self.network_us) + self.latency_us

    @property
    def serial_us(self) -> float | None:
        """One level after the other, and the latency."""
        if self.link_us is None or self.network_us is None:
            return None
        return self.link_us + self.network_us + self.latency_us


class Topology(NamedTuple):
    """What joins the chips of a part. `domain` is 0 where the links reach every rank.

    `scale_up` are all links of a chip, `pair` the link between two chips or along one axis,
    `network` the share of one chip; `None` where it is not known. `axes` are those of the slice.
    A profile shows `devices` of each chip.
    """

    part: Part
    shape: LinkShape
    choice: NetworkChoice
    domain: int
    scale_up: float | None
    pair: float | None
    network: float | None
    axes: tuple[Axis, ...] = ()
    devices: int = 1

    @property
    def is_torus(self) -> bool:
        """Whether the links form a torus."""
        return self.shape.kind == "torus"

    @property
    def scale_up_figure(self) -> Figure | None:
        """The published figure of all links of a chip; of PCIe where it has none."""
        return self.part.figure(self.shape.scale_up)

    @property
    def latency_source(self) -> str:
        """Where the latency is from."""
        if self.choice.alpha_us is not None:
            return "given, for each step of a ring"
        return _OF_A_TORUS if self.is_torus else _OF_NCCL

    def time(self, kind: str, payload: float, ranks: int, stride: int = 1) -> CollectiveTime:
        """The least time of a collective of `payload` bytes (of the full tensor, or of one rank's
        buffer where it sends) over `ranks` that lie `stride` ranks apart."""
        inner = (stride,) if stride > 1 else ()
        return self.of_place(kind, payload, self.place(ranks, inner))

    def on_the_wire(self, kind: str, ranks: int) -> tuple[float, float] | None:
        """The rate of a rank's bytes on the wire in GB/s, and the latency in µs, of a measured
        collective; `None` for a kind or a group of which no time is known. Devices of a chip are
        in one group, and exchange what they have on the chip at no cost."""
        chips, rest = divmod(ranks, self.devices)
        sizes = math.prod(one.size for one in self.axes)
        if rest or kind not in _RINGS or not 1 < chips <= _MOST_RANKS:
            return None
        if self.axes and sizes % chips:
            return None
        payload = GIGA * (self.devices if kind == ALL_TO_ALL else 1)
        found = self.of_place(kind, payload, self.place(chips))
        if found.time_us is None or found.time_us <= found.latency_us:
            return None
        passing_us = found.time_us - found.latency_us
        return ring_bytes(kind, US_PER_S, ranks) / passing_us, found.latency_us

    def place(self, ranks: int, inner: Sequence[int] = ()) -> Place:
        """Where a group of `ranks` lies outside of the groups `inner`."""
        stride = math.prod(inner)
        if self.is_torus:
            return self._on_torus(ranks, inner)
        most = self.choice.per_node or (self.domain // stride if self.domain else ranks)
        return Place(ranks, _most_in(ranks, most))

    def _on_torus(self, ranks: int, inner: Sequence[int]) -> Place:
        """A group that is larger than its slice has a part in each of several, over the network."""
        stride = math.prod(inner)
        most = math.prod(one.size for one in self.axes) if self.axes else self.shape.pod
        inside = _most_in(ranks, most // stride) if most else ranks
        free = self.axes or self._slice(inside * stride)
        for size in inner:
            free = _taken(free, size)[1]
        return Place(ranks, inside, _taken(free, inside)[0])

    def _slice(self, ranks: int) -> tuple[Axis, ...]:
        return _closed(even_axes(ranks, self.shape.axes), self.shape, self.choice.wrap)

    def of_place(
        self, kind: str, payload: float, place: Place, latency: str | None = None
    ) -> CollectiveTime:
        """The same where the place is known; `latency` in place of the chosen one."""
        if place.ranks <= 1:
            return CollectiveTime()
        delay = self._latency(kind, place, latency or self.choice.latency)
        inside, outside = self._shares(kind, place)
        if place.axes:
            near = self._along_axes(kind, payload, place)
        else:
            near = self._inside(inside * payload, kind, place)
        return self._together(near, outside * payload, place, delay)

    def exchange(self, payload: float, chosen: int, place: Place) -> CollectiveTime:
        """An exchange of experts that sends a token once to each other node that has one of its
        `chosen` experts, and forwards it inside; `payload` are the bytes of all tokens, once."""
        n, m, nodes = place.ranks, place.inside, place.nodes
        outside = (nodes - 1) * (1 - (1 - 1 / nodes) ** chosen)
        inside = (n - 1) * (1 - (1 - 1 / n) ** chosen) * ((m - 1) / m if nodes > 1 else 1.0)
        delay = self._latency(ALL_TO_ALL, place, self.choice.latency)
        near = self._inside(inside * payload, ALL_TO_ALL, place)
        return self._together(near, outside * payload, place, delay)

    def _inside(self, size: float, kind: str, place: Place) -> tuple[Level, ...]:
        rate = self.rate_inside(kind, place.inside)
        return (_level(SCALE_UP, place.inside, size, rate),)

    def _together(
        self, near: tuple[Level, ...], outside: float, place: Place, delay: float
    ) -> CollectiveTime:
        """All levels at once: those near end with the longest of them."""
        far = _level(NETWORK, place.nodes, outside, self.network)
        known = [one.us for one in near if one.us is not None]
        return CollectiveTime(
            link_us=max(known) if len(known) == len(near) else None,
            network_us=far.us,
            latency_us=delay,
            levels=tuple(one for one in (*near, far) if one.ranks > 1),
        )

    def rate_inside(self, kind: str, ranks: int) -> float | None:
        """The rate of a chip's links to the other `ranks` of its domain: of a mesh those of the
        pairs, of a send over a mesh that of one pair."""
        if self.shape.kind != "mesh" or self.pair is None or self.scale_up is None:
            return self.scale_up
        return self.pair if kind == SEND else min(self.scale_up, max(ranks - 1, 1) * self.pair)

    def _shares(self, kind: str, place: Place) -> tuple[float, float]:
        """Bytes per rank over the payload: inside a domain, and over the network."""
        n, m, nodes = place.ranks, place.inside, place.nodes
        if kind == SEND:
            return (1.0, 0.0) if nodes == 1 else (0.0, 1.0)
        if kind == ALL_TO_ALL:
            return (m - 1) / n, (n - m) / n
        twice = 2.0 if kind == ALL_REDUCE else 1.0
        if self.choice.algorithm == "ring":
            around = twice * (n - 1) / n
            return (around if m > 1 else 0.0), (around / m if nodes > 1 else 0.0)
        inside, outside = twice * (m - 1) / m, twice * (nodes - 1) / nodes / m
        if self.choice.in_switch and kind == ALL_REDUCE and self.can_reduce(m):
            inside = (m + 1) / m
        return inside, outside

    def can_reduce(self, ranks: int) -> bool:
        """Whether the switch can add what `ranks` of its chips send."""
        return self.shape.has_in_switch_reduction and ranks > 2

    def _along_axes(self, kind: str, payload: float, place: Place) -> tuple[Level, ...]:
        """Each axis by itself: of an exchange its own time; of a ring they share the payload."""
        width, is_near = self.pair, place.nodes == 1
        together = sum(2 if one.is_ring else 1 for one in place.axes)

        def share(axis: Axis) -> float:
            if kind == ALL_TO_ALL:
                return _exchange_share(axis) * place.inside / place.ranks
            return float(is_near) if kind == SEND else _ring_share(kind, place.inside) / together

        return tuple(
            _level(f"axis {at}", axis.size, share(axis) * payload, width)._replace(
                wrap=axis.is_ring
            )
            for at, axis in enumerate(place.axes, 1)
        )

    def _latency(self, kind: str, place: Place, latency: str) -> float:
        n, m, nodes = place.ranks, place.inside, place.nodes
        if self.choice.alpha_us is not None:
            return self.choice.alpha_us * ring_steps(kind, n)
        if latency == "none":
            return 0.0
        far = _NETWORK_HOP_US * (nodes > 1)
        if self.is_torus:
            hops = sum(one.size // 2 if one.is_ring else one.size - 1 for one in place.axes)
            if kind == SEND:
                return far or _TORUS_HOP_US
            return _passes(kind) * (_TORUS_HOP_US * hops + far)
        if latency == "library":
            return self._of_library(kind, place)
        if kind in (SEND, ALL_TO_ALL):
            return far or _HOP_US
        return _passes(kind) * (_HOP_US * (m > 1) + far)

    def _of_library(self, kind: str, place: Place) -> float:
        n, m, nodes = place.ranks, place.inside, place.nodes
        if kind in (SEND, ALL_TO_ALL):
            return _START_US + (_NETWORK_HOP_US if nodes > 1 else _HOP_US)
        if kind != ALL_REDUCE:
            return _START_US + (n - nodes) * _HOP_US + (nodes - 1) * _NETWORK_HOP_US
        if nodes > 1:
            tree = math.floor(math.log2(nodes)) * _TREE_HOP_US
            return _TREE_START_US + 2 * ((m - 1) * _HOP_US + tree)
        ring = _START_US + 2 * (m - 1) * _HOP_US
        return min(ring, _IN_SWITCH_US) if self.can_reduce(m) else ring

    # ------------------------------------------------------------------------------------ words

    def notes(self, kind: str, place: Place) -> tuple[str, ...]:
        """Sentences on figures that were assumed or are not known, and on a faster way."""
        if place.ranks <= 1:
            return ()
        found = []
        if place.nodes > 1:
            found.append(self._network_note())
        elif not self.domain and not self.is_torus and self.scale_up:
            found.append(
                f"Assumed: links join all ranks, for how many chips of {self.part.name} they join "
                "has no public figure; give --gpus-per-node."
            )
        if place.axes:
            found.append(self._slice_note(place))
        if kind == ALL_REDUCE and self.can_reduce(place.inside) and not self.choice.in_switch:
            times = 2 * (place.inside - 1) / (place.inside + 1)
            found.append(
                f"Reduction in the switch (NVLink SHARP) can be up to {times:.2f} times as fast"
                f"{_MEASURED_IN_SWITCH if place.inside == _MEASURED_RANKS else ''}."
            )
        return tuple(note for note in found if note)

    @property
    def in_short(self) -> str:
        """Domain and network in a few words: "8 GPUs per node, 50 GB/s each"."""
        if self.is_torus:
            found = f"a slice of {_written(self.axes)}" if self.axes else "the most even slice"
            return f"{found}, {self.devices} devices on each chip" if self.devices > 1 else found
        reach = f"{self.domain} GPUs per node" if self.domain else "links to every rank"
        rate = f"{self.network / GIGA:,.4g} GB/s each" if self.network else "network not known"
        return f"{reach}, {rate}"

    @property
    def in_words(self) -> str:
        """The same, and whether it was given or assumed."""
        return f"{self.in_short} ({self._standing.casefold()})"

    @property
    def _standing(self) -> str:
        """Which of domain and network, or of the slice, a user gave."""
        choice = self.choice
        if self.is_torus:
            return "Assumed" if choice.axes is None else "Given"
        size = choice.gpus_per_node or choice.nodes or choice.per_node
        if bool(size) is bool(choice.network):
            return "Given" if size else "Assumed"
        return "Nodes given, network assumed" if size else "Nodes assumed, network given"

    def _network_note(self) -> str:
        if self.network is None:
            return f"{self.part.name}: no network is known; give --network."
        if self.is_torus:
            return f"Slices of {self.part.name} are joined by {self.network / GIGA:,.4g} GB/s each."
        figure = self.part.figure("network_oneway")
        says = figure.note if figure and figure.note and not self.choice.network else ""
        return f"{self._standing}: {self.in_short}{f' ({says})' if says else ''}."

    def _slice_note(self, place: Place) -> str:
        if self.choice.axes is not None and self.choice.wrap != "auto":
            return ""
        word = "Given" if self.choice.axes is not None else "Assumed"
        slice_axes = self.axes or place.axes
        if all(one.is_ring for one in slice_axes):
            closed = "every axis closed to a ring"
        elif any(one.is_ring for one in slice_axes):
            closed = f"{_written([one for one in slice_axes if one.is_ring])} closed to a ring"
        else:
            closed = "no axis closed to a ring"
        whole = (
            " (an axis of whole cubes)" if self.shape.whole_cubes and len(slice_axes) < 3 else ""
        )
        return f"{word}: a slice of {_written(slice_axes)}{whole}, {closed}."


def topology(part: Part, choice: NetworkChoice | None = None, ranks: int | None = None) -> Topology:
    """The topology of `part`, for a program of `ranks`; `BadViewError` says what cannot be."""
    chosen = choice or NetworkChoice()
    shape = part.topology or LinkShape(kind="switch", note="")
    _check(part, shape, chosen, ranks)
    is_torus = shape.kind == "torus"
    domain = 0 if is_torus else chosen.gpus_per_node or shape.domain or 0
    if chosen.nodes and ranks:
        domain = math.ceil(ranks / chosen.nodes)
    found = Topology(
        part=part,
        shape=shape,
        choice=chosen,
        domain=domain,
        scale_up=part.value(shape.scale_up),
        pair=part.value("link_oneway"),
        network=rate_of(chosen.network) if chosen.network else part.value("network_oneway"),
    )
    if not is_torus or ranks is None or (shape.pod and ranks > shape.pod):
        return found
    sizes = _sizes(chosen, ranks, shape)
    return found._replace(axes=_closed(sizes, shape, chosen.wrap))


def chips_together(part: Part, choice: NetworkChoice, replica: int, replicas: int) -> int:
    """The chips of a program that a slice of a torus joins: all that the pod has room for, in whole
    replicas of `replica` chips, or those of the given axes; elsewhere all."""
    shape = part.topology
    pod = shape.pod if shape else None
    if not pod or replica * replicas <= pod:
        return replica * replicas
    axes = str(choice.axes or "")
    most = math.prod(_numbers(axes)) if "x" in axes else pod
    return replica * _most_in(replicas, most // replica)


def of_measured(
    part: Part, choice: NetworkChoice, link: float | None, devices: int = 1
) -> Topology:
    """The topology of a profile that shows `devices` of each chip, and whose number of ranks is not
    known; `link` in B/s is what the user set for the links of a chip, or of a torus for one link.
    """
    sizes = None if choice.axes is None else math.prod(_numbers(choice.axes))
    found = topology(part, choice, sizes)._replace(devices=devices)
    if link is None:
        return found
    if found.is_torus:
        return found._replace(pair=link)
    times = link / found.scale_up if found.scale_up else 0.0
    return found._replace(scale_up=link, pair=found.pair and found.pair * times)


def rate_of(text: str) -> float:
    """B/s of "50GB/s" or "400Gbit/s"; `BadViewError` for another text."""
    found = _RATE.fullmatch(text.strip())
    rate = float(found["value"]) * _UNITS[found["unit"].casefold()] if found else 0.0
    if not 0 < rate < math.inf:
        raise BadViewError(
            f'"{text[:40]}" is not the rate of a network.',
            remedy='Write "50GB/s" or "400Gbit/s", per chip and one way.',
        )
    return rate


def _most_in(ranks: int, most: int) -> int:
    """The largest divisor of `ranks` that is at most `most`, at least 1."""
    return max(one for one in range(1, max(min(most, ranks), 1) + 1) if ranks % one == 0)


def even_axes(ranks: int, count: int) -> tuple[int, ...]:
    """The most even sizes of `count` axes: the least largest one, then the others alike."""
    if count <= 1:
        return (ranks,)
    best: tuple[int, ...] = ()
    for largest in range(1, ranks + 1):
        if ranks % largest or largest**count < ranks:
            continue
        rest = even_axes(ranks // largest, count - 1)
        if rest[-1] <= largest:
            best = (*rest, largest)
            break
    return best


def ring_steps(kind: str, ranks: int) -> int:
    """Steps of a ring; an all-reduce goes round twice, a permutation is one step."""
    return 1 if kind == SEND else _passes(kind) * (ranks - 1)


def ring_bytes(kind: str, payload: float, ranks: int) -> float:
    """Bytes that one rank of a ring sends."""
    return payload if kind == SEND else _ring_share(kind, ranks) * payload


def _passes(kind: str) -> int:
    return 2 if kind == ALL_REDUCE else 1


def _ring_share(kind: str, ranks: int) -> float:
    return _passes(kind) * (ranks - 1) / ranks


def _exchange_share(axis: Axis) -> float:
    """Of an all-to-all: the load of the busiest link of this axis over one rank's buffer."""
    a = axis.size
    if not axis.is_ring:
        return (a // 2) * math.ceil(a / 2) / a
    return a / 8 if a % 2 == 0 else (a * a - 1) / (8 * a)


def _level(name: str, ranks: int, size: float, rate: float | None) -> Level:
    if not size:
        return Level(name=name, ranks=ranks, bytes=0.0, rate=rate, us=0.0)
    us = size / rate * US_PER_S if rate else None
    return Level(name=name, ranks=ranks, bytes=size, rate=rate, us=us)


def _taken(free: Sequence[Axis], ranks: int) -> tuple[tuple[Axis, ...], tuple[Axis, ...]]:
    """The axes of a group of `ranks`, and those that stay: whole axes first, else parts of axes."""
    whole = _whole(free, ranks)
    if whole is not None:
        rest = tuple(one for at, one in enumerate(free) if at not in whole)
        return tuple(free[at] for at in whole if free[at].size > 1), rest
    mine, rest_axes, left = [], [], ranks
    for axis in free:
        part = math.gcd(left, axis.size)
        left //= part
        if part > 1:
            mine.append(axis if part == axis.size else Axis(part, False))
        if part < axis.size:
            rest_axes.append(Axis(axis.size // part, axis.is_ring and part == 1))
    return tuple(mine), tuple(rest_axes)


def _whole(free: Sequence[Axis], ranks: int) -> tuple[int, ...] | None:
    """Places of whole axes whose product is `ranks`, as many as can be."""
    found = [
        tuple(at for at in range(len(free)) if chosen >> at & 1) for chosen in range(1 << len(free))
    ]
    fits = [one for one in found if math.prod(free[at].size for at in one) == ranks]
    return max(fits, key=len) if fits else None


def _closed(sizes: Sequence[int], shape: LinkShape, wrap: str) -> tuple[Axis, ...]:
    """The axes of a slice; an axis of two is a line, for both ways are the same link."""
    real = [size for size in sizes if size > 1]
    multiple = shape.wrap_multiple

    def is_ring(size: int) -> bool:
        if wrap != "auto" or size <= 2 or not multiple:
            return wrap == "all" and size > 2
        whole = real if shape.whole_cubes else [size]
        return all(one % multiple == 0 for one in whole)

    return tuple(Axis(size, is_ring(size)) for size in real)


def _sizes(choice: NetworkChoice, ranks: int, shape: LinkShape) -> tuple[int, ...]:
    axes = choice.axes
    if axes is None:
        return even_axes(ranks, shape.axes)
    sizes = _numbers(axes)
    if len(sizes) == 1 and sizes[0] != ranks and 1 <= sizes[0] <= 3:
        return even_axes(ranks, sizes[0])
    if math.prod(sizes) != ranks:
        raise BadViewError(
            f"{math.prod(sizes)} chips are not {ranks} ranks.",
            remedy="The product of --axes is the number of ranks.",
        )
    return sizes


def _numbers(axes: int | str) -> tuple[int, ...]:
    pieces = str(axes).strip().casefold().split("x")
    if not all(one.isascii() and one.isdigit() and int(one[:9]) > 0 for one in pieces):
        raise BadViewError(
            f'"{str(axes)[:40]}" are not axes of a torus.', remedy='Write their sizes: "4x4x4".'
        )
    return tuple(int(one[:9]) for one in pieces)


def _written(axes: Sequence[Axis]) -> str:
    return "x".join(str(one.size) for one in axes)


def _check(part: Part, shape: LinkShape, choice: NetworkChoice, ranks: int | None) -> None:
    is_torus = shape.kind == "torus" or part.kind is DeviceKind.TPU
    if choice.axes is not None and not is_torus:
        raise BadViewError(
            f"{part.name} is not part of a torus.", remedy="Leave --axes out: all links count."
        )
    if is_torus and (choice.gpus_per_node or choice.nodes or choice.per_node):
        raise BadViewError(
            f"{part.name} has no nodes: give --axes.",
            remedy="Leave --nodes, --gpus-per-node and --per-node out.",
        )
    if choice.nodes and choice.gpus_per_node:
        raise BadViewError(
            "--nodes and --gpus-per-node say the same in two ways.", remedy="Give one of them."
        )
    if choice.per_node and ranks and ranks % choice.per_node:
        raise BadViewError(
            f"{ranks} ranks do not fill nodes of {choice.per_node}.",
            remedy="--per-node divides --ranks.",
        )
    for name, words in (("latency", LATENCIES), ("wrap", WRAPS), ("algorithm", ALGORITHMS)):
        if getattr(choice, name) not in words:
            raise BadViewError(
                f'"{getattr(choice, name)}" is not a value of {name}.',
                remedy=f"Choose one of: {', '.join(words)}.",
            )
    for name in ("nodes", "gpus_per_node", "per_node"):
        value = getattr(choice, name)
        if value is not None and value < 1:
            raise BadViewError(f"--{name.replace('_', '-')} is below 1.", remedy="Give 1 or more.")


def check_slice(found: Topology, ranks: int) -> None:
    """`BadViewError` where `ranks` do not fit one slice."""
    pod = found.shape.pod
    if pod and ranks > pod:
        raise BadViewError(
            f"A slice of {found.part.name} has at most {pod:,} chips; more need several slices.",
            remedy="Choose fewer --ranks.",
        )
