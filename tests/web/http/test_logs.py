"""Log lines: what strangers send cannot end a line, begin one, or steer a terminal."""

import io
import json
import logging
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import structlog
from structlog.dev import ConsoleRenderer

from roofline.web.http.logs import PlainLine, configure

EVIL = "Ada\n2026-01-01 [info] log-in result=done name=root\r\x1b[2J\x9b\u202e\u2028\x00"
Written = Callable[[], str]


@pytest.fixture(params=["text", "json"])
def written(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Written]:
    """What was logged, in each format."""
    stream, before = io.StringIO(), logging.getLogger().handlers
    monkeypatch.setattr(sys, "stderr", stream)
    configure(request.param)
    yield stream.getvalue
    logging.getLogger().handlers = before
    structlog.reset_defaults()
    structlog.configure(processors=[structlog.processors.KeyValueRenderer()])


def is_clean(line: str) -> bool:
    return line.isprintable()


def test_values_and_events_are_one_printable_line(written: Written) -> None:
    structlog.get_logger("roofline.t").info("log-in", name=EVIL, more={EVIL: [EVIL]}, path=EVIL)
    structlog.get_logger("roofline.t").info(EVIL)
    logging.getLogger("roofline.t").warning("of a library: %s", EVIL)
    lines = written().splitlines()
    assert len(lines) == 3
    assert all("roofline.t" in line for line in lines)
    assert all(map(is_clean, lines)), lines
    assert "Ada" in lines[0]


def test_text_of_an_exception_cannot_begin_a_line(written: Written) -> None:
    try:
        raise ValueError(EVIL)
    except ValueError:
        logging.getLogger("roofline.t").exception("a fault")
        structlog.get_logger("roofline.t").error("another", exc_info=True)
    found = written()
    assert "ValueError" in found
    for line in found.splitlines():
        assert is_clean(line)
        if line.startswith("{"):
            assert "Traceback" in json.loads(line)["exception"]
        else:
            assert "root" not in line or line.startswith("    ")


@pytest.mark.parametrize(
    "event",
    [
        {"event": "request", "logger": "roofline.web", "method": "GET", "ms": 0.3, "status": 200},
        {"event": "a title that is longer than thirty characters", "none": None, "list": ["a b"]},
        {"event": "", "logger": "x", "quoted": 'a "b"', "space": "a b", "empty": "", "z": "a=b"},
        {"event": 7, "logger": "y", "text": "it's", "tab": "a\tb", "no": False, "more": {"a": 1}},
        {"event": "fault", "logger": "z", "exception": "    Traceback", "a": 1},
    ],
)
@pytest.mark.parametrize("level", ["info", "critical"])
def test_line_is_that_of_structlogs_console(level: str, event: dict[str, Any]) -> None:
    console = ConsoleRenderer(colors=False)
    given = {**event, "level": level, "timestamp": "2026-01-01T00:00:00Z"}
    assert PlainLine(console)(None, level, dict(given)) == console(None, level, dict(given))


def test_log_that_cannot_be_written_stops_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    before, stream = logging.getLogger().handlers, io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    configure("text")
    try:
        log = structlog.get_logger("roofline.t")
        log.debug("not wanted")
        log.info("wanted")
        assert "not wanted" not in stream.getvalue()
        assert "wanted" in stream.getvalue()
        stream.close()
        log.info("written to a closed stream")
    finally:
        logging.getLogger().handlers = before
        structlog.reset_defaults()
        structlog.configure(processors=[structlog.processors.KeyValueRenderer()])
