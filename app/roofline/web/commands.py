"""Commands of the server: `serve`, and those that look after its store.

`COMMANDS` is what the entry point `server` of the group `roofline.commands` names. This module
imports none of the server's libraries, so that the help of `roofline` lists the commands without
them.
"""

import argparse
import gc
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from roofline.settings import Settings

_HERE = "roofline.web.commands"
# By name: what the help says, and the function that adds the arguments.
COMMANDS = {
    "serve": ("serve the dashboard", f"{_HERE}:add_serve"),
    "report": ("write a page as one file", "roofline.cli.reporting:add_report"),
    "backup": ("copy all profiles; the server may go on", f"{_HERE}:add_backup"),
    "restore": ("fill an empty server from a backup", f"{_HERE}:add_restore"),
    "gc": ("remove what expired or belongs to no profile", f"{_HERE}:add_gc"),
    "doctor": ("check every profile against its files, repair", f"{_HERE}:add_doctor"),
    "worker": ("run imports for servers that share PostgreSQL", f"{_HERE}:add_worker"),
    "audit": ("print the audit table as JSON lines", f"{_HERE}:add_audit"),
}


def add_serve(parser: argparse.ArgumentParser) -> None:
    """The arguments of `roofline serve`."""
    parser.description = (
        "Serve the dashboard. Options that are not given come from ROOFLINE_HOST, ROOFLINE_PORT,"
        " ROOFLINE_DATA_DIR and ROOFLINE_REACHED."
    )
    parser.add_argument("--host", help="address to listen on")
    parser.add_argument("--port", type=int, help="port to listen on; 0 for any free one")
    parser.add_argument("--data-dir", type=Path, help="where profiles are kept")
    reached = parser.add_mutually_exclusive_group()
    reached.add_argument(
        "--behind-proxy",
        dest="reached",
        action="store_const",
        const="behind-proxy",
        help="a proxy forwards requests: one on this machine, or at ROOFLINE_PROXY_ADDRESSES",
    )
    reached.add_argument(
        "--directly",
        dest="reached",
        action="store_const",
        const="directly",
        help="other machines send requests without a proxy",
    )
    parser.set_defaults(run=_serve)


def _serve(given: argparse.Namespace) -> None:
    # The server collects once when all is loaded: on the way it is 0.2 s for nothing.
    gc.disable()
    from roofline.settings import Settings  # loads slowly, as does the server
    from roofline.web.server import run

    names = ("host", "port", "data_dir", "reached")
    chosen = {name: getattr(given, name) for name in names}
    run(Settings.from_env(**{name: value for name, value in chosen.items() if value is not None}))


def add_backup(parser: argparse.ArgumentParser) -> None:
    """The arguments of `roofline backup`."""
    parser.add_argument("folder", type=Path, help="where to: a folder that does not exist yet")
    _look_after(parser, _backup)


def add_restore(parser: argparse.ArgumentParser) -> None:
    """The arguments of `roofline restore`."""
    parser.add_argument("folder", type=Path, help="a folder that backup made")
    _look_after(parser, _restore)


def add_gc(parser: argparse.ArgumentParser) -> None:
    """The arguments of `roofline gc`."""
    parser.add_argument(
        "--empty-trash",
        action="store_true",
        help="purge all that is in the trash, not only what is due",
    )
    parser.add_argument("--dry-run", action="store_true", help="only list what would be removed")
    _look_after(parser, _gc)


def add_doctor(parser: argparse.ArgumentParser) -> None:
    """The arguments of `roofline doctor`."""
    parser.add_argument("--quick", action="store_true", help="do not read the files themselves")
    parser.add_argument("--check", action="store_true", help="repair nothing")
    _look_after(parser, _doctor)


def add_worker(parser: argparse.ArgumentParser) -> None:
    """The arguments of `roofline worker`."""
    parser.add_argument("--concurrency", type=int, default=1, help="imports at the same time")
    parser.add_argument("--metrics-port", type=int, help="numbers for Prometheus, on 127.0.0.1")
    _look_after(parser, _work)


def add_audit(parser: argparse.ArgumentParser) -> None:
    """The arguments of `roofline audit`."""
    parser.add_argument("--since", default="", metavar="TIME", help="ISO 8601 in UTC, or its start")
    parser.add_argument("--after", type=int, default=0, metavar="N", help="only higher numbers")
    _look_after(parser, _audit)


_Command = Callable[["Settings", argparse.Namespace], int]


def _look_after(parser: argparse.ArgumentParser, command: _Command) -> None:
    """The command works on the store of the settings, and returns the exit status."""
    parser.add_argument("--data-dir", type=Path, help="where profiles are kept")
    parser.set_defaults(run=partial(_run, command))


def _run(command: _Command, given: argparse.Namespace) -> None:
    from roofline.settings import Settings  # loads slowly

    chosen = {} if given.data_dir is None else {"data_dir": given.data_dir}
    sys.exit(command(Settings.from_env(**chosen), given))


def _backup(settings: "Settings", given: argparse.Namespace) -> int:
    from roofline.web import upkeep  # loads slowly

    return upkeep.run_backup(settings, given.folder)


def _restore(settings: "Settings", given: argparse.Namespace) -> int:
    from roofline.web import upkeep  # loads slowly

    return upkeep.run_restore(settings, given.folder)


def _gc(settings: "Settings", given: argparse.Namespace) -> int:
    from roofline.web import upkeep  # loads slowly

    return upkeep.run_gc(settings, dry_run=given.dry_run, empties_trash=given.empty_trash)


def _doctor(settings: "Settings", given: argparse.Namespace) -> int:
    from roofline.web import upkeep  # loads slowly

    return upkeep.run_doctor(settings, quick=given.quick, check_only=given.check)


def _audit(settings: "Settings", given: argparse.Namespace) -> int:
    from roofline.web import upkeep  # loads slowly

    return upkeep.run_audit(settings, after=given.after, since=given.since)


def _work(settings: "Settings", given: argparse.Namespace) -> int:
    from roofline.settings import forget_secrets  # loads slowly, as do the others
    from roofline.web.http.logs import configure
    from roofline.web.upkeep import run_worker

    forget_secrets()
    configure(settings.log_format)
    return run_worker(settings, max(1, given.concurrency), given.metrics_port)
