"""The `roofline` command. Each command imports only what it needs: starting is part of the wait."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from app.errors import RooflineError

BAD_INPUT = 2

app = typer.Typer(
    name="roofline",
    help="See what bounds an accelerator program: rooflines from real profiles.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


class Format(StrEnum):
    """What `analyze` prints."""

    TEXT = "text"
    JSON = "json"
    CSV = "csv"
    XPROF = "xprof"


def main() -> NoReturn:
    """Runs the command line; a `RooflineError` becomes two lines on stderr and exit status 2."""
    try:
        app()
    except RooflineError as error:
        _say(f"roofline: {error.message}\n          {error.remedy}")
        sys.exit(BAD_INPUT)
    sys.exit(0)


def _print_version(wanted: bool) -> None:
    if wanted:
        from app import __version__

        typer.echo(f"roofline {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    pass


@app.command()
def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on; 0 for any.")] = None,
    data_dir: Annotated[Path | None, typer.Option(help="Where profiles are kept.")] = None,
) -> None:
    """Serve the dashboard. Options not given come from ROOFLINE_HOST, _PORT and _DATA_DIR."""
    from app.settings import Settings
    from app.web.server import run

    given = {"host": host, "port": port, "data_dir": data_dir}
    run(Settings.from_env(**{name: value for name, value in given.items() if value is not None}))


@app.command()
def analyze(
    files: Annotated[list[Path], typer.Argument(help="Profile files: one per host, or archives.")],
    output_format: Annotated[
        Format, typer.Option("--format", "-f", help="xprof: XProf's own table, for comparison.")
    ] = Format.TEXT,
    exclude_infeed_outfeed: Annotated[
        bool, typer.Option("--exclude-infeed-outfeed", help="Leave infeed and outfeed ops out.")
    ] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write to this file, not to the terminal.")
    ] = None,
) -> None:
    """Analyse a profile and print its roofline."""
    from app.report import analyse_files, render

    compat = output_format is Format.XPROF
    analysis = analyse_files(files, xprof_compat=compat)
    content = render(analysis, output_format.value, infeed=not exclude_infeed_outfeed)
    if output is None:
        sys.stdout.buffer.write(content)
    else:
        _write(output, content)


@app.command("warm-up")
def warm_up() -> None:
    """Compile the kernels that read profiles, once per machine; set-up does it for you."""
    from app.importers import xspace

    xspace.warm_up()


def _write(path: Path, content: bytes) -> None:
    try:
        path.write_bytes(content)
    except OSError as error:
        _say(f"roofline: {path} cannot be written: {error.strerror}.")
        raise typer.Exit(BAD_INPUT) from error


def _say(text: str) -> None:
    typer.echo(text, err=True)
