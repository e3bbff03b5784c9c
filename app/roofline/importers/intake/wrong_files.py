"""Files that are not profiles: names their format, and says what to upload instead.

Told by content, like profiles. Signatures: https://en.wikipedia.org/wiki/List_of_file_signatures;
event files: TensorFlow's TFRecord.
"""

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from roofline.errors import UnknownFormatError
from roofline.importers.shared.protobuf_walk import is_perfetto, is_pprof
from roofline.importers.shared.tables_text import decode, first_row, header_words
from roofline.importers.source import SourceFile
from roofline.model.plain_data import read_beside


class WrongFile(NamedTuple):
    """The kind of a file ("a JPEG picture"), and how to get a profile from its tool."""

    what: str
    instead: str = ""


_FILE = read_beside(__file__, "wrong_files.json")
_INSTEAD: Mapping[str, str] = _FILE["instead"]
"""What to upload instead, by the kind of file."""


def _marked_by(marks: str) -> tuple[tuple[Any, WrongFile], ...]:
    """Marks of files that are not read, each with what such a file is."""
    return tuple(
        (mark, WrongFile(what, *(_INSTEAD[name] for name in instead)))
        for mark, what, *instead in _FILE[marks]
    )


# Longest first where one starts with another.
_SIGNATURES = tuple((mark.encode("latin-1"), of) for mark, of in _marked_by("signatures"))
_JSON_KEYS = _marked_by("keys")
"""Keys of JSON documents by the tool that writes them."""

_WORDS = _marked_by("words")
"""Words at the start of texts by the tool that writes them."""

_COLUMNS = _marked_by("columns")
"""Columns of tables by the tool that writes them, as `header_words` spells them."""

_COLUMN_IDS = _marked_by("column_ids")
_MEMBERS = _marked_by("members")
_WORDS_SEEN = 600
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_UTF_16_BRACKETS = ((b"{\0", b"[\0"), (b"\0{", b"\0["))
_ELF_CORE = 4
_HTML = re.compile(
    r"\s*+(?>(?><!--.*?-->)\s*+)*+<(?:!doctype html|html|head|body)\b", re.IGNORECASE | re.S
)
# A string that the head cuts off is one token too: nothing behind its beginning is looked at twice.
_TOKEN = re.compile(r'"((?:[^"\\]|\\.)*+)(?:"(\s*:)?)?|[{}\[\]]', re.S)
_EVENT_VERSION = b"brain.Event:"
_REPORT = re.compile(rb"NVIDIA Tegra Profiler Report (\d{4})@(\d{1,3})@")
# An execution trace in protobuf: the length of a message that begins with its version.
_CHAKRA = re.compile(rb".{1,2}\n[\x05-\x0c]\d{1,3}\.\d{1,3}\.\d{1,3}", re.S)
_TORCH_LEGACY = b"\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19"
_NO_KERNELS = WrongFile(
    "a JSON document without kernels", _INSTEAD["table"].replace("CSV", "CSV or JSON")
)
_MOST_JSON_BYTES = 16 << 20  # a text that becomes objects takes ten times as much memory
_GVIZ = WrongFile("a table of another tool of XProf", _INSTEAD["xprof_tool"])


def what_it_is(source: SourceFile) -> WrongFile | None:
    """The kind of `source`, if it is a known one that no importer reads. Never raises."""
    result = _by_signature(source.head) or _by_text(source)
    if result is None and is_perfetto(source.head):
        return WrongFile("a Perfetto trace", _INSTEAD["torch_profiler"])
    if result is None and is_pprof(source.head):
        return WrongFile("a pprof profile of memory or of a processor", _INSTEAD["pprof"])
    return result


def refused(source: SourceFile, formats: str) -> UnknownFormatError:
    """The error for a file that no importer reads; `formats` lists those that are read."""
    wrong = what_it_is(source)
    broken = _break_of_json(source) if wrong is _NO_KERNELS else ""
    if broken:
        return UnknownFormatError(
            f"{source.name} is not a whole JSON document: {broken}.",
            remedy="Export it again, or mend that line. A download or a copy may have been cut"
            " short.",
        )
    if wrong is None:
        return UnknownFormatError(
            f"{source.name} is not a profile that Roofline can read.",
            remedy=f"Upload the file as the profiler wrote it. Formats read: {formats}.",
        )
    return UnknownFormatError(
        f"{source.name} is {wrong.what}, not a profile.",
        remedy=wrong.instead.replace("{file}", shlex.quote(source.name))
        or f"Upload the file that the profiler wrote. Formats read: {formats}.",
    )


def packed_document(members: Sequence[str]) -> WrongFile | None:
    """The document that a zip is to its user: a workbook, a text, a checkpoint; `None` for others.

    `members` are file names, with or without their folders.
    """
    names = {member.rsplit("/", 1)[-1] for member in members}
    return next((wrong for path, wrong in _MEMBERS if path.rsplit("/", 1)[-1] in names), None)


def _by_signature(head: bytes) -> WrongFile | None:
    result = next((wrong for magic, wrong in _SIGNATURES if head.startswith(magic)), None)
    if result is not None:
        version = _REPORT.match(head)
        what = f"{result.what} {version[1].decode()}.{version[2].decode()}" if version else ""
        return WrongFile(what, result.instead) if what else result
    if _CHAKRA.match(head):
        return next(wrong for keys, wrong in _JSON_KEYS if "nodes" in keys)
    if head.startswith(b"\x7fELF"):
        order: Literal["big", "little"] = "big" if head[5:6] == b"\x02" else "little"
        is_core = int.from_bytes(head[16:18], order) == _ELF_CORE
        return WrongFile("a core dump" if is_core else "a program or library")
    if head.startswith(b"SQLite format 3\x00"):
        is_rocprof = all(name in head for name in (b"KERN", b"OPS", b"BeginNs"))
        if is_rocprof:
            return WrongFile("a database of rocprof 1", _INSTEAD["rocprof_stats"])
        return WrongFile("an SQLite database", _INSTEAD["table"])
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return WrongFile("a WebP picture", _INSTEAD["picture"])
    if head[4:8] == b"ftyp":
        return WrongFile("a video")
    if _is_event_file(head):
        return WrongFile("a TensorBoard event file", _INSTEAD["xspace"])
    if _is_safetensors(head):
        return WrongFile("a safetensors checkpoint", _INSTEAD["checkpoint"])
    if head[:1] == b"\x80" and head[1:2] in {b"\x02", b"\x03", b"\x04", b"\x05"}:
        return _pickle(head)
    return None


def _pickle(head: bytes) -> WrongFile:
    """What a pickle holds, by its first bytes: it is never loaded, which would run its code."""
    if _TORCH_LEGACY in head[:32]:
        return WrongFile("a PyTorch checkpoint", _INSTEAD["checkpoint"])
    if b"segments" in head[:64] and (b"total_size" in head or b"device_traces" in head):
        return WrongFile("a memory snapshot of PyTorch", _INSTEAD["allocations"])
    return WrongFile("a Python pickle", _INSTEAD["any_object"])


def _is_event_file(head: bytes) -> bool:
    """A record of TFRecord: length, its masked CRC, and a first event that states its version."""
    return len(head) > 12 and _EVENT_VERSION in head[12:80] and head[4:8] == b"\x00\x00\x00\x00"


def _is_safetensors(head: bytes) -> bool:
    size = int.from_bytes(head[:8], "little")
    return head[8:10] == b'{"' and 0 < size < 1 << 30 and b"dtype" in head


def _marked(head: bytes) -> bytes:
    """JSON in UTF-16 that does not begin with the mark of its byte order gets it."""
    at = next((at for at, brackets in enumerate(_UTF_16_BRACKETS) if head[:2] in brackets), None)
    return head if at is None else _UTF_16[at] + head


def _by_text(source: SourceFile) -> WrongFile | None:
    head = _marked(source.head)
    if b"\x00" in head[:512] and not head.startswith(_UTF_16):
        return None
    text = decode(head).lstrip("\ufeff")
    if head.startswith(_UTF_16) and _is_trace(text):
        return WrongFile("a trace saved as UTF-16", _INSTEAD["as_utf_8"])
    if _HTML.match(text):
        return WrongFile("an HTML page", _saved_page(text))
    if text.startswith(("<?xml", "<svg")):
        kind = "an SVG picture" if "<svg" in text[:2048] else "an XML document"
        return WrongFile(kind, _INSTEAD["picture"] if "SVG" in kind else "")
    result = next((wrong for word, wrong in _WORDS if word in text[:_WORDS_SEEN]), None)
    if result is not None:
        return result
    if text.lstrip()[:1] in {"{", "["}:  # a log may begin so, too
        return _json_document(text.lstrip())
    words = {header_words(cell) for cell in first_row(head)}
    return next((wrong for columns, wrong in _COLUMNS if words.issuperset(columns)), None)


def _break_of_json(source: SourceFile) -> str:
    """Where JSON breaks, and how; empty if it does not, is JSON Lines, or is too large to tell."""
    if source.size_bytes > _MOST_JSON_BYTES:
        return ""
    try:
        json.loads(decode(_marked(bytes(source.data))).lstrip("\ufeff"))
    except json.JSONDecodeError as error:
        where = f"line {error.lineno:,}, column {error.colno:,}"
        return "" if error.msg == "Extra data" else f"{error.msg} in {where}"
    except (ValueError, RecursionError):
        return ""
    return ""


def _saved_page(text: str) -> str:
    login = " A login page is often saved in the place of a download." if "login" in text else ""
    return f"Download the file itself, not the page that links to it.{login}"


def _json_document(text: str) -> WrongFile:
    keys = _top_keys(text)
    for wanted, wrong in _JSON_KEYS:
        if keys.issuperset(wanted):
            return wrong
    if '"cols"' in text and '"rows"' in text:
        ids = set(re.findall(r'"id"\s*:\s*"(\w+)"', text))
        return next((wrong for column, wrong in _COLUMN_IDS if column in ids), _GVIZ)
    if "speedscope.app" in text[:4096]:
        return WrongFile("a Speedscope profile of a CPU")
    if _is_trace(text):
        return _trace(text)
    return _NO_KERNELS


def _trace(text: str) -> WrongFile:
    if any(one in text.lower() for one in ("xla", "/device:tpu", '"hlo_module"')):
        return WrongFile("XProf's trace_viewer, which has times only", _INSTEAD["xprof_tool"])
    if '"CUDA functions"' in text:
        what = "a trace of PyTorch's profiler without Kineto, which tells no launches"
        return WrongFile(what, _INSTEAD["torch_profiler"])
    if '"Ascend Hardware"' in text:
        return WrongFile("a trace of torch_npu, whose work of the device is not read")
    if '"BeginNs"' in text:
        return WrongFile("a trace of rocprof 1", _INSTEAD["rocprof_stats"])
    return WrongFile(
        "a Chrome trace without operators of PyTorch: it has times, but no work",
        _INSTEAD["torch_profiler"],
    )


def _is_trace(text: str) -> bool:
    return text.lstrip()[:1] in {"{", "["} and ('"traceEvents"' in text or '"ph"' in text[:4096])


def _top_keys(text: str) -> set[str]:
    """Keys of the outermost object, as far as the head shows them; strings are skipped whole."""
    keys, depth = set(), 0
    for token in _TOKEN.finditer(text):
        if token[0] in "{[":
            depth += 1
        elif token[0] in "}]":
            depth -= 1
        elif depth == 1 and token[2]:
            keys.add(token[1])
    return keys
