"""The title of a profile without a given one, from what its capture says.

Where the files' names say nothing, it is the program, else the device, and the day on which the
capture was taken. Nothing is guessed: where the capture says nothing, the name of the file stays.
"""

import re
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np

from roofline.model.profile import Profile
from roofline.model.units import NS_PER_S
from roofline.presentation.titles import (
    BEFORE_DAY,
    LENGTH,
    one_line,
    says_something,
    title_of_files,
)

# Programs that run other programs, and names that compilers and linkers give where there is none.
_NOT_A_PROGRAM = re.compile(
    r"(python|pypy|ruby|perl|lua)[\d.]*|julia|java|node|(ba|z)?sh|srun|torchrun|mpi(run|exec)|nsys|ncu"
    r"|a\.out|main|_?<?lambda>?_?|unknown|none|path|module|synctensorsgraph",
    re.IGNORECASE,
)
_FINGERPRINT = re.compile(r"\(\d+\)\Z|\.\d+\Z")
_TRANSFORMS = re.compile(r"\A(jit|pjit|pmap)_(?=.)")
_KINDS = frozenset({"", "cpu", "gpu", "tpu", "amd gpu", "nvidia gpu", "host of an accelerator"})
_YEARS = range(1990, 2100)


def title_of_capture(profile: Profile, device: str, names: Sequence[str]) -> str:
    """The title of a profile whose files have these `names`, on the device of this name."""
    machines = [host.hostname for host in profile.hosts if host.hostname]
    if any(says_something(name, machines) for name in names):
        return title_of_files(names)
    told = _program(profile) or _device(device) or title_of_files(names)
    day = _day(profile.captured_at_ns)
    told = one_line(told)[: LENGTH - len(day)].rstrip()
    return f"{told}{day}"


def _program(profile: Profile) -> str:
    """The program that took most of the time, as the capture calls it."""
    names = {number: _plain(name) for number, name in profile.program_names.items()}
    time: Counter[str] = Counter()
    numbers, row = np.unique(profile.ops.program_id, return_inverse=True)
    spent = np.bincount(row, profile.ops.self_time_ps, len(numbers))
    for number, time_ps in zip(numbers.tolist(), spent.tolist(), strict=True):
        time[names.get(number, "")] += time_ps
    told = next((name for name, _ in time.most_common() if name), "")
    return told or _plain(profile.program)


def _plain(name: str) -> str:
    """The name of a program without its folders, fingerprint and transform."""
    last = name.replace("\\", "/").rsplit("/", 1)[-1].strip()
    plain = _TRANSFORMS.sub("", _FINGERPRINT.sub("", last))
    return "" if _NOT_A_PROGRAM.fullmatch(plain) else plain


def _device(name: str) -> str:
    """The name of a device; empty where it only says of which kind it is."""
    return "" if name.strip().casefold() in _KINDS else name


def _day(captured_at_ns: int | None) -> str:
    """The day of the capture in UTC, as the end of a title; empty where the file does not say."""
    if captured_at_ns is None or captured_at_ns < 0:
        return ""
    try:
        moment = datetime.fromtimestamp(captured_at_ns / NS_PER_S, UTC)
    except (OverflowError, OSError, ValueError):
        return ""
    return f"{BEFORE_DAY}{moment:%Y-%m-%d}" if moment.year in _YEARS else ""
