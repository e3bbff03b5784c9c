"""`estimate`: what an op of known shape should cost on a part."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, TypeVar

from roofline.api.results import Result
from roofline.devices.choice import known_part
from roofline.devices.topology import NetworkChoice, Topology
from roofline.devices.topology import topology as joined
from roofline.errors import BadViewError
from roofline.estimate import on_device
from roofline.estimate.document import bound_sentence, estimate_document, estimate_text
from roofline.estimate.ops import Options

T = TypeVar("T", bound=NetworkChoice)


@dataclass(frozen=True, eq=False, repr=False)
class Estimate(Result):
    """The cost of an op on a part; docs/estimate.md. `found` is all of it, not a stable surface."""

    found: on_device.Estimate

    @property
    def sentence(self) -> str:
        """The op, its least time, and what binds it."""
        head, said = self.to_text().partition("\n")[0], bound_sentence(self.found)
        return f"{head}. {said}".strip()

    @property
    def flop(self) -> float:
        """FLOPs of the op."""
        return self.found.flop

    @property
    def t_min_us(self) -> float | None:
        """The least time, with everything at once, in us; `None` where a peak is not known."""
        return self.found.t_min_us

    @property
    def t_max_us(self) -> float | None:
        """The time with one resource after the other, in us."""
        return self.found.t_max_us

    @property
    def bound(self) -> str | None:
        """The resource of the longest clock."""
        return self.found.bound

    def to_dict(self) -> dict[str, Any]:
        """The document of `roofline estimate --format json`."""
        return estimate_document(self.found)

    def to_text(self) -> str:
        """What `roofline estimate` prints."""
        return estimate_text(self.found)

    def rows(self) -> list[dict[str, Any]]:
        """One row per resource: its time in us, and its peak with the source."""
        peaks = self.found.peaks
        return [
            {
                "resource": name,
                "time_us": time,
                "peak_per_s": peaks[name].value if name in peaks else None,
                "source": peaks[name].source if name in peaks else "",
            }
            for name, time in self.found.time_us.items()
        ]


def estimate(op: str, shape: str | Iterable[int], *, device: str, **options: Any) -> Estimate:
    """The cost of the op (`"matmul"`, `"attention"` …) of this shape on a part of the catalogue.

    `shape` is `"8192x4096x4096"` or the numbers. `options` are those of the command, as in
    `dtype="fp8"`. Raises `BadViewError` for what is not understood.
    """
    written = shape if isinstance(shape, str) else "x".join(map(str, shape))
    return Estimate(on_device.estimate(op, written, device, chosen(Options, options)))


def chosen(kind: type[T], given: Mapping[str, Any]) -> T:
    """The options that were given, with the default of each other one."""
    unknown = sorted(given.keys() - {one.name for one in fields(kind)})
    if unknown:
        raise BadViewError(
            f"There is no option {', '.join(unknown)}.", remedy="docs/python.md names the options."
        )
    return kind(**{name: value for name, value in given.items() if value is not None})


def topology(device: str, *, ranks: int | None = None, **options: Any) -> Topology:
    """What joins the chips of a part: its `time(kind, payload_bytes, ranks, stride=1)` is the least
    time of a collective, in all and by level.

    `ranks` are all chips of the program; `options` are those of the network, as in
    `gpus_per_node=72, network="50GB/s"`. Raises `BadViewError` for what cannot be.
    """
    return joined(known_part(device), chosen(NetworkChoice, options), ranks)
