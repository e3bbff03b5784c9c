"""Logging for the server: one structured line per event, as text for people or JSON for machines.

The standard library's loggers (uvicorn's, ours in child-running threads) go through the same
processors. Lines of structlog are written at once and not handed to them: there is one for each
request, and the way through two libraries was a sixth of what a kept page costs.
"""

import logging
import re
import sys
import traceback
from functools import partial
from typing import Any, Literal, TextIO

import structlog


def configure(log_format: Literal["text", "json"]) -> None:
    """Sends every log line to standard error in `log_format`."""
    described: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    written: list[structlog.typing.Processor] = [
        structlog.processors.ExceptionRenderer(_plain_traceback),
        without_controls,
        _renderer(log_format),
    ]
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=described,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *written],
        )
    )
    structlog.configure(
        processors=[*described, *written],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=partial(_Lines, handler),
        cache_logger_on_first_use=True,
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(logging.INFO)


class _Lines:
    """Writes whole lines between those of `handler`. `name` is the logger's."""

    def __init__(self, handler: "logging.StreamHandler[TextIO]", name: str = "") -> None:
        self.name = name
        self._handler = handler

    def info(self, line: str) -> None:
        """Writes `line`. A log that cannot be written stops no answer."""
        handler = self._handler
        handler.acquire()
        try:
            handler.stream.write(f"{line}\n")
            handler.flush()
        except (OSError, ValueError):
            pass
        finally:
            handler.release()

    debug = warning = error = critical = info


def without_controls(
    _logger: object, _method: str, event: structlog.typing.EventDict
) -> structlog.typing.EventDict:
    """Shows control characters of every value as escapes.

    A name from a stranger could end a line and begin a forged one, or steer the terminal of
    the person who reads the log.
    """
    return {
        name: value if name == "exception" else _escaped(value) for name, value in event.items()
    }


def _escaped(value: Any) -> Any:
    match value:
        case str():
            return value if value.isprintable() else "".join(map(_escaped_letter, value))
        case None | bool() | int() | float():
            return value
        case dict():
            return {_escaped(str(name)): _escaped(one) for name, one in value.items()}
        case list() | tuple() | set() | frozenset():
            return [_escaped(one) for one in value]
        case _:
            return _escaped(str(value))


def _escaped_letter(letter: str) -> str:
    return letter if letter.isprintable() else letter.encode("unicode_escape").decode()


def _plain_traceback(exc_info: structlog.typing.ExcInfo) -> str:
    """A traceback whose lines cannot be taken for lines of the log.

    The fancy ones print local variables, and with them what users uploaded.
    """
    lines = "".join(traceback.format_exception(*exc_info)).rstrip("\n").split("\n")
    return "\n".join(f"    {_escaped(line)}" for line in lines)


def _renderer(log_format: Literal["text", "json"]) -> structlog.typing.Processor:
    if log_format == "json":
        return structlog.processors.JSONRenderer()
    has_colours = sys.stderr.isatty()
    console = structlog.dev.ConsoleRenderer(colors=has_colours)
    return console if has_colours else PlainLine(console)


class PlainLine:
    """The line of `ConsoleRenderer` without colours, in a tenth of the time.

    `console` writes the events that have a traceback.
    """

    def __init__(self, console: structlog.dev.ConsoleRenderer) -> None:
        self._console = console

    def __call__(
        self, logger: object, method: str, event: structlog.typing.EventDict
    ) -> str | bytes:
        """The line of one event."""
        if not _UNUSUAL.isdisjoint(event):
            return self._console(logger, method, event)
        parts = [f"{event['timestamp']} [{event['level']:<9}] {event['event']!s:<30}"]
        parts += [f"[{event['logger']}]"] if "logger" in event else ()
        parts += [f"{name}={_shown(event[name])}" for name in sorted(event) if name not in _USUAL]
        return " ".join(parts).rstrip(" ")


# Those with a place of their own in the line, and those that take lines of their own.
_USUAL = frozenset({"timestamp", "level", "event", "logger"})
_UNUSUAL = frozenset({"stack", "exception", "exc_info", "logger_name"})
_QUOTED = re.compile("[ \t=\r\n\"']")


def _shown(value: object) -> str:
    return value if isinstance(value, str) and not _QUOTED.search(value) else repr(value)
