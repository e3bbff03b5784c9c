"""Damaged PyTorch traces give a result or an error that helps; the scan agrees with `json`."""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roofline.importers.pytorch import events as reading
from roofline.importers.pytorch.events import read_trace
from roofline.importers.source import SourceFile
from tests.profiles import imported
from tests.tools import damage
from tests.tools.make_kineto_traces import KinetoTrace, h100_training, mi300x_rank

SHARED = Path(__file__).resolve().parents[3] / "shared" / "samples" / "pytorch"
# Not a trace but a graph of operators: one document, which is read whole or not at all.
ONE_DOCUMENT = {"execution_trace_linear.json.gz"}


@pytest.fixture(scope="module")
def small() -> bytes:
    return mi300x_rank(0).encode()


def test_cut_anywhere(small: bytes, tmp_path: Path) -> None:
    path = tmp_path / "cut.json"
    results = 0
    for cut in damage.cuts(small, 200):
        path.write_bytes(cut)
        results += damage.outcome([path]) is None
    assert results > 150  # all but cuts in the header


def test_flipped_bits(small: bytes, tmp_path: Path) -> None:
    path = tmp_path / "flipped.json"
    for data in damage.flips(small, 250):
        path.write_bytes(data)
        damage.outcome([path])


@given(data=st.binary(max_size=300))
def test_random_bytes_as_events(data: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.getbasetemp() / "random.json"
    path.write_bytes(b'{"schemaVersion": 1, "traceEvents": [' + data)
    damage.outcome([path])


_NUMBERS = st.one_of(
    st.integers(0, 10**15), st.floats(0, 1e12, allow_nan=False), st.just("7"), st.none()
)
_NAMES = st.text(max_size=30)


@given(
    events=st.lists(
        st.fixed_dictionaries(
            {"ph": st.just("X"), "cat": st.just("kernel"), "name": _NAMES},
            optional={
                "ts": _NUMBERS,
                "dur": _NUMBERS,
                "pid": st.one_of(st.integers(0, 3), _NAMES),
                "tid": st.one_of(st.integers(0, 3), _NAMES),
                "args": st.dictionaries(_NAMES, st.one_of(_NUMBERS, st.lists(_NAMES)), max_size=4),
            },
        ),
        max_size=6,
    ),
    indent=st.sampled_from([None, 1]),
    ascii_only=st.booleans(),
)
def test_scan_reads_what_json_reads(
    events: Sequence[Mapping[str, Any]],
    indent: int | None,
    ascii_only: bool,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    path = tmp_path_factory.getbasetemp() / "generated.json"
    text = json.dumps(
        {"schemaVersion": 1, "traceEvents": events}, indent=indent, ensure_ascii=ascii_only
    )
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    trace = read_trace(SourceFile(path), lambda _fraction: None)
    assert trace.n_events == len(events)
    kept = [event for event in events if ns(event.get("ts")) is not None]
    assert trace.work["begin"].tolist() == pytest.approx([ns(e["ts"]) for e in kept], abs=1)


def ns(value: float | None) -> int | None:
    if value is None or not math.isfinite(float(value)) or float(value) * 1e3 > 8e18:
        return None
    return round(float(value) * 1e3)


def test_windows_of_any_size_read_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "whole.json"
    path.write_text(h100_training())
    whole = imported(path)
    for window, rows in ((257, 3), (1000, 7), (65_536, 1)):
        monkeypatch.setattr(reading, "WINDOW_BYTES", window)
        monkeypatch.setattr(reading, "ROWS_PER_SCAN", rows)
        again = imported(path)
        assert sorted(again.ops.name) == sorted(whole.ops.name)
        assert again.ops.flop.sum() == whole.ops.flop.sum()
        assert again.op_time_ps == whole.op_time_ps


def test_event_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MAX_EVENT_BYTES", 100_000)
    path = tmp_path / "endless.json"
    path.write_text('{"schemaVersion": 1, "traceEvents": [{"name": "' + "x" * 20_000_000)
    error = damage.outcome([path])
    assert error is not None
    assert "endless.json" in error.message


def test_header_alone(tmp_path: Path) -> None:
    path = tmp_path / "header.json"
    path.write_text(KinetoTrace().as_json().split('"traceEvents"')[0])
    error = damage.outcome([path])
    assert error is not None
    assert "cut short" in error.message


@pytest.mark.skipif(not SHARED.is_dir(), reason="the reference folder is not there")
@pytest.mark.parametrize("name", sorted(path.name for path in SHARED.glob("*.gz")))
def test_real_traces_damaged(name: str, tmp_path: Path) -> None:
    # A few of each: `make fuzz` damages them by the thousand.
    import gzip

    data = gzip.decompress((SHARED / name).read_bytes())
    path = tmp_path / "real.json"
    for k, damaged in enumerate([*damage.cuts(data, 6), *damage.flips(data, 6)]):
        path.write_bytes(damaged)
        error = damage.outcome([path])
        assert error is None or k < 6 or name in ONE_DOCUMENT, error
