"""The words of "Time to gain": of each block, of the equation under it, and of the whole chart."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from roofline.analysis.records import RooflineAnalysis
from roofline.analysis.roofline import COMPUTE_BOUND, UNKNOWN_BOUND
from roofline.analysis.subjects.records import Kind, Subject
from roofline.figures.gain import Block, Part, Texture
from roofline.presentation.goal import WORTH_A_WORD, is_all_idle, wait_words
from roofline.presentation.goal_numbers import MINUS, Scale, whole_percent
from roofline.presentation.quantities import count, duration

if TYPE_CHECKING:
    from roofline.presentation.charts.gain_records import GainTerm

NO_NAME = "(no name)"
_LINKS = "exposed"


def can_judge(subject: Subject) -> bool:
    """False where no operation can be judged: blocks are then times alone."""
    return subject.has_ceilings and subject.kind is not Kind.HOST


def title_of(subject: Subject, *, is_judged: bool) -> str:
    """The heading of the chart."""
    if subject.kind is Kind.HOST:
        return "Time of the host"
    return "Time to gain" if is_judged else "Time"


def name_of(block: Block, subject: Subject, name: str) -> str:
    """What a block is called; `name` is the short one of its only operation, or of its group."""
    if block.part is Part.WAIT:
        return wait_words(subject, block.key)
    if name:
        return name
    if len(block.ops) == 1:
        return NO_NAME
    return f"{count(len(block.ops))} operations" if block.ops else "of no operation"


def lines_of(block: Block, analysis: RooflineAnalysis, subject: Subject) -> list[str]:
    """What the card of a block says below its name."""
    share = whole_percent(block.time_us / subject.time_us)
    lines = [f"{duration(block.time_us)}, {share} of the time"]
    match block.part:
        case Part.WORK:
            lines.append(_of_roof(block, analysis))
        case Part.WAIT if block.needed_us > 0:
            lines.append(f"{duration(block.needed_us)} of it stay, {_to_gain(block)}")
        case Part.WAIT:
            lines.append(_to_gain(block))
        case Part.UNKNOWN:
            lines.append("cost not known")
        case Part.IMPOSSIBLE:
            lines.append("more work than its time allows")
    if len(block.ops) == 1 and (calls := float(subject.ops.calls[block.ops[0]])) > 0:
        lines.append(f"{_calls(calls)}")
    return lines


def _of_roof(block: Block, analysis: RooflineAnalysis) -> str:
    share = whole_percent(block.needed_us / block.time_us)
    busy = ""
    if block.wasted_us > 0:
        busy = f", busy {whole_percent((block.needed_us + block.wasted_us) / block.time_us)}"
    codes = analysis.ops.measures.bound[[*block.ops]]
    code = int(codes[0]) if (codes == codes[0]).all() else UNKNOWN_BOUND
    roof = {UNKNOWN_BOUND: "", COMPUTE_BOUND: "compute "}.get(code)
    roof = f"{analysis.bound_label(code)} " if roof is None else roof
    return f"{share} of the {roof}roof{busy}, {_to_gain(block)}"


def _to_gain(block: Block) -> str:
    return f"{duration(block.gain_us)} to gain" if block.gain_us > 0 else "nothing to gain"


def _calls(calls: float) -> str:
    number = count(calls) if calls >= 10 or calls == int(calls) else f"{calls:.1f}"
    return f"{number} call" if number == "1" else f"{number} calls"


def label_amount(block: Block) -> str:
    """The number of a block's label: what it can gain, or how long it takes."""
    if block.gain_us > 0:
        return f"{MINUS}{duration(block.gain_us)}"
    return duration(block.time_us)


# ---------------------------------------------------------------------------------- the equation


def equation_of(subject: Subject) -> "list[GainTerm]":
    """The parts of the time; what prints as 0 is left out. Roundings are in the part to gain.

    Where little is to gain they are in the largest part that no line of the headline says.
    """
    scale = Scale.of(subject.time_us)
    parts = [one for one in _parts(subject) if float(_printed(scale, one["time_us"]))]
    if not parts:
        return []
    step = 10**scale.decimals
    steps = [round(one["time_us"] / scale.us * step) for one in parts]
    gains = [k for k, one in enumerate(parts) if one["part"] == "below_roof"]
    unsaid = [k for k, one in enumerate(parts) if not _is_said(subject, one)]
    large = [[k for k in some if steps[k] > len(parts)] for some in (gains, unsaid)]
    taken = next(filter(None, large), range(len(parts)))
    largest = max(taken, key=lambda k: parts[k]["time_us"])
    steps[largest] += round(float(_printed(scale, subject.time_us)) * step) - sum(steps)
    for one, number in zip(parts, steps, strict=True):
        one["amount"] = scale.number(number / step * scale.us)
    return parts


def _is_said(subject: Subject, one: "GainTerm") -> bool:
    """True for a part whose number the headline has, or a line below it."""
    if one["texture"] is Texture.WAIT:
        return one["time_us"] >= WORTH_A_WORD * subject.time_us
    return one["part"] == "unknown"


def _printed(scale: Scale, time_us: float) -> str:
    return scale.number(time_us).replace(",", "")


def _parts(subject: Subject) -> "Iterator[GainTerm]":
    parts = subject.parts

    def term(part: str, texture: Texture, label: str, time_us: float) -> "GainTerm":
        return {"part": part, "texture": texture, "amount": "", "label": label, "time_us": time_us}

    if can_judge(subject):
        # No filter: the operations would be those of the part to gain.
        yield term("", Texture.NEED, "at its roofs", parts.needed - subject.assumed_us)
        # Counters say that a unit was busy, and not with how much useful work.
        yield term("", Texture.NEED, "busy, useful work not counted", subject.assumed_us)
        yield term("below_roof", Texture.GAP, "to gain", parts.to_gain)
        yield term("unknown", Texture.UNKNOWN, "cost not known", parts.unknown)
        yield term("impossible", Texture.IMPOSSIBLE, "impossible numbers", parts.impossible)
    else:
        yield term("", Texture.PLAIN, "of operations", parts.work)
    link = f"{_LINKS}.{next(iter(parts.links))}" if len(parts.links) == 1 else _LINKS
    filters = {"links": link, "transfers": "exposed_transfer.host", "input": "infeed_outfeed"}
    for key, time_us in parts.waits.items():
        found = term(filters.get(key, ""), Texture.WAIT, wait_words(subject, key), time_us)
        is_idle = is_all_idle(subject, key)
        yield {**found, "idle_ratio": subject.idle_ratio or 0.0} if is_idle else found


def alt_of(subject: Subject, blocks: Sequence[Block], names: Sequence[str], title: str) -> str:
    """The chart for those who do not see it: its largest blocks, which have the first `names`."""
    largest = [
        f"{name} {label_amount(block)}" for name, block in zip(names, blocks[:3], strict=False)
    ]
    return f"{title}: {duration(subject.time_us)} in {count(len(blocks))} blocks. " + (
        f"First: {', '.join(largest)}." if largest else ""
    )
