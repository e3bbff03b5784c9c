"""The `roofline` command: it knows the names of its commands, and imports the one that is named.

Starting is part of the wait: of the 0.6 s that 1 million events took, `typer` was 0.13 s (0.29.2
imports pydantic to convert arguments), `argparse` is 0.01 s.

Wings, such as the server, bring commands of their own: an entry point of the group
`roofline.commands` names a table like `COMMANDS`. Entry points are read only for a name that is
not in ours, and for the list of all commands.
"""

import argparse
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import nullcontext, suppress
from importlib import import_module
from pathlib import Path
from typing import NoReturn

from roofline import __version__
from roofline.cli.output import BAD_INPUT, adapt_to_reader, has_colour, print_bytes, red
from roofline.cli.words import unknown_command, unknown_words
from roofline.errors import ExtraMissingError, MixedUploadError, RooflineError

WINGS = "roofline.commands"
# By name: what the help says, and the function that adds the arguments.
COMMANDS = {
    "analyze": ("print the roofline of a profile", "roofline.cli.analyzing:add_analyze"),
    "advise": ("say what would help, and how much", "roofline.cli.advising:add_advise"),
    "whatif": ("what other number formats would save", "roofline.cli.advising:add_whatif"),
    "compare": ("say what changed between two runs", "roofline.cli.comparing:add_compare"),
    "ledger": (
        "show advice that was accepted, and what became of it",
        "roofline.cli.ledger:add_ledger_command",
    ),
    "baseline": ("keep a run to compare later ones", "roofline.cli.gating:add_baseline"),
    "check": ("fail where a run became worse", "roofline.cli.gating:add_check"),
    "ci": ("write the workflow that checks pull requests", "roofline.cli.gating:add_ci"),
    "series": ("show runs of a program over time", "roofline.cli.comparing:add_series"),
    "devices": ("list the hardware catalogue", "roofline.cli.device_text:add_devices"),
    "estimate": ("what an op should cost on a part", "roofline.cli.predicting:add_estimate"),
    "predict": (
        "what a language model should cost on a part",
        "roofline.cli.predicting:add_predict",
    ),
    "calibrate": ("measure this machine's peaks", "roofline.cli.device_text:add_calibrate"),
    "figure": ("write the roofline as a picture", "roofline.cli.drawing:add_figure"),
    "plot": ("draw the roofline in the terminal", "roofline.cli.drawing:add_plot"),
    "template": ("print an example of the generic format", "roofline.cli.main:add_template"),
    "upload": ("send a profile to a server, print its link", "roofline.cli.uploading:add_upload"),
    "import": ("have a server read a run of many hosts", "roofline.cli.runs:add_import"),
    "push": ("add hosts to a run on a server", "roofline.cli.runs:add_push"),
    "watch": ("send each capture that appears in a folder", "roofline.cli.watch:add_watch"),
    "capture": ("capture programs that run", "roofline.cli.recording:add_capture"),
    "record": ("run a command and record its steps", "roofline.cli.recording:add_record"),
    "replay": ("run an operation alone", "roofline.cli.replaying:add_replay"),
    "mcp": ("serve tools for coding agents", "roofline.cli.agents:add_mcp"),
    "skill": ("print what a coding agent should know", "roofline.cli.agents:add_skill"),
    "share": ("share a stored profile by a link", "roofline.cli.sharing:add_share"),
    "notes": ("notes on points of a stored profile", "roofline.cli.sharing:add_notes"),
    "completion": (
        "print a script that completes commands in your shell",
        "roofline.cli.completion:add_completion",
    ),
    "warm-up": (
        "compile the kernels that read profiles, once per machine",
        "roofline.cli.main:add_warm_up",
    ),
}
Table = Mapping[str, tuple[str, str]]


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Runs the command line; a `RooflineError` becomes lines on stderr and exit status 2."""
    words = sys.argv[1:] if arguments is None else arguments
    command = words[0] if words else None
    wings = {} if command in COMMANDS else _wings()
    extra = next((name for name, table in wings.items() if command in table), None)
    try:
        parser, parsers = _parsers({command}, wings)
        if command and command[0] != "-" and command not in parsers:
            raise unknown_command(command, parsers)
        given, rest = parser.parse_known_args([_not_an_option(word) for word in words])
        if "run" not in given:
            parser.print_help()
            sys.exit(0)
        if rest:
            raise unknown_words(rest, str(command), parsers[str(command)])
        adapt_to_reader(given)
        given.run(given)
    except RooflineError as error:
        sys.stderr.write(_said(error))
        sys.exit(BAD_INPUT)
    except ModuleNotFoundError as error:
        if extra is None or (error.name or "").partition(".")[0] == "roofline":
            raise
        sys.stderr.write(_said(ExtraMissingError.of(extra)))
        sys.exit(BAD_INPUT)
    except KeyboardInterrupt:
        sys.exit(130)
    sys.exit(0)


def _wings() -> dict[str, Table]:
    """The commands of each wing, by the extra that installs its libraries."""
    from importlib.metadata import entry_points  # loads slowly

    return {wing.name: wing.load() for wing in entry_points(group=WINGS)}


def _not_an_option(word: str) -> str:
    """A shape that begins with a minus sign is told as a wrong shape, not as an unknown option."""
    return f" {word}" if word[:1] == "-" and word[1:2].isdigit() and "x" in word else word


def _said(error: RooflineError) -> str:
    """The error, its remedy, and the files by group where they are not one profile."""
    name = red("roofline:") if has_colour(sys.stderr) else "roofline:"
    lines = [f"{name} {error.message}", f"          {error.remedy}"]
    if isinstance(error, MixedUploadError):
        lines += [f"          {group.label}: {', '.join(group.files)}" for group in error.groups]
        lines += [f"          not readable: {one.name}" for one in error.unreadable]
    return "\n".join([*lines, ""])


def all_commands() -> dict[str, tuple[str, argparse.ArgumentParser]]:
    """Every command with its help and its parser; without the arguments of those whose libraries
    are not installed."""
    wings = _wings()
    names = {
        name: said for table in (*wings.values(), COMMANDS) for name, (said, _) in table.items()
    }
    _, parsers = _parsers(names, wings)
    return {name: (said, parsers[name]) for name, said in names.items()}


def _parsers(
    wanted: Collection[str | None], wings: Mapping[str, Table]
) -> tuple[argparse.ArgumentParser, dict[str, argparse.ArgumentParser]]:
    """The parser of all commands, and that of each; those of `wanted` have their arguments."""
    parser = argparse.ArgumentParser(
        prog="roofline",
        description="See what bounds an accelerator program: rooflines from real profiles.",
    )
    parser.add_argument("--version", action="version", version=f"roofline {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    parsers = {}
    is_known = any(name in wanted for name in COMMANDS)
    for table in (*wings.values(), COMMANDS):
        for name, (help_text, target) in table.items():
            if is_known and name not in wanted:
                continue  # a parser takes 0.2 ms, and there are thirty
            parsers[name] = commands.add_parser(name, help=help_text)
            if name in wanted:
                with suppress(ModuleNotFoundError) if len(wanted) > 1 else nullcontext():
                    _function(target)(parsers[name])
    return parser, parsers


def _function(target: str) -> Callable[[argparse.ArgumentParser], None]:
    """The function that `module:name` names."""
    module, _, name = target.partition(":")
    function: Callable[[argparse.ArgumentParser], None] = getattr(import_module(module), name)
    return function


def add_template(parser: argparse.ArgumentParser) -> None:
    """The arguments of `roofline template`."""
    parser.description = "Print a file of kernels and roofs to fill in; docs/generic-format.md."
    parser.add_argument("form", choices=("csv", "json"))
    parser.set_defaults(run=_template)


def _template(given: argparse.Namespace) -> None:
    print_bytes(Path(__file__).with_name(f"template.{given.form}").read_bytes())


def add_warm_up(parser: argparse.ArgumentParser) -> None:
    """What `roofline warm-up` takes: nothing, but where a wheel is built."""
    parser.add_argument("--portable", action="store_true", help=argparse.SUPPRESS)
    parser.set_defaults(run=_warm_up)


def _warm_up(given: argparse.Namespace) -> None:
    import compileall  # loads slowly, as do the readers

    from roofline.cli.progress import say_when_compiling
    from roofline.importers.registry import warm_up

    say_when_compiling()
    warm_up(is_for_wheel=given.portable)
    # Byte code, too, where the environment keeps Python from writing it: 0.05 s of every start.
    compileall.compile_dir(Path(__file__).parents[1], quiet=2)
