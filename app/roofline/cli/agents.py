"""`roofline mcp`: the tools for coding agents; `roofline skill`: what they read of them."""

import argparse
from pathlib import Path

from roofline.api import agents
from roofline.cli.output import print_bytes, write
from roofline.errors import ExtraMissingError

SKILL_FOLDER = Path(".claude/skills/roofline")


def add_mcp(parser: argparse.ArgumentParser) -> None:
    """The arguments of `roofline mcp`."""
    parser.description = (
        "Serve tools for a coding agent by the Model Context Protocol, on standard input and"
        " output: what bounds a profile, how sure that is, what changed. See docs/agents.md."
    )
    parser.add_argument(
        "folders", nargs="*", type=Path, metavar="FOLDER", help="where captures are (.)"
    )
    parser.add_argument(
        "--allow-capture",
        action="append",
        default=[],
        metavar="NET",
        help="networks whose programs may be captured, beside this machine's own; repeatable",
    )
    parser.set_defaults(run=_mcp)


def add_skill(parser: argparse.ArgumentParser) -> None:
    """The arguments of `roofline skill`."""
    parser.description = "Print what a coding agent should know of Roofline, as a skill file."
    parser.add_argument(
        "--install", action="store_true", help=f"write it to {SKILL_FOLDER}/SKILL.md instead"
    )
    parser.add_argument("--to", type=Path, metavar="FOLDER", help="write it to this folder instead")
    parser.set_defaults(run=_skill)


def _skill(given: argparse.Namespace) -> None:
    text = Path(agents.__file__).with_name("skill.md").read_bytes()
    folder = given.to or (SKILL_FOLDER if given.install else None)
    if folder is None:
        print_bytes(text)
        return
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "SKILL.md"
    write(path, text)
    print_bytes(f"Wrote {path}.\n".encode())


def _mcp(given: argparse.Namespace) -> None:
    from roofline.api.agents.folders import Folders, networks  # loads slowly, as do the tools

    allowed = networks(given.allow_capture)
    try:
        from roofline.api.agents.server import server_of_folders
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "mcp":
            raise
        raise ExtraMissingError.of("mcp", agents.LIBRARY) from error
    server_of_folders(Folders(given.folders or [Path()], allowed)).run("stdio")
