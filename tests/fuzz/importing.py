"""One input through everything that a stranger's file goes through."""

import resource
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from app.analysis.export import analysis_to_json, ops_to_csv
from app.errors import RooflineError
from app.importers.archives import UnpackLimits
from app.importers.source import SourceFile
from app.pipeline import analyse_sources, open_sources
from app.presentation.page import PageIdentity, build_page
from tests.fuzz.mutation import Mutator
from tests.tools.generate_xspace import Config, write_profile
from tests.tools.gpu_captures import gpu_plane, host_plane
from tests.tools.random_profiles import write_random_corner
from tests.tools.small_profiles import space_bytes

ROOT = Path(__file__).resolve().parents[2]
CORPUS = Path(__file__).parent / "corpus"
SAMPLES = ROOT / "sample_profiles"
SECONDS = 5.0  # of a processor
MEMORY_BYTES = 2 << 30
LIMITS = UnpackLimits(max_bytes=64 << 20, max_files=100, max_ratio=300)
CORNERS = 12
# Pages and exports are the same code for whatever was read: every so many inputs are enough.
DRAWN_EVERY = 8


class Hang(BaseException):
    """An input took longer than it may. Not an `Exception`: nothing on the way may catch it."""


def mutator() -> Mutator:
    """Inputs made from small profiles of every kind, and from the bundled samples."""
    with tempfile.TemporaryDirectory() as folder:
        seeds = [path.read_bytes() for path in _written(Path(folder))]
    us = 1_000_000
    launch = [("cuLaunchKernel", at * us, us, [("correlation_id", at)]) for at in range(1, 6)]
    stats = [("hlo_op", "fusion.1"), ("hlo_module", "m"), ("program_id", 7)]
    kernels = [
        ("gemm", at * 10 * us, 5 * us, [*stats, ("correlation_id", at)]) for at in range(1, 6)
    ]
    seeds.append(space_bytes([gpu_plane([kernels, kernels[:2]]), host_plane(launch)]))
    large = [path.read_bytes() for path in sorted(SAMPLES.rglob("*.pb"))]
    return Mutator(seeds, large)


def _written(folder: Path) -> Iterator[Path]:
    for number in range(CORNERS):
        (folder / str(number)).mkdir()
        yield from write_random_corner(number, folder / str(number))
    for device in ("v4", "v5e", "v6e"):
        config = Config(device=device, n_events=60, n_steps=2, n_distinct_ops=10)
        (folder / device).mkdir()
        yield from write_profile(config, folder / device)


def read(data: bytes, folder: Path, *, is_drawn: bool) -> str:
    """Imports `data`: `read`, or the code of a `RooflineError`; any other exception is a finding.

    Raises `Hang` after `SECONDS`.
    """
    path = folder / "input"
    path.write_bytes(data)
    try:
        with _hurried():
            _import(path, folder / "unpacked", is_drawn=is_drawn)
    except RooflineError as error:
        assert error.message
        assert error.remedy
        assert len(error.message) < 2_000, "a message repeats the file"
        return error.code
    return "read"


def limit_memory() -> None:
    """Puts this process under the limit that a file may not exceed."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    held = pages * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (held + MEMORY_BYTES, resource.RLIM_INFINITY))


def _import(path: Path, scratch: Path, *, is_drawn: bool) -> None:
    sources, notes = open_sources(
        [SourceFile(path, "input.pb")], scratch=scratch, limits=LIMITS, progress=_quietly
    )
    analysis = analyse_sources(sources, notes=notes, progress=_quietly)
    if is_drawn:
        identity = PageIdentity(
            id="x", created_at="2026-01-01T00:00:00Z", file_sizes={"input.pb": 1}
        )
        build_page(analysis, identity)
        analysis_to_json(analysis, include_infeed_outfeed=True)
        ops_to_csv(analysis, include_infeed_outfeed=True)


def _quietly(_phase: str, _fraction: float) -> None:
    """Nobody watches."""


@contextmanager
def _hurried() -> Iterator[None]:
    def late(_signal: int, _frame: FrameType | None) -> None:
        raise Hang

    # Processor time: on a busy machine everything takes longer, and is no hang.
    before = signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
