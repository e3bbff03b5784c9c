"""Words of a command line that are not known: the likeliest one that was meant."""

import difflib
import re
from argparse import ArgumentParser
from collections.abc import Collection, Sequence

from roofline.errors import BadViewError

_OPTION = re.compile(r"(?<![\w-])--[a-z][\w-]*")


def options_of(parser: ArgumentParser) -> list[str]:
    """The long options of a command, as its help lists them."""
    return sorted(set(_OPTION.findall(parser.format_help())))


def unknown_command(word: str, known: Collection[str]) -> BadViewError:
    """The error for a first word that names no command."""
    return BadViewError(
        f"“{word}” is not a command.",
        remedy=f"{_meant(word, known)}`roofline --help` lists all commands.",
    )


def unknown_words(words: Sequence[str], command: str, parser: ArgumentParser) -> BadViewError:
    """The error for words that `command` does not take."""
    first = words[0].partition("=")[0]
    if not first.startswith("-"):
        return BadViewError(
            f"`roofline {command}` does not take “{first}”.",
            remedy=f"`roofline {command} --help` says what it takes.",
        )
    return BadViewError(
        f"`roofline {command}` has no option {first}.",
        remedy=f"{_meant(first, options_of(parser))}`roofline {command} --help` lists all options.",
    )


def _meant(word: str, known: Collection[str]) -> str:
    near = difflib.get_close_matches(word, known, n=1, cutoff=0.6)
    return f"Did you mean {near[0]}? " if near else ""
