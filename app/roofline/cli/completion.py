"""`roofline completion`: a script by which a shell completes commands and options.

The script is made from the parsers, so it knows what this version of the program takes.
"""

import re
import shlex
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping

from roofline.cli.output import print_bytes
from roofline.cli.words import options_of
from roofline.devices.catalogue import parts

_CHOICES = re.compile(r"(--[a-z][\w-]*|-\w) \{([^}]+)\}")
_OF_DEVICES = {"--device", "--devices"}
_OWN_CHOICES = re.compile(r"\]\s+\{([^}]+)\}")


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
        cases.append(f"    {name},*) words={shlex.quote(' '.join(_words(parser)))} ;;")
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
        after, choices = f"'__fish_seen_subcommand_from {name}'", _choices(parser)
        for word in dict.fromkeys([*_words(parser), *(one for one in choices if one[0] == "-")]):
            kind = "-a" if word[0] != "-" else "-l" if word[1] == "-" else "-s"
            words = (
                f" -x -a {shlex.quote(choices[word])}" if kind != "-a" and word in choices else ""
            )
            lines.append(f"complete -c roofline -n {after} {kind} {word.lstrip('-')}{words}")
    return "\n".join([*lines, ""])


def _choices(parser: ArgumentParser) -> dict[str, str]:
    """The words that follow an option or an action, where only these do; devices by their ids."""
    found = _CHOICES.findall(" ".join(parser.format_help().split()))
    choices = {option: words.replace(",", " ") for option, words in found}
    devices = " ".join(part.id for part in parts())
    choices |= dict.fromkeys(_OF_DEVICES & {*options_of(parser)}, devices)
    for name, action in _actions(parser).items():
        choices |= {name: " ".join(_words(action)), **_choices(action)}
    return choices


def _words(parser: ArgumentParser) -> list[str]:
    """The options of a command, and before them the words of which it takes one first, as in
    `roofline completion bash`; those of its actions, too."""
    found = _OWN_CHOICES.search(parser.format_usage())
    actions = _actions(parser)
    words = [*actions, *(found[1].split(",") if found else ()), *options_of(parser)]
    return list(
        dict.fromkeys([*words, *(word for one in actions.values() for word in _words(one))])
    )


def _actions(parser: ArgumentParser) -> Mapping[str, ArgumentParser]:
    return parser.get_default("actions") or {}


_WRITERS: Mapping[str, Callable[[Mapping[str, tuple[str, ArgumentParser]]], str]] = {
    "bash": _bash,
    "zsh": _zsh,
    "fish": _fish,
}
