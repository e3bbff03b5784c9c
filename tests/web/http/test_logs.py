"""Log lines: what strangers send cannot end a line, begin one, or steer a terminal."""

import io
import json
import logging
import sys
from collections.abc import Callable, Iterator

import pytest
import structlog

from roofline.web.http.logs import configure

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
