"""Every sentence about numbers once, as a template in `sentences.json`, by what it is about.

Server and browser fill the same ones. A template is text with slots: `{share}` is filled by name,
`{Bound}` with a capital first letter, `{count|op runs|ops run}` by a word that follows the number
in the slot `count`. `*…*` is strong, `!…!` a caution. Filling gives segments: pieces of text and
numbers with their unit, cut where the style changes. Numbers stay raw until they are shown, so that
each language has one format for them (`quantities`, and `text/format.js` in the browser).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, NotRequired, TypedDict

from roofline.analysis.causes import WHY_ABOVE
from roofline.model.plain_data import read_beside
from roofline.presentation.quantities import quantity

_SECTIONS = read_beside(__file__, "sentences.json")
_SECTIONS["Why an op seems to run above its roof: `analysis.causes` has the sentences."] = {
    f"above_{cause}": why for cause, why in WHY_ABOVE.items()
}
SENTENCES: Mapping[str, str] = {
    name: text for section in _SECTIONS.values() for name, text in section.items()
}

# Sentences that the browser fills: about one op, and under other peaks.
_IN_BROWSER = ("op_", "above_")

_FROM_THE_RIGHT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")

Kind = Literal["plain", "strong", "caution", "bound", "link"]


class Segment(TypedDict):
    """A piece of a sentence: `text`, or a raw `value` with its `unit`.

    `token` is the colour of a bound, `filter` the view state that a link sets. A number that a
    headline writes has its kind (`quantity`, "length" or "floor") and its `raw` value, in us or as
    a ratio.
    """

    kind: Kind
    text: NotRequired[str]
    value: NotRequired[float]
    unit: NotRequired[str]
    token: NotRequired[str]
    filter: NotRequired[Mapping[str, object]]
    quantity: NotRequired[str]
    raw: NotRequired[float]


Sentence = list[Segment]


@dataclass(frozen=True, slots=True)
class Number:
    """A raw number for a slot; `unit` is one of the page data's units."""

    value: float
    unit: str


Filling = str | Number | Segment | Sentence


def ratio(value: float) -> Number:
    """A share, for a slot."""
    return Number(value, "ratio")


def plain(text: str) -> Segment:
    """A piece of text."""
    return Segment(kind="plain", text=text)


class Styled(TypedDict):
    """A part of a template that is not plain text: a `text`, or a `slot` to be filled.

    `one` and `many` are words that follow the count in that slot, `is_first` says that the filling
    starts with a capital letter.
    """

    kind: Kind
    text: NotRequired[str]
    slot: NotRequired[str]
    is_first: NotRequired[bool]
    one: NotRequired[str]
    many: NotRequired[str]


Part = str | Styled

_STYLES: dict[str, Kind] = {"*": "strong", "!": "caution"}
_STYLED = re.compile(r"\*([^*]*)\*|!([^!]*)!")
_SLOT = re.compile(r"\{(\w+)(?:\|([^|}]*)\|([^|}]*))?\}")


@cache
def parts(template: str) -> tuple[Part, ...]:
    """A template cut into texts and slots."""
    found, end = list[Part](), 0
    for match in _STYLED.finditer(template):
        found += _cut(template[end : match.start()], "plain")
        found += _cut(match[1] or match[2], _STYLES[match[0][0]])
        end = match.end()
    return (*found, *_cut(template[end:], "plain"))


def _cut(text: str, kind: Kind) -> list[Part]:
    found, end = list[Part](), 0
    for match in _SLOT.finditer(text):
        found += _text(text[end : match.start()], kind)
        found.append(_slot(match, kind))
        end = match.end()
    return [*found, *_text(text[end:], kind)]


def _text(text: str, kind: Kind) -> list[Part]:
    if not text:
        return []
    return [text if kind == "plain" else Styled(kind=kind, text=text)]


def _slot(match: re.Match[str], kind: Kind) -> Styled:
    name, one, many = match.groups()
    slot = Styled(kind=kind, slot=name.lower())
    if name[0].isupper():
        slot["is_first"] = True
    if one is not None:
        slot["one"], slot["many"] = one, many
    return slot


def for_browser() -> dict[str, tuple[Part, ...]]:
    """The templates that the browser fills itself, cut into parts."""
    return {
        name: parts(template)
        for name, template in SENTENCES.items()
        if name.startswith(_IN_BROWSER)
    }


def say(sentence: str, **fillings: Filling) -> Sentence:
    """The template `sentence` (an id of `SENTENCES`) filled: its segments."""
    return fill(SENTENCES[sentence], fillings)


def fill(template: str, fillings: Mapping[str, Filling]) -> Sentence:
    """A template filled: its segments."""
    return [segment for part in parts(template) for segment in _filled(part, fillings)]


def _filled(part: Part, fillings: Mapping[str, Filling]) -> Sentence:
    if isinstance(part, str):
        return [Segment(kind="plain", text=part)]
    if "text" in part:
        return [Segment(kind=part["kind"], text=part["text"])]
    filling, kind = fillings[part["slot"]], part["kind"]
    match filling:
        case Number(value, unit):
            if "one" in part:
                return [Segment(kind=kind, text=part["one"] if value == 1 else part["many"])]
            return [Segment(kind=kind, value=value, unit=unit)]
        case str():
            return [Segment(kind=kind, text=_isolated(filling))]
        case list():
            return filling
    return [_capitalised(filling) if part.get("is_first") else filling]


def _isolated(name: str) -> str:
    """A name that is read from right to left, so marked that it leaves the rest in its order."""
    return f"\u2068{name}\u2069" if _FROM_THE_RIGHT.search(name) else name


def _capitalised(segment: Segment) -> Segment:
    """`segment` at the start of a sentence."""
    copy = segment.copy()
    copy["text"] = copy["text"][:1].upper() + copy["text"][1:]
    return copy


def next_to(sentence: Sentence) -> Sentence:
    """`sentence` with a space before it, for the end of another; nothing where it is empty."""
    return [Segment(kind="plain", text=" "), *sentence] if sentence else []


def plain_text(sentence: Sequence[Segment]) -> str:
    """Segments as text, numbers written out."""
    return "".join(
        quantity(one["value"], one["unit"]) if "value" in one else one["text"] for one in sentence
    )
