"""A damaged file imports or raises a `RooflineError`; fields in another order change nothing."""

import gzip
import random
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roofline.analysis.analyse import analyse
from roofline.analysis.records import AnalysisOptions
from roofline.devices.resolve import resolve
from roofline.errors import RooflineError
from tests.profiles import imported
from tests.tools import rewire
from tests.tools.comparison import compare
from tests.tools.generate_xspace import Config, write_profile
from tests.tools.small_profiles import MICROSECOND_PS as US
from tests.tools.small_profiles import SmallOp, hbm, space_bytes, tpu_plane
from tests.tools.xprof_json import our_tables
from tests.tools.xspace_wire import varint

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = sorted((ROOT / "sample_profiles" / "xspace").rglob("*.pb"))
CUTS_PER_SAMPLE = 40
FLIPS = 150


def outcome(path: Path) -> RooflineError | None:
    """Read and analyse both ways; returns the error a user would see. Others are not caught."""
    shown = None
    for compat in (False, True):
        try:
            profile = imported(path, xprof_compat=compat)
            options = AnalysisOptions(xprof_compat=compat)
            analyse(profile, resolve(profile.device), options)
        except RooflineError as error:
            assert error.message
            assert error.remedy
            shown = error
    return shown


@pytest.fixture(scope="module")
def tiny() -> bytes:
    ops = [
        SmallOp(
            name=f"fusion.{k}", spans=[(k * US, US)], flops=1000, bytes_accessed=64, memory=hbm(64)
        )
        for k in range(3)
    ]
    return space_bytes([tpu_plane(ops, [(0, 2 * US), (2 * US, 2 * US)])])


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A small capture with every kind of event stat."""
    folder = tmp_path_factory.mktemp("generated")
    traits = ("rich_events", "host_steps", "async_line", "framework_ops", "sparse_core", "sources")
    config = Config(device="v4", n_devices=2, n_events=300, n_distinct_ops=30, traits=traits)
    return write_profile(config, folder)[0].read_bytes()


def test_tiny_profile_cut_at_every_byte(tiny: bytes, tmp_path: Path) -> None:
    path = tmp_path / "cut.xplane.pb"
    readable = 0
    for length in range(1, len(tiny)):
        path.write_bytes(tiny[:length])
        readable += outcome(path) is None
    # A cut between the planes and the host name at the end leaves a whole profile.
    assert readable < len(tiny) // 10


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_sample_cut_anywhere(sample: Path, tmp_path: Path) -> None:
    data = sample.read_bytes()
    path = tmp_path / "cut.xplane.pb"
    for k in range(CUTS_PER_SAMPLE):
        length = 1 + (len(data) - 2) * k // CUTS_PER_SAMPLE + k % 10
        path.write_bytes(data[:length])
        outcome(path)


def test_cut_in_the_middle_says_where(generated: bytes, tmp_path: Path) -> None:
    path = tmp_path / "half.xplane.pb"
    path.write_bytes(generated[: len(generated) // 2])
    error = outcome(path)
    assert error is not None
    assert "half.xplane.pb" in error.message
    assert any(character.isdigit() for character in error.message)


def test_flipped_bits(generated: bytes, tmp_path: Path) -> None:
    rng = random.Random(4)
    path = tmp_path / "flipped.xplane.pb"
    for _ in range(FLIPS):
        damaged = bytearray(generated)
        for _ in range(rng.choice([1, 1, 3])):
            damaged[rng.randrange(len(damaged))] ^= 1 << rng.randrange(8)
        path.write_bytes(damaged)
        outcome(path)


def test_flipped_bits_of_a_tiny_profile(tiny: bytes, tmp_path: Path) -> None:
    path = tmp_path / "flipped.xplane.pb"
    for place in range(0, len(tiny), 3):
        damaged = bytearray(tiny)
        damaged[place] ^= 1 << (place // 3) % 8
        path.write_bytes(damaged)
        outcome(path)


def test_overwritten_stretches(generated: bytes, tmp_path: Path) -> None:
    rng = random.Random(5)
    path = tmp_path / "overwritten.xplane.pb"
    for _ in range(100):
        damaged = bytearray(generated)
        place, length = rng.randrange(len(damaged)), rng.choice([1, 4, 64, 512])
        filler = rng.choice([b"\x00", b"\xff", b"\x80", rng.randbytes(1)])
        damaged[place : place + length] = filler * length
        path.write_bytes(damaged)
        outcome(path)


@given(data=st.binary(max_size=300))
def test_random_bytes(data: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.getbasetemp() / "random.xplane.pb"
    path.write_bytes(data)
    outcome(path)


@given(data=st.binary(max_size=200))
def test_random_bytes_inside_a_plane(data: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.getbasetemp() / "plane.xplane.pb"
    body = b"\x12\x0d/device:TPU:0" + data
    path.write_bytes(b"\x0a" + varint(len(body)) + body)
    outcome(path)


@pytest.mark.parametrize(
    "content",
    [b"", b"hello, this is text\n" * 50, gzip.compress(b"text"), b"{}", b"\x00" * 1000],
    ids=["empty", "text", "gzip of text", "json", "zeros"],
)
def test_other_files_are_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "other.xplane.pb"
    path.write_bytes(content)
    assert outcome(path) is not None


def test_zip_is_refused_by_the_importer(tiny: bytes, tmp_path: Path) -> None:
    path = tmp_path / "profile.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("host_0.xplane.pb", tiny)
    assert outcome(path) is not None  # archives are opened before importing, never by a format


REWRITTEN = {
    "metadata first": rewire.metadata_first,
    "shuffled": lambda data: rewire.shuffled(data, 1),
    "shuffled again": lambda data: rewire.shuffled(data, 2),
    "unknown fields": lambda data: rewire.with_unknown_fields(data, 3),
    "long varints": rewire.with_long_varints,
    "all": lambda data: rewire.with_long_varints(
        rewire.with_unknown_fields(rewire.shuffled(data, 4), 5)
    ),
}


@pytest.mark.parametrize("rewrite", REWRITTEN.values(), ids=REWRITTEN.keys())
def test_order_and_unknown_fields_do_not_matter(
    rewrite: Callable[[bytes], bytes], generated: bytes, tmp_path: Path
) -> None:
    plain, other = tmp_path / "plain.xplane.pb", tmp_path / "other.xplane.pb"
    plain.write_bytes(generated)
    other.write_bytes(rewrite(generated))
    assert other.read_bytes() != generated
    comparison = compare(our_tables([plain]), our_tables([other]))
    assert not comparison.mismatches, comparison.summary()
