"""Short names of operations beside their marks; equal ones with what tells them apart."""

from collections import Counter, defaultdict
from collections.abc import Sequence

_ELLIPSIS = "…"
_END_SHARE = 0.4  # of a cut name: what tells siblings apart is at the end
_SHORTEST = 8  # of a name beside its chips


def middle_cut(text: str, width: int) -> str:
    """A text in at most so many characters; the middle is left out."""
    if len(text) <= width:
        return text
    end = int((width - 1) * _END_SHARE)
    return f"{text[: width - 1 - end]}{_ELLIPSIS}{text[len(text) - end :]}"


def told_apart(names: Sequence[tuple[str, Sequence[str]]], width: int) -> list[str]:
    """Short names with their chips, in about `width` characters.

    Twins have the chips that not all of them have, else a number. A chip is never cut: half a shape
    would be another shape.
    """
    alike: dict[str, list[Sequence[str]]] = defaultdict(list)
    for short, chips in names:
        alike[short].append(chips)
    met: Counter[str] = Counter()
    result = []
    for short, chips in names:
        own = " ".join(chip for chip in chips if not all(chip in twin for twin in alike[short]))
        cut = middle_cut(short, max(width - len(own), _SHORTEST))
        text = f"{cut} {own}" if own else cut
        met[text] += 1
        result.append(f"{text} {met[text]}" if met[text] > 1 else text)
    return result
