"""The menu of subjects: what this page could show instead, from the page data."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from roofline.presentation.page_rows import Page
from roofline.presentation.quantities import duration

MOST_STEPS = 60  # bars of a menu that is still read


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectChoice:
    """One subject: `of` is its value in the address, empty for the one that the page opens with.

    `share` is its length as percent of the longest step; 0 for a kind, which has no bar.
    """

    of: str
    label: str
    time: str = ""
    share: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectMenu:
    """What all numbers of the page are of, and what else they could be of."""

    label: str
    kinds: Sequence[SubjectChoice]
    steps: Sequence[SubjectChoice]


def subject_menu(page: Page) -> SubjectMenu:
    """The phases of a server and the kinds that the profile has, and its first steps."""
    strip, serving = page["timeline"], page["serving"]
    steps = strip["steps"] if strip else []
    kinds = [
        SubjectChoice(of=one["id"], label=one["label"])
        for one in (serving["phases"] if serving else ())
    ]
    if steps:
        kinds.append(SubjectChoice(of="step", label="Step, mean of the complete ones"))
    if strip:
        kinds.append(SubjectChoice(of="capture", label="Capture, from the first operation"))
    if not serving and kinds:
        kinds[0] = replace(kinds[0], of="")
    times = [one["end_us"] - one["begin_us"] for one in steps]
    longest = max(times, default=1.0)
    bars = [
        SubjectChoice(
            of=f"step:{one['label']}",
            label=one["label"],
            time=duration(time),
            share=round(100 * time / longest),
        )
        for one, time in zip(steps[:MOST_STEPS], times, strict=False)
    ]
    return SubjectMenu(label=page["subject"]["label"], kinds=kinds, steps=bars)
