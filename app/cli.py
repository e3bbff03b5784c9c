"""The `roofline` command: serve, analyze, devices, calibrate, warm-up.

Each command imports only what it needs.

Starting is part of the wait: of the 0.6 s that 1 million events take, `typer` was 0.13 s (0.29.2
imports pydantic to convert arguments), `argparse` is 0.01 s.
"""

import argparse
import gc
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from app import __version__
from app.errors import RooflineError

BAD_INPUT = 2
FORMATS = ("text", "json", "csv", "generic", "xprof")


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Runs the command line; a `RooflineError` becomes two lines on stderr and exit status 2."""
    parser = _parser()
    given = parser.parse_args(arguments)
    if "run" not in given:
        parser.print_help()
        sys.exit(0)
    try:
        given.run(given)
    except RooflineError as error:
        sys.stderr.write(f"roofline: {error.message}\n          {error.remedy}\n")
        sys.exit(BAD_INPUT)
    except KeyboardInterrupt:
        sys.exit(130)
    sys.exit(0)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="roofline",
        description="See what bounds an accelerator program: rooflines from real profiles.",
    )
    parser.add_argument("--version", action="version", version=f"roofline {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    _add_serve(commands.add_parser("serve", help="serve the dashboard"))
    _add_analyze(commands.add_parser("analyze", help="print the roofline of a profile"))
    _add_devices(commands.add_parser("devices", help="list the hardware catalogue"))
    _add_calibrate(commands.add_parser("calibrate", help="measure this machine's peaks"))
    _add_template(commands.add_parser("template", help="print an example of the generic format"))
    warm_up = commands.add_parser(
        "warm-up", help="compile the kernels that read profiles, once per machine"
    )
    warm_up.set_defaults(run=_warm_up)
    return parser


def _add_serve(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Serve the dashboard. What is not given here comes from ROOFLINE_HOST, ROOFLINE_PORT and"
        " ROOFLINE_DATA_DIR."
    )
    parser.add_argument("--host", help="address to listen on")
    parser.add_argument("--port", type=int, help="port to listen on; 0 for any free one")
    parser.add_argument("--data-dir", type=Path, help="where profiles are kept")
    parser.set_defaults(run=_serve)


def _add_analyze(parser: argparse.ArgumentParser) -> None:
    parser.description = "Analyse a profile and print its roofline."
    parser.add_argument(
        "files", nargs="+", type=Path, metavar="FILE", help="one file per host, or archives of them"
    )
    parser.add_argument(
        "-f",
        "--format",
        choices=FORMATS,
        default="text",
        help="generic: to read again, see docs/generic-format.md; xprof: XProf's own table",
    )
    parser.add_argument(
        "--exclude-infeed-outfeed", action="store_true", help="leave infeed and outfeed ops out"
    )
    parser.add_argument(
        "--device", metavar="NAME", help="hold the program against this part, or `this-machine`"
    )
    parser.add_argument(
        "--peak",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="set a peak: compute=900TFLOP/s, hbm=3.35TB/s, matrix_fp8=1.9PFLOP/s; repeatable",
    )
    parser.add_argument("-o", "--output", type=Path, help="write to this file")
    parser.set_defaults(run=_analyze)


def _add_devices(parser: argparse.ArgumentParser) -> None:
    parser.description = "List the parts whose peaks are known, or one of them with every source."
    parser.add_argument("name", nargs="?", help="a part's id, name or device name")
    parser.set_defaults(run=_devices)


def _add_calibrate(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Measure what this machine's processor and memory can do, and keep it as the device"
        " `this-machine`: the roofs of programs that ran on this CPU. Leave the machine idle"
        " meanwhile."
    )
    parser.add_argument("--quick", action="store_true", help="a few seconds, less exact")
    parser.add_argument(
        "--dry-run", action="store_true", help="only print, do not keep the measurements"
    )
    parser.set_defaults(run=_calibrate)


def _add_template(parser: argparse.ArgumentParser) -> None:
    parser.description = "Print a file of kernels and roofs to fill in; docs/generic-format.md."
    parser.add_argument("form", choices=("csv", "json"))
    parser.set_defaults(run=_template)


def _serve(given: argparse.Namespace) -> None:
    from app.settings import Settings
    from app.web.server import run

    chosen = {"host": given.host, "port": given.port, "data_dir": given.data_dir}
    run(Settings.from_env(**{name: value for name, value in chosen.items() if value is not None}))


def _analyze(given: argparse.Namespace) -> None:
    # The process ends with the answer: collecting garbage on the way is 0.08 s for nothing.
    gc.disable()
    from app.devices.choice import read_choice
    from app.report import analyse_files, render

    choice = read_choice(given.device, given.peak)
    analysis = analyse_files(given.files, xprof_compat=given.format == "xprof", choice=choice)
    content = render(analysis, given.format, infeed=not given.exclude_infeed_outfeed)
    if given.output is None:
        _print(content)
    else:
        _write(given.output, content)


def _devices(given: argparse.Namespace) -> None:
    from app.report.device_text import describe_part, describe_parts

    _print((describe_part(given.name) if given.name else describe_parts()).encode())


def _calibrate(given: argparse.Namespace) -> None:
    from app.calibrate import calibrate

    calibrate(quick=given.quick, keep=not given.dry_run, write=lambda text: _print(text.encode()))


def _template(given: argparse.Namespace) -> None:
    from app.importers.generic.template import TEMPLATES

    _print(TEMPLATES[given.form].encode())


def _warm_up(_given: argparse.Namespace) -> None:
    import compileall

    from app.importers import pytorch, xspace

    xspace.warm_up()
    pytorch.warm_up()
    # Byte code, too, where the environment keeps Python from writing it: 0.05 s of every start.
    compileall.compile_dir(Path(__file__).parent, quiet=2)


def _print(content: bytes) -> None:
    try:
        sys.stdout.buffer.write(content)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader (head, less) has seen enough. Python would complain again when it exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _write(path: Path, content: bytes) -> None:
    try:
        path.write_bytes(content)
    except OSError as error:
        sys.stderr.write(f"roofline: {path} cannot be written: {error.strerror}.\n")
        sys.exit(BAD_INPUT)
