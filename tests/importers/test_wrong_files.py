"""Files that are not profiles: the error names their format, and what to upload instead."""

import gzip
import io
import json
import pickle
import struct
import tarfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest
import zstandard

from roofline.errors import CorruptProfileError, MixedUploadError, UnknownFormatError
from roofline.importers.intake.archives import UnpackLimits
from roofline.importers.registry import IMPORTERS, identify
from roofline.importers.shared.protobuf_walk import is_perfetto
from roofline.importers.source import SourceFile, is_reencoded
from roofline.pipeline import analyse_files, open_sources
from tests.tools import damage
from tests.tools.xspace_wire import varint

SAMPLES = Path(__file__).resolve().parents[2] / "sample_profiles"


def field(number: int, value: bytes | int) -> bytes:
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def packet(*fields: bytes) -> bytes:
    return field(1, b"".join(fields))


CLOCKS = packet(field(6, field(1, field(1, 6) + field(2, 10**12))), field(10, 1))
# Allocations and space: two pairs of numbers, then samples; as JAX writes its memory profile.
PPROF = bytes.fromhex("0a04080110020a0408031004122012140102030405060708090a")
PERFETTO = CLOCKS + b"".join(
    packet(field(8, 10**12 + k), field(11, field(11, 77)), field(10, 1)) for k in range(50)
)
EVENTS = (
    struct.pack("<QI", 24, 0xDEADBEEF)
    + b"\x09\x00\x00\x40\xc5\x8d\x5c\xd9\x41\x1a\x0dbrain.Event:2"
    + bytes(4)
)
CORE = b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x04\x00\x3e\x00" + bytes(40)
LIBRARY = b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x03\x00\x3e\x00" + bytes(40)
# As `torch.cuda.memory._dump_snapshot` pickles what the allocator knows.
_ALLOCATOR = {
    "segments": [{"device": 0, "address": 1 << 40, "total_size": 2 << 20, "blocks": []}],
    "device_traces": [[]],
}
SNAPSHOT, OLD_SNAPSHOT = (pickle.dumps(_ALLOCATOR, protocol) for protocol in (4, 2))
PICKLE = b"\x80\x04\x95\x10\x00\x00\x00\x00\x00\x00\x00}\x94."
TORCH = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02M\xe9\x03."
SAFE = json.dumps({"w": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}).encode()
SAFETENSORS = struct.pack("<Q", len(SAFE)) + SAFE + bytes(4)
SQLITE = b"SQLite format 3\x00" + bytes(80)
TRACE = {"displayTimeUnit": "ns", "traceEvents": [{"ph": "X", "name": "f", "ts": 1, "dur": 2}]}
VIEWER = {"traceEvents": [{"ph": "M", "args": {"name": "XLA Ops"}}, {"ph": "X", "ts": 1}]}
GVIZ = {"cols": [{"id": "input_category"}], "rows": []}
KERNEL_STATS = {"cols": [{"id": "rank"}, {"id": "kernel_name"}], "rows": []}

FILES = {
    "jpeg": (b"\xff\xd8\xff\xe0\x00\x10JFIF" + bytes(50), "a JPEG picture", "has no numbers"),
    "png": (b"\x89PNG\r\n\x1a\n" + bytes(50), "a PNG picture", "has no numbers"),
    "gif": (b"GIF89a" + bytes(20), "a GIF picture", "numbers"),
    "webp": (b"RIFF\x10\x00\x00\x00WEBPVP8 ", "a WebP picture", "numbers"),
    "svg": (b'<?xml version="1.0"?><svg width="1"/>', "an SVG picture", "numbers"),
    "pdf": (b"%PDF-1.7\n%\xe2\xe3\n", "a PDF document", "numbers"),
    "html": (b"\n<!DOCTYPE html><title>x</title>", "an HTML page", "Download the file itself"),
    "login": (b"<html><body><form action=login>", "an HTML page", "A login page"),
    "old office": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(9), "Microsoft Office", "CSV"),
    "core dump": (CORE, "a core dump", "profiler wrote"),
    "library": (LIBRARY, "a program or library", "profiler wrote"),
    "pprof": (PPROF, "a pprof profile", "jax.profiler.trace"),
    "perfetto": (PERFETTO, "a Perfetto trace", "torch.profiler"),
    "events": (EVENTS, "a TensorBoard event file", "xplane.pb"),
    "nsys": (b"NVIDIA Tegra Profiler Report 2025@1.\n\x0b", "of Nsight Systems", "nsys export"),
    "nsys 26": (b"NVIDIA Tegra Profiler Report 2026@1@", "Nsight Systems 2026.1", "nsys export"),
    "sqlite": (SQLITE, "an SQLite database", "CSV"),
    "pickle": (PICKLE, "a Python pickle", "profile a run of the program"),
    "snapshot": (SNAPSHOT, "a memory snapshot of PyTorch", "allocations of memory"),
    "old snapshot": (OLD_SNAPSHOT, "a memory snapshot of PyTorch", "export_chrome_trace"),
    "torch": (TORCH, "a PyTorch checkpoint", "weights"),
    "safetensors": (SAFETENSORS, "a safetensors checkpoint", "weights"),
    "numpy": (b"\x93NUMPY\x01\x00v\x00{'descr'", "a NumPy array", "template csv"),
    "hdf5": (b"\x89HDF\r\n\x1a\n" + bytes(9), "an HDF5 file", "weights"),
    "parquet": (b"PAR1\x15\x04", "a Parquet file", "CSV"),
    "perf": (b"PERFILE2" + bytes(20), "a recording of Linux perf", "Formats read"),
    "op_profile": (b'{"byProgram": {"name": "a"}, "deviceType": "TPU"}', "op_profile", "hlo_stats"),
    "execution trace": (
        b'{"schema": "1.0.1", "pid": 7, "start_ts": 1, "nodes": [{"name": "aten::mm", "id": 2}]}',
        "an execution trace of PyTorch",
        "export_chrome_trace",
    ),
    "memory": (b'{"moduleName": "m", "heapSizes": [1]}', "memory_viewer", "roofline_model"),
    "trace": (json.dumps(TRACE).encode(), "a Chrome trace", "export_chrome_trace"),
    "viewer": (json.dumps(VIEWER).encode(), "trace_viewer", "hlo_stats"),
    "gviz": (json.dumps([GVIZ]).encode(), "a table of another tool of XProf", "hlo_stats"),
    "kernels": (json.dumps(KERNEL_STATS).encode(), "kernel_stats", "hlo_stats"),
    "notebook": (b'{"cells": [], "nbformat": 4}', "a Jupyter notebook", "Formats read"),
    "settings": (b'{"version": 1, "x": {"byProgram": 2}}', "JSON document without", "JSON"),
    "framework": (b'"Rank","Host/device","Type","Operation"\n', "framework_op_stats", "hlo"),
    "nsys stats": (
        b"Time (%),Total Time (ns),Num Calls,Avg (ns),Name\n1,2,3,4,k\n",
        "a table of Nsight Systems about calls of the host",
        "nsys export --type sqlite",
    ),
    "ncu without ids": (
        b'"Kernel Name","Block Size","Metric Name","Metric Value"\n"gemm","(1, 1, 1)","a","1"\n',
        "a table of Nsight Compute without the ID of each launch",
        "--page raw",
    ),
    "rocprof 1": (
        b"SQLite format 3\x00CREATE TABLE KERN (Name) CREATE TABLE OPS (BeginNs INTEGER)",
        "a database of rocprof 1",
        "results.csv of rocprof",
    ),
    "trace of rocprof 1": (
        b'{ "traceEvents":[{}\n,{"ph":"X","name":"k","ts":"2","args":{"BeginNs":"2000"}}]}',
        "a trace of rocprof 1",
        "results.csv of rocprof",
    ),
    "execution trace in protobuf": (
        b"\x07\n\x050.0.4\x2e\x08\x01\x12\x08aten::mm",
        "an execution trace of PyTorch, which has operators and shapes but no times",
        "export_chrome_trace",
    ),
    "trace without Kineto": (
        b'[{"name": "aten::mm", "ph": "X", "ts": 1, "dur": 9, "tid": 1, "pid": "CPU functions"},\n'
        b'{"name": "gemm", "ph": "X", "ts": 2, "dur": 5, "tid": 0, "pid": "CUDA functions"}]',
        "without Kineto, which tells no launches",
        "torch.profiler",
    ),
    "trace of Ascend": (
        b'[{"name": "process_name", "ph": "M", "pid": 2, "args": {"name": "Ascend Hardware"}},\n'
        b'{"name": "aten::mm", "ph": "X", "ts": "1", "dur": 9, "cat": "cpu_op", "args": {}}]',
        "a trace of torch_npu",
        "Formats read",
    ),
    "likwid": (b"TABLE,Region a,Group 1 Metric,MEM_DP,9\nMetric,HWThread 0\n", "LIKWID", "CSV"),
    "advisor": (b"Intel(R) Advisor Command Line Tool\nID,Self GFLOP\n", "Advisor", "CSV"),
    "nvprof": (b"==7== NVPROF is profiling process 7, command: ./a.out\n", "nvprof", "ncu --set"),
    "training log": (
        b" [2026-04-28 00:00:02] iteration 2/ 3 | elapsed time per iteration (ms): 1000.0 |\n",
        "log of a training",
        "torch.profiler",
    ),
    "deepspeed": (b"----- DeepSpeed Flops Profiler -----\n", "DeepSpeed", "torch.profiler"),
    "printed table": (
        b"----\n  Name    Self CPU %    Self CPU\n",
        "printed table",
        "export_chrome",
    ),
}


@pytest.mark.parametrize(("content", "what", "instead"), FILES.values(), ids=FILES.keys())
def test_named_for_what_it_is(content: bytes, what: str, instead: str, tmp_path: Path) -> None:
    path = tmp_path / "profile.xplane.pb"
    path.write_bytes(content)
    source = SourceFile(path)
    assert [importer.FORMAT_ID for importer in IMPORTERS if importer.recognises(source)] == []
    with pytest.raises(UnknownFormatError) as caught:
        identify(source)
    assert what in caught.value.message
    assert "not a profile" in caught.value.message
    assert instead in caught.value.remedy


@pytest.mark.parametrize("content", [b"hello", b"\x00\x01\x02" * 50, b"a,b\n1,2\n", b"\xff" * 99])
def test_unknown_content_lists_the_formats(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "what.bin"
    path.write_bytes(content)
    with pytest.raises(UnknownFormatError) as caught:
        identify(SourceFile(path))
    assert "is not a profile that Roofline can read" in caught.value.message
    assert all(importer.READS in caught.value.remedy for importer in IMPORTERS)


@pytest.mark.parametrize("name", FILES)
def test_truncated_copies_are_survived(name: str, tmp_path: Path) -> None:
    path = tmp_path / "cut"
    content = FILES[name][0]
    for length in range(1, len(content), max(1, len(content) // 40)):
        path.write_bytes(content[:length])
        damage.outcome([path])


def opened(path: Path, tmp_path: Path) -> Sequence[SourceFile]:
    return open_sources(
        [SourceFile(path)],
        scratch=tmp_path / "scratch",
        limits=UnpackLimits(),
        progress=lambda *_: None,
    )[0]


def test_packed_files_are_named_too(tmp_path: Path) -> None:
    path = tmp_path / "shot.jpg.gz"
    path.write_bytes(gzip.compress(FILES["jpeg"][0]))
    (source,) = opened(path, tmp_path)
    with pytest.raises(UnknownFormatError, match=r"shot\.jpg is a JPEG picture"):
        identify(source)


@pytest.mark.parametrize(
    ("members", "what"),
    [
        (
            ["[Content_Types].xml", "xl/workbook.xml", "xl/worksheets/sheet1.xml"],
            "an Excel workbook",
        ),
        (["[Content_Types].xml", "word/document.xml"], "a Word document"),
        (["archive/data.pkl", "archive/version", "archive/data/0"], "a PyTorch checkpoint"),
    ],
)
def test_documents_that_are_zip_files(members: Sequence[str], what: str, tmp_path: Path) -> None:
    path = tmp_path / "file.bin"
    with zipfile.ZipFile(path, "w") as archive:
        for member in members:
            archive.writestr(member, "content")
    with pytest.raises(UnknownFormatError, match=what):
        opened(path, tmp_path)


def test_an_archive_of_one_wrong_file_names_it(tmp_path: Path) -> None:
    path = tmp_path / "file.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a/shot.png", FILES["png"][0])
    with pytest.raises(UnknownFormatError, match=r"shot\.png is a PNG picture"):
        opened(path, tmp_path)


def test_captures_are_no_perfetto_traces(samples_dir: Path) -> None:
    for sample in sorted((samples_dir / "xspace").rglob("*.pb")):
        assert not is_perfetto(SourceFile(sample).head)


# -------------------------------------------------------------- binary files rewritten as text


def as_text(content: bytes, decoded: str = "utf-8", encoded: str = "utf-8") -> bytes:
    return content.decode(decoded, "replace").encode(encoded)


def binary(kind: str) -> bytes:
    """A profile of each binary format, as bundled."""
    capture = (SAMPLES / "xspace/v6e-training.xplane.pb").read_bytes()
    match kind:
        case "xplane":
            return capture
        case "ncu-rep":
            return (SAMPLES / "nsight_compute/a100-kernels.ncu-rep").read_bytes()
        case "gzip":
            return gzip.compress(capture)
        case "zstd":
            return zstandard.compress(capture)
        case "tar":
            packed = io.BytesIO()
            with tarfile.open(fileobj=packed, mode="w") as archive:
                archive.add(SAMPLES / "xspace/v6e-training.xplane.pb", "host.xplane.pb")
            return packed.getvalue()
        case _:
            packed = io.BytesIO()
            with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
                archive.writestr("host.xplane.pb", capture)
            return packed.getvalue()


BINARY = ("xplane", "ncu-rep", "gzip", "zstd", "tar", "zip")


@pytest.mark.parametrize("kind", BINARY)
@pytest.mark.parametrize(
    ("decoded", "encoded"), [("utf-8", "utf-8"), ("latin-1", "utf-8"), ("utf-8", "utf-16")]
)
def test_a_binary_file_rewritten_as_text_says_so(
    kind: str, decoded: str, encoded: str, tmp_path: Path
) -> None:
    path = tmp_path / f"profile.{kind}"
    path.write_bytes(as_text(binary(kind), decoded, encoded))
    with pytest.raises(CorruptProfileError, match="read this binary file as text") as caught:
        analyse_files([path])
    assert path.name in caught.value.message
    assert "as binary" in caught.value.remedy


@pytest.mark.parametrize("kind", BINARY)
def test_binary_files_as_they_were_are_not_rewritten(kind: str, tmp_path: Path) -> None:
    assert not is_reencoded(binary(kind)[:65_536])


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"\x00",
        "\ufffd".encode() * 500,  # text, however odd
        'name,flops\n"déjà vu \ufffd",1\n'.encode() * 50,
        b"\n\x05a\xef\xbf\xbdb" + bytes(200),  # a short message with one odd name
        "{}".encode("utf-16"),
    ],
    ids=range(6),
)
def test_text_and_odd_names_are_not_taken_for_it(head: bytes) -> None:
    assert not is_reencoded(head)


def test_a_rewritten_file_in_an_archive_is_named(tmp_path: Path) -> None:
    good = (SAMPLES / "xspace/v4-training-cmem.xplane.pb").read_bytes()
    path = tmp_path / "both.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("good.xplane.pb", good)
        archive.writestr("bad.xplane.pb", as_text(binary("xplane")))
        archive.writestr("README.md", "notes")
    with pytest.raises(MixedUploadError) as caught:
        analyse_files([path])
    assert [one.name for one in caught.value.unreadable] == ["bad.xplane.pb"]
    assert caught.value.unreadable[0].code == "corrupt-profile"


@pytest.mark.parametrize("is_marked", [True, False])
@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_a_trace_in_utf_16_says_how_to_save_it(
    encoding: str, is_marked: bool, tmp_path: Path
) -> None:
    text = json.dumps({"schemaVersion": 1, "traceEvents": [{"ph": "X", "name": "aten::mm"}]})
    mark = "\ufeff".encode(encoding) if is_marked else b""
    path = tmp_path / "trace.json"
    path.write_bytes(mark + text.encode(encoding))
    with pytest.raises(UnknownFormatError, match="a trace saved as UTF-16") as caught:
        identify(SourceFile(path))
    assert "iconv -f UTF-16 -t UTF-8" in caught.value.remedy


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (b'{"kernels": [{"name": "a", "flops": 1,\n "bytes": 2}', "in line 2, column 13"),
        (b'{"kernels": [{"name": "a" "flops": 1}]}', "in line 1, column 27"),
        ('{"a": \n\n tru}'.encode("utf-16"), "in line 3, column 2"),
    ],
    ids=["cut", "comma", "utf-16"],
)
def test_broken_json_is_said_to_break_and_where(tmp_path: Path, text: bytes, where: str) -> None:
    path = tmp_path / "table.json"
    path.write_bytes(text)
    with pytest.raises(UnknownFormatError) as caught:
        identify(SourceFile(path))
    assert str(caught.value).startswith("table.json is not a whole JSON document: ")
    assert str(caught.value).endswith(f"{where}.")
