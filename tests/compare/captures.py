"""Own captures of one JAX step and of changes of it (tests/tools/capture_jax_variants.py)."""

import io
import tarfile
from functools import cache
from pathlib import Path

import zstandard

from roofline.compare.from_analysis import run_of
from roofline.compare.run import Run
from roofline.devices.choice import read_choice
from roofline.pipeline import analyse_files

FOLDER = Path(__file__).resolve().parents[1] / "golden" / "compare"
PEAKS = ("compute=100GFLOP/s", "dram=20GB/s")


def capture_path(name: str) -> Path:
    return FOLDER / f"{name}.xplane.pb.zst"


@cache
def captured(name: str) -> Run:
    """The run of one capture, held against the peaks of a small CPU."""
    return read_run(capture_path(name))


def read_run(path: Path) -> Run:
    return run_of(analyse_files([path], choice=read_choice(None, PEAKS)), path.name)


def unpack_ten(folder: Path) -> list[Path]:
    """Ten captures of `layernorm`, one after the other on a shared machine."""
    packed = (FOLDER / "ten_captures.tar.zst").read_bytes()
    content = zstandard.ZstdDecompressor().stream_reader(packed).read()
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        archive.extractall(folder, filter="data")
    return sorted(folder.glob("*.xplane.pb"))
