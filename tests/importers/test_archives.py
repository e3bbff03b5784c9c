"""Archives are opened within limits; whatever is wrong with one is said, with a remedy."""

import gzip
import io
import random
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import pytest
import zstandard

from roofline.errors import RooflineError, UploadRejectedError, UploadTooLargeError
from roofline.importers.intake import archives
from roofline.importers.intake.archives import Unpacked, UnpackLimits, unpack
from roofline.importers.source import SourceFile

CONTENT = b"\n\x10profile bytes" * 100


def zipped(members: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def tarred(members: dict[str, bytes], mode: Literal["w", "w:gz"] = "w") -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


class Bench:
    """Unpacks bytes below a temporary folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.scratch = root / "unpacked-0"
        self._opened = 0

    def open(
        self, content: bytes, name: str = "upload.bin", limits: UnpackLimits | None = None
    ) -> tuple[Unpacked, ...]:
        path = self.root / "packed"
        path.write_bytes(content)
        self._opened += 1
        self.scratch = self.root / f"unpacked-{self._opened}"
        return unpack([SourceFile(path, name)], into=self.scratch, limits=limits or UnpackLimits())

    def names(self, content: bytes, name: str = "upload.bin") -> list[str]:
        return [file.source.name for file in self.open(content, name)]

    def refused(
        self, content: bytes, name: str = "upload.bin", limits: UnpackLimits | None = None
    ) -> RooflineError:
        with pytest.raises(UploadRejectedError) as caught:
            self.open(content, name, limits)
        assert caught.value.remedy
        return caught.value


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def content_of(file: Unpacked) -> bytes:
    return file.source.path.read_bytes()


def test_plain_file_passes_untouched(bench: Bench) -> None:
    (file,) = bench.open(CONTENT, "host.xplane.pb")
    assert file.archive is None
    assert file.source.path == bench.root / "packed"
    assert not bench.scratch.exists()


def test_gzip_is_told_by_content_and_loses_its_suffix(bench: Bench) -> None:
    (file,) = bench.open(gzip.compress(CONTENT), "host.xplane.pb.gz")
    assert (file.source.name, content_of(file), file.archive) == ("host.xplane.pb", CONTENT, None)


def test_gzip_members_are_joined(bench: Bench) -> None:
    (file,) = bench.open(gzip.compress(CONTENT) + gzip.compress(b"more"))
    assert content_of(file) == CONTENT + b"more"


@pytest.mark.parametrize(
    "pack",
    [
        pytest.param(zipped, id="zip"),
        pytest.param(tarred, id="tar"),
        pytest.param(lambda members: tarred(members, "w:gz"), id="tar.gz"),
    ],
)
def test_archive_gives_its_files_in_order(bench: Bench, pack: Callable[..., bytes]) -> None:
    packed = pack({"run/host_0.pb": CONTENT, "run/host_1.pb.gz": gzip.compress(b"second")})
    first, second = bench.open(packed, "run.archive")
    assert (first.source.name, content_of(first)) == ("host_0.pb", CONTENT)
    assert (second.source.name, content_of(second)) == ("host_1.pb", b"second")
    assert {first.archive, second.archive} == {"run.archive"}
    # The packed copy of a member is gone: only what is imported takes space.
    assert len(list(bench.scratch.iterdir())) == 2


def test_names_that_leave_the_folder_are_only_names(bench: Bench) -> None:
    hostile = {
        "../../../tmp/escape": b"1",
        "/abs/olute": b"2",
        "..\\..\\windows": b"3",
        "bell\x07\x1b[2J": b"4",
        "x" * 400: b"5",
    }
    names = bench.names(tarred(hostile))
    assert names == ["escape", "olute", "windows", "bell[2J", "x" * 255]
    assert {path.parent for path in bench.root.rglob("0*")} == {bench.scratch}


def test_links_folders_and_clutter_are_skipped(bench: Bench) -> None:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, kind in [("d", tarfile.DIRTYPE), ("s", tarfile.SYMTYPE), ("h", tarfile.LNKTYPE)]:
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, "/etc/passwd"
            archive.addfile(info)
        for name in ("__MACOSX/._host.pb", ".DS_Store", "host.pb"):
            info = tarfile.TarInfo(name)
            info.size = 1
            archive.addfile(info, io.BytesIO(b"1"))
    assert bench.names(buffer.getvalue()) == ["host.pb"]


def test_symbolic_link_in_a_zip_is_skipped(bench: Bench) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        link = zipfile.ZipInfo("link")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
        archive.writestr("host.pb", CONTENT)
    assert bench.names(buffer.getvalue()) == ["host.pb"]


@pytest.mark.parametrize(
    "inner", [zipped({"a": CONTENT}), tarred({"a": CONTENT}), tarred({"a": CONTENT}, "w:gz")]
)
def test_archive_in_an_archive_is_refused(bench: Bench, inner: bytes) -> None:
    error = bench.refused(zipped({"inner.zip": inner}), "outer.zip")
    assert "outer.zip holds another archive" in error.message


def test_zip_in_gzip_and_gzip_in_gzip_are_refused(bench: Bench) -> None:
    assert "another archive" in bench.refused(gzip.compress(zipped({"a": b"1"}))).message
    assert "another archive" in bench.refused(gzip.compress(gzip.compress(b"1"))).message


def test_empty_archives_are_refused(bench: Bench) -> None:
    assert "holds no files" in bench.refused(zipped({})).message
    only_clutter = tarred({"__MACOSX/._a": b"1"})
    assert "holds no files" in bench.refused(only_clutter).message


@pytest.mark.parametrize(("magic", "label"), [(b"\xfd7zXZ\x00", "xz"), (b"BZh9", "bzip2")])
def test_other_packings_are_named(bench: Bench, magic: bytes, label: str) -> None:
    error = bench.refused(magic + bytes(100), "host.pb.x")
    assert label in error.message
    assert ".gz" in error.remedy


@pytest.mark.parametrize(
    "packed",
    [
        pytest.param(gzip.compress(CONTENT), id="gz"),
        pytest.param(zstandard.ZstdCompressor().compress(CONTENT), id="zst"),
        pytest.param(zipped({"a": CONTENT, "b": CONTENT}), id="zip"),
        pytest.param(tarred({"a": CONTENT, "b": CONTENT}), id="tar"),
        pytest.param(tarred({"a": CONTENT, "b": CONTENT}, "w:gz"), id="tar.gz"),
    ],
)
def test_archive_cut_anywhere_is_refused_or_whole(bench: Bench, packed: bytes) -> None:
    for cut in range(max(300, len(packed) // 20), len(packed), max(1, len(packed) // 20)):
        try:
            files = bench.open(packed[:cut], "cut")
        except UploadRejectedError as error:
            assert error.remedy
        else:
            # Only the zeros behind the end of a tar may be missing.
            assert [content_of(file) for file in files] in ([CONTENT] * 2, [packed[:cut]])


def test_damaged_member_is_refused(bench: Bench) -> None:
    packed = bytearray(zipped({"a": CONTENT}, compression=zipfile.ZIP_STORED))
    packed[200] ^= 0xFF
    assert "damaged" in bench.refused(bytes(packed), "a.zip").message


def test_password_is_named(bench: Bench) -> None:
    packed = bytearray(zipped({"a": CONTENT}))
    packed[6] |= 1
    packed[packed.index(b"PK\x01\x02") + 8] |= 1
    assert "password" in bench.refused(bytes(packed)).message


def test_unusual_zip_compression_is_named(bench: Bench) -> None:
    error = bench.refused(zipped({"a": CONTENT}, compression=zipfile.ZIP_LZMA), "a.zip")
    assert "compression" in error.message


@pytest.mark.parametrize("pack", [zipped, tarred, lambda m: gzip.compress(m["a"])])
def test_bytes_past_the_limit_stop_early(bench: Bench, pack: Callable[..., bytes]) -> None:
    limits = UnpackLimits(max_bytes=3 << 20)
    with pytest.raises(UploadTooLargeError) as caught:
        bench.open(pack({"a": bytes(50 << 20)}), limits=limits)
    assert "unpacks to more than" in caught.value.message
    written = sum(path.stat().st_size for path in bench.scratch.glob("*"))
    assert written <= limits.max_bytes


def test_ratio_past_the_limit_stops_early(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "RATIO_FLOOR_BYTES", 1 << 20)
    with pytest.raises(UploadTooLargeError, match="300-fold"):
        bench.open(gzip.compress(bytes(40 << 20)))
    assert sum(path.stat().st_size for path in bench.scratch.glob("*")) < 20 << 20


def test_bomb_stops_by_the_ratio_of_what_was_read(bench: Bench) -> None:
    """10 GiB of zeros in 10 MB: before the ratio of the whole tells, 3 GiB would be written."""
    piece = gzip.compress(bytes(64 << 20))
    packed = piece * 160
    assert 3e9 < 300 * len(packed) < 10 << 30
    with pytest.raises(UploadTooLargeError, match="300-fold"):
        bench.open(packed)
    assert sum(path.stat().st_size for path in bench.scratch.glob("*")) < 600 << 20


def test_member_that_claims_to_be_a_bomb_is_not_unpacked(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archives, "RATIO_FLOOR_BYTES", 1 << 20)
    monkeypatch.setattr(archives, "EARLY_FLOOR_BYTES", 1 << 20)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("honest", random.Random(1).randbytes(2 << 20))
        archive.writestr("bomb", bytes(40 << 20))
    with pytest.raises(UploadTooLargeError, match="300-fold"):
        bench.open(packed.getvalue())
    assert not list(bench.scratch.glob("*"))


@pytest.mark.parametrize("pack", [zipped, tarred])
def test_too_many_members_are_refused(bench: Bench, pack: Callable[..., bytes]) -> None:
    packed = pack({f"f{number}": b"" for number in range(30)})
    error = bench.refused(packed, limits=UnpackLimits(max_files=20))
    assert "more than 20 files" in error.message


def test_large_zip_directory_is_refused_before_it_is_read(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    packed = zipped({f"f{number}": b"" for number in range(30)})
    monkeypatch.setattr(zipfile, "ZipFile", None)  # would fail if it were opened
    bench.refused(packed, limits=UnpackLimits(max_files=20))


def test_overlapping_members_are_refused_by_their_sum(bench: Bench) -> None:
    packed = bytearray(zipped({f"f{number}": b"1" for number in range(10)}))
    at = -1
    while (at := packed.find(b"PK\x01\x02", at + 1)) >= 0:
        packed[at + 24 : at + 28] = (2**31).to_bytes(4, "little")
    with pytest.raises(UploadTooLargeError):
        bench.open(bytes(packed), limits=UnpackLimits(max_bytes=2**32))


def test_progress_goes_up_and_stays_below_one(bench: Bench) -> None:
    path = bench.root / "packed"
    path.write_bytes(gzip.compress(bytes(20 << 20)))
    seen: list[float] = []
    unpack(
        [SourceFile(path)],
        into=bench.scratch,
        limits=UnpackLimits(max_ratio=2000),
        progress=seen.append,
    )
    assert seen == sorted(seen)
    assert 0 <= seen[0] <= seen[-1] < 1
