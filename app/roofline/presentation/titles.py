"""Titles from the names of files and folders, and the series that a title belongs to.

Profilers call their files `host_0.xplane.pb`, `rank0.json` or `pmc_perf.csv`: such a name says
nothing of the program, as its folder or the capture may (`presentation.capture_titles`).
"""

import re
from collections.abc import Iterable, Sequence

LENGTH = 200
BEFORE_DAY = " · "
_DAY_AT_END = re.compile(r" · \d{4}-\d{2}-\d{2}\Z")
_ENDINGS = re.compile(
    r"(\.(xplane|pb|gz|zip|tar|tgz|jsonl?|csv|trace|pt|ncu-repz?))+\Z", re.IGNORECASE
)
_BETWEEN_WORDS = re.compile(r"[\s_.,:()\[\]+-]+")
# The number at the end of a word counts hosts, ranks or time, or is part of an address.
_NUMBER_AT_END = re.compile(r"\d+\Z")
# Pieces of an address or a digest.
_HEXADECIMAL = re.compile(r"(?=[a-f]*\d)[0-9a-f]{6,}\Z")
_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
# Names of Cloud TPU machines, whose middle part is arbitrary: `t1v-n-1a2b3c4d-w-0`.
_TPU_MACHINE = re.compile(r"t1v-n-[0-9a-z]+-w-\d+", re.IGNORECASE)
_TEMPORARY = re.compile(r"tmp[0-9a-z_]{6,10}", re.IGNORECASE)
_SAYS_NOTHING = frozenset(
    {
        "",
        # Machines and processes.
        *("host", "hostname", "localhost", "ip", "node", "rank", "worker", "process", "pid", "tid"),
        *("vm", "gpu", "cpu", "tpu", "device", "local", "global", "libkineto", "activities"),
        # Files and folders of profilers.
        *("agent", "api", "capture", "collection", "counter", "counters", "dispatch", "hip", "hlo"),
        *("hsa", "info", "kernel", "kernels", "logs", "log", "memory", "copy", "model", "ncu"),
        *("perf", "perfetto", "plugins", "pmc", "prof", "profile", "profiles", "profiler", "pt"),
        *("raw", "reference", "report", "result", "results", "roofline", "rocprof", "runs"),
        *("stats", "sysinfo", "timestamps", "trace", "traces", "xplane", "xprof", "events"),
        # Anything.
        *("archive", "copied", "data", "download", "downloads", "export", "file", "files", "json"),
        *("csv", "out", "output", "tmp", "temp", "untitled", "upload", "uploads", "utc"),
    }
)


def says_something(name: str, machines: Iterable[str] = ()) -> bool:
    """Whether the name of a file or folder tells it from those that every profiler writes.

    `machines` are names that the capture gives to its hosts: they say nothing, either.
    """
    stem = _ENDINGS.sub("", name).casefold()
    for machine in machines:
        stem = stem.replace(machine.casefold(), " ") if len(machine) > 1 else stem
    for pattern in (_UUID, _TPU_MACHINE, _TEMPORARY):
        stem = pattern.sub(" ", stem)
    return not all(_is_empty(word) for word in _BETWEEN_WORDS.split(stem))


def title_of_files(names: Sequence[str]) -> str:
    """The first name without its endings, and how many more there are."""
    stem = _ENDINGS.sub("", names[0])
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return one_line((stem or names[0])[: LENGTH - len(more)] + more) or "profile"


def title_of_folder(path: str) -> str:
    """The innermost folder of `path` whose name says something; empty where none does."""
    folders = [folder for folder in path.replace("\\", "/").split("/") if folder.strip()]
    return next((one_line(one) for one in reversed(folders) if says_something(one)), "")


def series_name(title: str) -> str:
    """The name of the series that a title belongs to: the title without the day at its end."""
    return _DAY_AT_END.sub("", title) or title


def one_line(text: str) -> str:
    """`text` without what cannot be printed, in one line, cut to the length of a title."""
    return " ".join("".join(ch if ch.isprintable() else " " for ch in text).split())[:LENGTH]


def _is_empty(word: str) -> bool:
    stem = _NUMBER_AT_END.sub("", word)
    return (
        stem in _SAYS_NOTHING
        or _HEXADECIMAL.match(word) is not None
        or not re.search(r"[^\W\d]", stem)
    )
