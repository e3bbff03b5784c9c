"""The check of plain words finds what CONTRIBUTING.md shows as hard to read, and nothing else."""

import re
from pathlib import Path

import pytest

from tests.tools.plain_words import findings

ROOT = Path(__file__).resolve().parents[1]
RULE = (ROOT / "CONTRIBUTING.md").read_text("utf-8").partition("## Plain words")[2]
EXAMPLES = re.findall(r"^([-+]) (.+)$", RULE.partition("```diff")[2].partition("```")[0], re.M)
HARD = [words for sign, words in EXAMPLES if sign == "-"]
PLAIN = [words for sign, words in EXAMPLES if sign == "+"]
SENTENCE = "This is said by whoever looks."


def lines(path: str, text: str) -> list[int]:
    """The lines of `text`, as a file of this name, that break a rule."""
    return [finding.line for finding in findings(path, text)]


@pytest.mark.parametrize("words", HARD)
def test_example_of_a_hard_sentence_is_found(words: str) -> None:
    assert lines("page.md", words)


@pytest.mark.parametrize(
    "words",
    [
        *PLAIN,
        "There is no device.",
        "It is no longer there, and no more than that.",
        "What is a roof?",
        "Choose who may enter.",
        "Run `roofline nobody` once.",
    ],
)
def test_plain_sentence_passes(words: str) -> None:
    assert lines("page.md", words) == []


@pytest.mark.parametrize(
    ("path", "text", "line"),
    [
        ("a.py", f'x = 1\n"""Title.\n\n{SENTENCE}\n"""\n', 4),
        (
            "a.py",
            'def f(x):\n    raise ValueError(f"{x} is said"\n        " by whoever looks")\n',
            2,
        ),
        ("a.py", "x = 1\n# This is said by\n# whoever looks.\n", 2),
        ("a.js", 'const a = "//";\n// This is said by\n// whoever looks.\n', 2),
        ("a.js", "x();\n/**\n * @param {string} name by whoever looks\n */\n", 3),
        ("a.js", 'x();\nshow("this is said by whoever looks");\n', 2),
        ("a.js", "show(`${name} is said by whoever looks`);\n", 1),
        ("a.html", f"<h1>Title</h1>\n<p class=x>{SENTENCE}</p>\n", 2),
        ("a.html", f'<p>\n<a title="{SENTENCE}">x</a></p>\n', 2),
        ("a.html", "<p>This is <b>said</b>\nby whoever looks.</p>\n", 1),
        ("a.md", f"# Title\n\n```\nwhoever\n```\n\n{SENTENCE}\n", 7),
        ("a.md", f"| a | b |\n|---|---|\n| c | {SENTENCE} |\n", 3),
        ("a.toml", f"x = 1  # {SENTENCE}\n", 1),
        ("a.toml", f'\nx = "{SENTENCE}"\n', 2),
        ("Makefile", f"run: ## {SENTENCE}\n", 1),
        ("a.json", f'{{\n"note": "{SENTENCE}"}}\n', 2),
    ],
)
def test_every_kind_of_text_is_read(path: str, text: str, line: int) -> None:
    assert lines(path, text) == [line]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.py", 'names = {"nobody": 1}\n'),
        ("a.js", 'const names = ["nobody"];\n'),
        ("a.md", "```\nnobody asks\n```\n"),
        ("a.html", "<script>/* nobody asks */</script>"),
        ("picture.png", "nobody asks"),
    ],
)
def test_names_and_code_are_not_sentences(path: str, text: str) -> None:
    assert lines(path, text) == []
