"""Makes a case on which we and XProf differ as small as it gets, and prints what is left.

    python -m bench.shrink 'corner-220:table 0 total_time' ...

A case is a seed, `corner-<seed>` or the name of an edge case; the column that must keep differing
may follow, otherwise it is the one that differs most. Whatever can go without the difference going
too is taken out: hosts, planes, lines, events, stats.
"""

import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from bench.check_against_xprof import write_case
from bench.xprof_env import XprofWorker, xprof_python
from tests.tools import xspace_writer_pb2 as pb
from tests.tools.comparison import Comparison, compare
from tests.tools.xprof_json import our_tables

Spaces = list[pb.XSpace]  # one per host


def main() -> None:
    with XprofWorker(xprof_python()) as xprof:
        for argument in sys.argv[1:]:
            name, _, group = argument.partition(":")
            with tempfile.TemporaryDirectory() as folder:
                files, _ = write_case(name, Path(folder))
                spaces = [pb.XSpace.FromString(file.read_bytes()) for file in files]
            found = _differences(spaces, xprof)
            if not found.groups:
                print(f"{name}: no difference")
                continue
            wanted = group or found.groups.most_common(1)[0][0]
            small = shrink(spaces, partial(_differs, wanted, xprof))
            print(f"{name}: {wanted}")
            for space in small:
                _print_space(space)
            print(_differences(small, xprof).summary(2))


def _differs(group: str, xprof: XprofWorker, spaces: Spaces) -> bool:
    return group in _differences(spaces, xprof).groups


def shrink(spaces: Spaces, still_differs: Callable[[Spaces], bool]) -> Spaces:
    """The least of `spaces` for which `still_differs` holds, taking out one thing at a time."""
    changed = True
    while changed:
        changed = False
        # From the end, so that what was not tried yet keeps its place.
        for path in reversed(list(_removable(spaces))):
            smaller = _without(spaces, path)
            if still_differs(smaller):
                spaces, changed = smaller, True
    return spaces


def _removable(spaces: Spaces) -> Iterator[tuple[int | str, ...]]:
    """Paths to everything that can be taken out; what holds others after them."""
    for h, space in enumerate(spaces):
        if len(spaces) > 1:
            yield (h,)
        for p, plane in enumerate(space.planes):
            yield (h, "planes", p)
            for s in range(len(plane.stats)):
                yield (h, "planes", p, "stats", s)
            for key, metadata in plane.event_metadata.items():
                for s in range(len(metadata.stats)):
                    yield (h, "planes", p, "event_metadata", key, "stats", s)
            for n, line in enumerate(plane.lines):
                yield (h, "planes", p, "lines", n)
                for e, event in enumerate(line.events):
                    yield (h, "planes", p, "lines", n, "events", e)
                    for s in range(len(event.stats)):
                        yield (h, "planes", p, "lines", n, "events", e, "stats", s)


def _without(spaces: Spaces, path: tuple[int | str, ...]) -> Spaces:
    copies = []
    for space in spaces:
        copies.append(pb.XSpace())
        copies[-1].CopyFrom(space)
    holder: Any = copies
    for step in path[:-1]:
        holder = getattr(holder, step) if isinstance(step, str) else holder[step]
    del holder[path[-1]]
    return copies


def _differences(spaces: Spaces, xprof: XprofWorker) -> Comparison:
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for number, space in enumerate(spaces):
            files.append(Path(folder) / f"host_{number}.xplane.pb")
            files[-1].write_bytes(space.SerializeToString(deterministic=True))
        out = Path(folder) / "xprof.json"
        reply = xprof.ask(files, out)
        if "error" in reply or not reply["bytes"]:
            return Comparison()
        return compare(json.loads(out.read_bytes()), our_tables(files), ties=True)


def _print_space(space: Any) -> None:
    print("  host")
    for plane in space.planes:
        names = {key: value.name for key, value in plane.stat_metadata.items()}
        print(f"    plane {plane.name} {_stats(plane, names)}")
        for line in plane.lines:
            print(f"      line {line.name} at {line.timestamp_ns} ns")
            for event in line.events:
                kind = plane.event_metadata[event.metadata_id]
                print(
                    f"        {kind.display_name or kind.name} {event.offset_ps / 1e6:g} us for "
                    f"{event.duration_ps / 1e6:g} us, op {_stats(kind, names)}, "
                    f"event {_stats(event, names)}"
                )


def _stats(owner: Any, names: dict[int, str]) -> dict[str, Any]:
    return {
        names.get(stat.metadata_id, "?"): getattr(stat, stat.WhichOneof("value") or "uint64_value")
        for stat in owner.stats
    }


if __name__ == "__main__":
    main()
