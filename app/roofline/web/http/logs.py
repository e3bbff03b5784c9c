"""Logging for the server: one structured line per event, as text for people or JSON for machines.

The standard library's loggers (uvicorn's, ours in child-running threads) go through the same
formatter.
"""

import logging
import sys
import traceback
from typing import Any, Literal

import structlog


def configure(log_format: Literal["text", "json"]) -> None:
    """Sends every log line to standard error in `log_format`."""
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.ExceptionRenderer(_plain_traceback),
                without_controls,
                *_renderers(log_format),
            ],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(logging.INFO)


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


def _renderers(log_format: Literal["text", "json"]) -> list[structlog.typing.Processor]:
    if log_format == "json":
        return [structlog.processors.JSONRenderer()]
    return [structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())]
