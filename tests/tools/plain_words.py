"""Plain words: finds sentences that are hard to read, in everything that a person reads here.

    python -m tests.tools.plain_words            # every file that git knows; status 1 on findings
    python -m tests.tools.plain_words README.md

The rule is in CONTRIBUTING.md, "Plain words". It reads messages, docstrings and comments of Python
and JavaScript, templates, Markdown, and the comments of set-up and deployment. The patterns are few
and certain: a sentence that they pass may still be a bad one.
"""

import ast
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# Written by others, generated, or text that is data for a test.
NOT_OURS = re.compile(
    r"^static/vendor/|_pb2\.pyi?$|^bench/README\.md$|^tests/fuzz/corpus/|^tests/golden/"
    r"|^sample_profiles/.*\.(json|csv|pb)$|^tests/storage/first_release/|lock(\.json)?$"
    r"|^tests/tools/plain_words\.py$|^tests/test_plain_words\.py$|^\.ci/uv\.txt$"
)


@dataclass(frozen=True, slots=True)
class Passage:
    """A run of words in a file: one comment, one message, one paragraph."""

    line: int
    words: str


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern that plain English does without, and what to write instead."""

    pattern: re.Pattern[str]
    instead: str


@dataclass(frozen=True, slots=True)
class Finding:
    """A passage that breaks a rule."""

    path: str
    line: int
    words: str
    instead: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: “{self.words}”: {self.instead}"


def _rule(pattern: str, instead: str) -> Rule:
    return Rule(re.compile(pattern, re.IGNORECASE), instead)


# A clause begins at the start of a passage, and after a full stop, a colon, a bracket or a dash.
_START = r"(?:^|[.!?:;(–|] )"
_VERB = (
    r"(?:is|are|was|were|has|have|had|may|can|must|will|would|does|do|asks?|looks?|knows?|wants?"
    r"|comes?|goes|enters?|runs?|reads?|holds?|uploaded|made|sent|sees|uses|forgets)"
)
_QUESTION = r"(?![^.;:|]*\?)"
RULES: tuple[Rule, ...] = (
    _rule(
        r"\bnobody(?:'s|’s)?\b|\bno one\b",
        "name the actor, or use the passive (“FLOPs were not measured”)",
    ),
    _rule(r"\bwho(?:m)?ever\b", "name the person: “the user”, “the operator”, “anyone who …”"),
    _rule(r"\bas ever\b", "write “as always”, or leave it out"),
    _rule(
        rf"{_START}whom?\b{_QUESTION}",
        "no clause with “who” as a subject or a title: “the user who …”, “access”",
    ),
    _rule(
        r"\b(?:by|to|than|from|for|of|with) who\b"
        rf"|\b(?:and|or|but|so|lets?|let in) whom? {_VERB}\b",
        "say which person: “the user who …”",
    ),
    _rule(
        rf"{_START}what (?:is|are|was|were|has|had|may|can)\b{_QUESTION}[^.;:|?]*"
        r" (?:is|are|was|were|goes|has|stays?|must|may|can|becomes?|counts?|needs?|gets?) ",
        "no clause with “what” as a subject: name the thing",
    ),
    _rule(
        r"(?<!there )\b(?:is|are|was|were|be) no (?!longer\b|more\b|less\b|fewer\b|later\b)\w",
        "write “is not a …” or “has no …”",
    ),
    _rule(r"\bbelieve[sd]?\b", "programs do not believe: “trusts”, “accepts”"),
)


def findings(path: str, text: str) -> Iterator[Finding]:
    """Every passage of the file `path` that breaks a rule, in order."""
    for passage in passages(path, text):
        words = " ".join(passage.words.split())
        for rule in RULES:
            found = rule.pattern.search(words)
            if found:
                begin = max(found.start() - 30, 0)
                yield Finding(path, passage.line, words[begin : found.end() + 50], rule.instead)


def passages(path: str, text: str) -> Iterator[Passage]:
    """What a person reads in the file `path`, in the order of the file."""
    reader = next((read for ending, read in _READERS.items() if path.endswith(ending)), None)
    name = path.rsplit("/", 1)[-1]
    if reader is None and (name in {"Makefile", "Containerfile"} or path.startswith(".ci/")):
        reader = _marked_lines
    return reader(text) if reader else iter(())


# ------------------------------------------------------------------------------------------- Python


# Strings are found so that a `#` in one begins no comment.
_PYTHON = re.compile(
    r"\"{3}(?:[^\"\\]|\\.|\"(?!\"\"))*\"{3}|'{3}(?:[^'\\]|\\.|'(?!''))*'{3}"
    r"|\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|#(?P<comment>[^\n]*)",
    re.DOTALL,
)


def _python(text: str) -> Iterator[Passage]:
    yield from _python_comments(text)
    nodes: list[object] = [ast.parse(text)]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.Constant):
            if isinstance(node.value, str):
                yield from _message(node.lineno, node.value)
        elif isinstance(node, ast.JoinedStr):
            yield from _message(node.lineno, "".join(map(_constant, node.values)))
        elif isinstance(node, ast.AST):
            nodes += vars(node).values()
        elif isinstance(node, list):
            nodes += node


def _constant(part: ast.expr) -> str:
    return str(part.value) if isinstance(part, ast.Constant) else "X"


def _message(line: int, value: str) -> Iterator[Passage]:
    """The paragraphs of a string, and none of it where it is one word: a name, not a sentence."""
    if " " in value.strip():
        yield from _markdown(value, line - 1)


def _python_comments(text: str) -> Iterator[Passage]:
    lines: dict[int, str] = {}
    line, counted = 1, 0
    for found in _PYTHON.finditer(text):
        if found["comment"] is not None:
            line += text.count("\n", counted, found.start())
            counted = found.start()
            lines[line] = found["comment"].lstrip("#: ")
    return _joined(lines)


def _joined(lines: dict[int, str]) -> Iterator[Passage]:
    """Comments of lines that follow each other, as one passage."""
    run: list[str] = []
    first = before = 0
    for line, words in sorted(lines.items()):
        if line != before + 1 and run:
            yield Passage(first, _plain(" ".join(run)))
            run = []
        if not run:
            first = line
        run.append(words)
        before = line
    if run:
        yield Passage(first, _plain(" ".join(run)))


# ------------------------------------------------------------------------------- Markdown and pages

_FENCE = re.compile(r"^( *)(```|~~~).*?^\1\2[^\n]*$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"``.+?``|`[^`]*`", re.DOTALL)
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")


def _plain(text: str) -> str:
    """Text without code, emphasis and addresses."""
    text = _LINK.sub(r"\1", _CODE.sub("X", text))
    return re.sub(r"\*\*|(?<!\w)[*_](?=\w)|(?<=\w)[*_](?!\w)", "", text)


def _blank(found: re.Match[str]) -> str:
    return "\n" * found[0].count("\n")


def _markdown(text: str, above: int = 0) -> Iterator[Passage]:
    """Paragraphs, list items, headings and table cells; `above` lines stand before the text."""
    paragraph: list[str] = []
    first = 1
    for number, line in enumerate([*_FENCE.sub(_blank, text).splitlines(), ""], 1):
        words = line.strip()
        starts_anew = not words or words[0] in "|#" or re.match(r"[-*+] |\d+\. |> ", words)
        if starts_anew and paragraph:
            yield Passage(above + first, _plain("\n".join(paragraph)))
            paragraph = []
        if words.startswith("|"):
            for cell in words.strip("|").split("|"):
                yield Passage(above + number, _plain(cell.strip()))
        elif words:
            first = first if paragraph else number
            paragraph.append(re.sub(r"^(?:[-*+>]|#+|\d+\.) +", "", words))


_INLINE = re.compile(r"</?(?:a|b|i|em|strong|code|kbd|span|small|abbr)\b[^>]*>", re.IGNORECASE)
_SPOKEN = re.compile(r"\b(?:title|aria-label|placeholder|alt|content|data-\w+)=\"([^\"]*)\"")


def _html(text: str) -> Iterator[Passage]:
    text = re.sub(r"<(script|style|svg)\b.*?</\1>", _blank, text, flags=re.DOTALL)
    text = re.sub(r"\{\{.*?\}\}", lambda found: "X" + _blank(found), text, flags=re.DOTALL)
    text = re.sub(r"\{%.*?%\}", _blank, text, flags=re.DOTALL)
    for number, line in enumerate(text.splitlines(), 1):
        for found in _SPOKEN.finditer(line):
            yield Passage(number, found[1])
    at = 1
    for piece in re.split(r"(<[^>]*>|\{#|#\})", _INLINE.sub(_blank, text)):
        if not piece.startswith("<") and piece.strip():
            begin = len(piece) - len(piece.lstrip())
            yield Passage(at + piece.count("\n", 0, begin), piece.strip())
        at += piece.count("\n")


# ------------------------------------------------------------------------------------ other sources

_SCRIPT = re.compile(
    r"(?P<block>/\*.*?\*/)|(?P<line>(?<![:\"'`])//[^\n]*)"
    r"|(?P<text>\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`)",
    re.DOTALL,
)


def _script(text: str) -> Iterator[Passage]:
    """Comments and strings of JavaScript, and the comments of style sheets."""
    lines: dict[int, str] = {}
    for found in _SCRIPT.finditer(text):
        line = text.count("\n", 0, found.start()) + 1
        if found["line"]:
            lines[line] = found["line"].strip("/ ")
        elif found["block"]:
            words = re.sub(r"^\s*\*+ ?", "", found["block"].strip("/* \n"), flags=re.MULTILINE)
            # A tag of JSDoc has its type and its name before the words.
            words = re.sub(r"^@\w+ (?:\{[^}\n]*\} )?\S*", "\n- ", words, flags=re.MULTILINE)
            yield from _markdown(words, line - 1)
        else:
            words = re.sub(r"\$\{[^}]*\}", "X", found["text"][1:-1])
            yield from _message(line, words.replace('\\"', '"').replace("\\'", "'"))
    yield from _joined(lines)


def _marked_lines(text: str) -> Iterator[Passage]:
    """Comments after `#`, and strings, of set-up, units and settings."""
    lines: dict[int, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        comment = re.search(r"(?:^|\s)##? ?(.*)", line)
        if comment:
            lines[number] = comment[1]
        for found in re.finditer(r'"([^"]*)"', line[: comment.start() if comment else None]):
            yield from _message(number, found[1])
    yield from _joined(lines)


def _json(text: str) -> Iterator[Passage]:
    for number, line in enumerate(text.splitlines(), 1):
        for found in re.finditer(r'"(?:[^"\\]|\\.)*"', line):
            yield from _message(number, str(json.loads(found[0])))


_READERS: dict[str, Callable[[str], Iterator[Passage]]] = {
    ".py": _python,
    ".md": _markdown,
    ".html": _html,
    ".js": _script,
    ".ts": _script,
    ".css": _script,
    ".toml": _marked_lines,
    ".service": _marked_lines,
    ".conf": _marked_lines,
    ".json": _json,
    ".proto": _script,
}


def tracked() -> list[str]:
    """The files of this repository that people write."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [path for path in listed.stdout.splitlines() if not NOT_OURS.search(path)]


def all_findings(paths: Iterable[str]) -> list[Finding]:
    """The findings in these files, which are named from the root of the repository."""
    existing = ((path, ROOT / path) for path in paths)
    return [
        finding
        for path, file in existing
        if file.is_file() and not file.is_symlink()
        for finding in findings(path, file.read_text("utf-8", errors="replace"))
    ]


def main(paths: Sequence[str]) -> int:
    """Prints the findings; 1 if there are any."""
    found = all_findings(paths or tracked())
    for finding in found:
        sys.stdout.write(f"{finding}\n")
    if found:
        sys.stdout.write(f"{len(found)} sentences to rewrite: CONTRIBUTING.md, “Plain words”.\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
