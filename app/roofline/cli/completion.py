"""`roofline completion`: a script by which a shell completes commands and options.

The script is made from the parsers, so it knows what this version of the program takes.
"""

import re
import shlex
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping

from roofline.cli.output import print_bytes
from roofline.cli.words import options_of

_CHOICES = re.compile(r"(--[a-z][\w-]*|-\w) \{([^}]+)\}")
_OWN_CHOICES = re.compile(r"usage: [\w ]*(?:\[-h\] )?\{([^}]+)\}")


def add_completion(parser: ArgumentParser) -> None:
    """The arguments of `roofline completion`."""
    parser.description = (
        'Print a script for your shell. For bash: eval "$(roofline completion bash)" in ~/.bashrc;'
        ' zsh: eval "$(roofline completion zsh)" in ~/.zshrc; fish: roofline completion fish >'
        " ~/.config/fish/completions/roofline.fish."
    )
    parser.add_argument("shell", choices=tuple(_WRITERS))
    parser.set_defaults(run=_completion)


def _completion(given: Namespace) -> None:
    from roofline.cli.main import all_commands

    print_bytes(_WRITERS[given.shell](all_commands()).encode())


def _bash(commands: Mapping[str, tuple[str, ArgumentParser]]) -> str:
    cases = []
    for name, (_, parser) in commands.items():
        cases += [
            f"    {name},{option}) words={shlex.quote(words)} ;;"
            for option, words in _choices(parser).items()
        ]
        words = " ".join([*_own_choices(parser), *options_of(parser)])
        cases.append(f"    {name},*) words={shlex.quote(words)} ;;")
    return "\n".join(
        [
            "_roofline() {",
            '  local current="${COMP_WORDS[COMP_CWORD]}" words=""',
            '  case "${COMP_WORDS[1]},${COMP_WORDS[COMP_CWORD-1]}" in',
            *cases,
            "  esac",
            f'  if [ "$COMP_CWORD" = 1 ]; then words={shlex.quote(" ".join(commands))}; fi',
            '  COMPREPLY=($(compgen -W "$words" -- "$current"))',
            "}",
            "complete -o default -F _roofline roofline",
            "",
        ]
    )


def _zsh(commands: Mapping[str, tuple[str, ArgumentParser]]) -> str:
    return f"autoload -U +X bashcompinit && bashcompinit\n{_bash(commands)}"


def _fish(commands: Mapping[str, tuple[str, ArgumentParser]]) -> str:
    lines = []
    for name, (said, parser) in commands.items():
        lines.append(
            f"complete -c roofline -n __fish_use_subcommand -a {name} -d {shlex.quote(said)}"
        )
        choices = _choices(parser)
        for option in options_of(parser):
            words = f" -x -a {shlex.quote(choices[option])}" if option in choices else ""
            after = f"'__fish_seen_subcommand_from {name}'"
            lines.append(f"complete -c roofline -n {after} -l {option[2:]}{words}")
    return "\n".join([*lines, ""])


def _choices(parser: ArgumentParser) -> dict[str, str]:
    """The words that an option takes, where it takes only these."""
    found = _CHOICES.findall(" ".join(parser.format_help().split()))
    return {option: words.replace(",", " ") for option, words in found}


def _own_choices(parser: ArgumentParser) -> list[str]:
    """The words of which a command takes one first, as in `roofline completion bash`."""
    found = _OWN_CHOICES.match(parser.format_usage())
    return found[1].split(",") if found else []


_WRITERS: Mapping[str, Callable[[Mapping[str, tuple[str, ArgumentParser]]], str]] = {
    "bash": _bash,
    "zsh": _zsh,
    "fish": _fish,
}
