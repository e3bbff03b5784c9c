"""A place that takes too much to list is refused in words, and the process lists the next one."""

import resource
import signal
from collections.abc import Callable
from dataclasses import asdict
from typing import NoReturn

import pytest

from roofline.errors import UploadRejectedError
from roofline.imports import run_program
from roofline.model.outer_limits import OuterLimits

SHORT = OuterLimits(memory_bytes=1 << 30, cpu_seconds=0, wall_seconds=60.0)
SMALL = OuterLimits(memory_bytes=64 << 20, cpu_seconds=60, wall_seconds=60.0)


def compute_for_ever(*_: object, **__: object) -> NoReturn:
    while True:
        pass


def hold_for_ever(*_: object, **__: object) -> NoReturn:
    held = []
    while True:
        held.append(bytes(16 << 20))


@pytest.mark.parametrize(
    ("attack", "limits", "said"),
    [
        (compute_for_ever, SHORT, "0 s of processor time"),
        (hold_for_ever, SMALL, "0.0625 GiB of memory"),
    ],
)
@pytest.mark.parametrize("name", ["list_run", "runs_below"])
def test_listing_without_an_end_is_refused(
    attack: Callable[..., NoReturn],
    limits: OuterLimits,
    said: str,
    name: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(run_program, name, attack)
    before = resource.getrlimit(resource.RLIMIT_AS), signal.getsignal(signal.SIGPROF)
    wanted = {"list_run": "list", "runs_below": "find"}[name]
    body = {"do": wanted, "address": "x", "prefix": "x", "join_s": None, "limits": asdict(limits)}
    with pytest.raises(UploadRejectedError, match=said):
        run_program._listed(body)
    after = resource.getrlimit(resource.RLIMIT_AS), signal.getsignal(signal.SIGPROF)
    assert after == before and signal.getitimer(signal.ITIMER_PROF)[0] == 0
