"""Hostile archives and names: what a stranger may upload to break, fill or leave the server.

Each is made here in a few lines rather than kept as a file: a reader sees what it does.
"""

import gzip
import io
import struct
import tarfile
import zipfile
from collections.abc import Callable

from tests.tools.make_kineto_traces import FP32, KinetoTrace

Hostile = Callable[[bytes], bytes]

MEMBERS = 6_000  # past ROOFLINE_MAX_UNPACKED_FILES
BOMB_BYTES = 300 << 20  # past the ratio's floor

NAMES = (
    "../../../../etc/passwd",
    "/etc/cron.d/roofline",
    "..\\..\\windows\\system32\\x.pb",
    "C:\\x.pb",
    "~root/.ssh/authorized_keys",
    "NUL",
    "con.pb",
    "a\0b.pb",
    "a\nb: c.pb",
    '"; filename="x.html',
    "<script>alert(1)</script>.pb",
    "{{ 7 * 7 }}{% include '/etc/passwd' %}.pb",
    "%2e%2e%2fx.pb",
    "\u202egpj.exe.pb",
    "\ufeff\u200b.pb",
    "=HYPERLINK(1).pb",
    "x" * 5_000 + ".pb",
    " ",
    ".",
    "..",
    "",
)


def _zip(members: list[tuple[str, bytes]], *, compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as archive:
        for name, content in members:
            archive.writestr(zipfile.ZipInfo(name.replace("\0", "?")), content, compression)
    return out.getvalue()


def _tar(*members: tarfile.TarInfo, content: bytes = b"") -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for member in members:
            member.size = len(content) if member.isreg() else 0
            archive.addfile(member, io.BytesIO(content) if member.isreg() else None)
    return out.getvalue()


def _member(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, link
    return member


def _zeros_gzip(_profile: bytes) -> bytes:
    return gzip.compress(bytes(16 << 20), 9) * (BOMB_BYTES >> 24)


def _zeros_zip(_profile: bytes) -> bytes:
    return _zip([(f"{n}.pb", bytes(64 << 20)) for n in range(BOMB_BYTES >> 26)])


def _gzip_in_gzip(profile: bytes) -> bytes:
    for _ in range(5):
        profile = gzip.compress(profile)
    return profile


def _zip_in_zip(profile: bytes) -> bytes:
    for _ in range(5):
        profile = _zip([("inner.zip", profile)])
    return profile


def _many_members(_profile: bytes) -> bytes:
    return _zip([(f"{n}.pb", b"") for n in range(MEMBERS)], compression=zipfile.ZIP_STORED)


def _names_zip(profile: bytes) -> bytes:
    return _zip([(name or "x", profile) for name in NAMES])


def _names_tar(profile: bytes) -> bytes:
    members = [_member(name.replace("\0", "?")[:200]) for name in NAMES if name.strip()]
    return _tar(*members, content=profile)


def _links(_profile: bytes) -> bytes:
    return _tar(
        _member("a.pb", tarfile.SYMTYPE, "/etc/passwd"),
        _member("b.pb", tarfile.LNKTYPE, "../../../../etc/passwd"),
        _member("c", tarfile.CHRTYPE),
        _member("d", tarfile.FIFOTYPE),
        _member("e", tarfile.DIRTYPE),
    )


def _symlink_zip(_profile: bytes) -> bytes:
    info = zipfile.ZipInfo("link.pb")
    info.create_system, info.external_attr = 3, 0o120777 << 16
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(info, "/etc/passwd")
    return out.getvalue()


def _overlap(profile: bytes) -> bytes:
    """Every entry of the directory points at the same bytes: a few KB claim gigabytes."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.pb", profile)
        archive.filelist.extend(archive.filelist[:1] * 200)
    return out.getvalue()


def _false_sizes(profile: bytes) -> bytes:
    """A directory that says one byte, and four gigabytes, of the same member."""
    data = bytearray(_zip([("x.pb", profile)]))
    at = data.rindex(b"PK\x01\x02")
    struct.pack_into("<II", data, at + 20, 1, 0xFFFF_FFF0)
    return bytes(data)


def _encrypted(profile: bytes) -> bytes:
    data = bytearray(_zip([("x.pb", profile)]))
    data[6] |= 1
    data[data.rindex(b"PK\x01\x02") + 8] |= 1
    return bytes(data)


def _no_directory(profile: bytes) -> bytes:
    data = _zip([("x.pb", profile)])
    return data[: data.rindex(b"PK\x01\x02")]


def _huge_tar_size(_profile: bytes) -> bytes:
    header = bytearray(_member("x.pb").tobuf())
    header[124:136] = b"\x80" + (2**62).to_bytes(11, "big")  # base 256, far past any disk
    header[148:156] = b"        "
    header[148:155] = b"%06o\0" % sum(header)
    return bytes(header)


ARCHIVES: dict[str, Hostile] = {
    "zeros in gzip": _zeros_gzip,
    "zeros in zip": _zeros_zip,
    "gzip in gzip": _gzip_in_gzip,
    "zip in zip": _zip_in_zip,
    "many members": _many_members,
    "names in zip": _names_zip,
    "names in tar": _names_tar,
    "links and devices in tar": _links,
    "symlink in zip": _symlink_zip,
    "overlapping members": _overlap,
    "false sizes": _false_sizes,
    "encrypted": _encrypted,
    "no directory": _no_directory,
    "huge size in tar": _huge_tar_size,
    "empty zip": lambda _: _zip([]),
    "gzip header only": lambda _: b"\x1f\x8b\x08\x00",
    "deep JSON": lambda _: b"[" * 2_000_000,
    "wide JSON": lambda _: b'{"traceEvents": [' + b"0," * 1_000_000 + b"0]}",
    "huge integer": lambda _: b'{"traceEvents": [{"ts": ' + b"9" * 1_000_000 + b"}]}",
    "wide CSV": lambda _: b"a," * 65_000 + b"\n" + b"1," * 65_000,
    "one long line": lambda _: b"x" * (32 << 20),
    "only NUL": lambda _: bytes(1 << 20),
}

# What a pattern that begins anew at every character takes hours for.
_LONG = 120_000
_TABLE = "name,time_us,flops,dram_bytes\n"
_ROW = "gemm,1,2,3\n"
_DISPATCH = "Dispatch_ID,Kernel_Name,SQ_WAVES,Start_Timestamp,End_Timestamp\n0,{},1,1,2\n"
_STATS = '"HLO op name","HLO op category","Total self time (us)","#Occurrences","Bound by"{}\n'


def _trace_of(kernel: str) -> str:
    trace = KinetoTrace()
    trace.call("aten::mm", [((64, 64), FP32), ((64, 64), FP32)], (kernel, 5.0))
    return trace.as_json()


LONG_TEXTS = {
    "quotes that never end": "{" + '\\"' * _LONG,
    "comments of HTML": "<!---->" * _LONG + "x",
    "comment of spaces": _TABLE + _ROW + "# a" + " " * _LONG + "b\n",
    "brackets in a header": _TABLE.strip() + "," + "[" * _LONG + "\n" + _ROW,
    "spaces in a header": _TABLE.strip() + ",a" + " " * _LONG + "(b\n" + _ROW,
    "spaces before a unit": _TABLE + "gemm,<" + " " * _LONG + "x,2,3\n" + _ROW,
    "numbers and a line break": _TABLE + 'gemm,"' + "1," * _LONG + 'x\ny",2,3\n' + _ROW,
    "spaces in a kernel's name": _DISPATCH.format("a" + " " * _LONG + "b"),
    "clones of clones": _DISPATCH.format("[clone " * _LONG),
    "parts of kernels' names": _DISPATCH.format("cudnn" * _LONG),
    "parentheses in a column": _STATS.format(',"' + "(" * _LONG + '"'),
    "parts of a product's kernel": _trace_of("s1688" * _LONG + "f16"),
    "summaries of Nsight Compute": '"' + '"Invocations"' * _LONG,
}
