"""Small GPU captures in memory: kernels on streams, their launches on the host, their programs."""

from collections.abc import Iterable, Mapping, Sequence

from tests.tools.small_profiles import space_bytes
from tests.tools.xspace_wire import PlaneBuilder, Stat, Value

HOPPER: Mapping[str, int | str] = {
    "device_vendor": "Nvidia",
    "clock_rate": 1_000_000,  # kHz
    "core_count": 100,
    "memory_bandwidth": 10**12,
    "compute_cap_major": 9,
    "compute_cap_minor": 0,
}

# name, begin and duration in picoseconds, stats
Event = tuple[str, int, int, Sequence[Stat]]


def gpu_plane(
    streams: Iterable[Sequence[Event]],
    *,
    number: int = 0,
    capabilities: Mapping[str, Value] | None = None,
) -> PlaneBuilder:
    """One GPU with a line per stream."""
    plane = PlaneBuilder(f"/device:GPU:{number}", number)
    for name, value in (HOPPER if capabilities is None else capabilities).items():
        plane.plane_stat(name, value)
    for at, kernels in enumerate(streams):
        line = plane.line(13 + at, f"Stream #{13 + at}(Compute)", 0)
        for name, begin, duration, stats in kernels:
            plane.event(line, plane.event_meta(name, name), begin, duration, stats)
    return plane


def host_plane(events: Iterable[Event], name: str = "/host:CPU") -> PlaneBuilder:
    """One host thread."""
    plane = PlaneBuilder(name, 500)
    line = plane.line(1, "python", 0)
    for event, begin, duration, stats in events:
        plane.event(line, plane.event_meta(event, event), begin, duration, stats)
    return plane


def metadata_plane(programs: dict[int, bytes]) -> PlaneBuilder:
    """Compiled programs by id, each a serialized HloProto."""
    plane = PlaneBuilder("/host:metadata", 600)
    for number, program in programs.items():
        meta = plane.plane.event_metadata[number]
        meta.id, meta.name = number, f"program({number})"
        plane.stat(meta, "Hlo Proto", program)
    return plane


def one_kernel_per_instruction(program: bytes, names: Iterable[str]) -> bytes:
    """A capture of program 7 in which each of these instructions ran for a nanosecond."""
    kernels: list[Event] = [
        (name, 1000 * at, 1000, [("hlo_op", name), ("program_id", 7)])
        for at, name in enumerate(names)
    ]
    return space_bytes([gpu_plane([kernels]), metadata_plane({7: program})])
