"""Every sentence about numbers once, as a template; server and browser fill the same ones.

A template is text with slots: `{share}` is filled by name, `{Bound}` with a capital first letter,
`{count|op runs|ops run}` by a word that follows the number in the slot `count`. `*…*` is strong,
`!…!` a caution. Filling gives segments: pieces of text and numbers with their unit, cut where the
style changes. Numbers stay raw until they are shown, so that each language has one format for them
(`quantities`, and `text/format.js` in the browser).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, NotRequired, TypedDict

from roofline.analysis.causes import WHY_ABOVE
from roofline.presentation.quantities import quantity
from roofline.presentation.sentence_texts import (
    CHECK_SENTENCES,
    ESTIMATE_SENTENCES,
    GOAL_SENTENCES,
    VERDICT_SENTENCES,
)

SENTENCES: Mapping[str, str] = {
    # Instances of one module, of which one may take longer.
    "layers_even": "{count} {name}, {least} to {most} each, {share} of the time: none stands out.",
    "layers_other": "{count} {name}, {least} to {most} each, {share} of the time.",
    "layers_slow": "{count} {name}, {least} to {most} each, {share} of the time: *{slow} takes "
    "{ratio} times the median*.",
    "layers_hidden": "Layers cannot be told apart: record with `with_stack=True`.",
    # Below the headline of a profile without most of its kernels, of a server, and without times.
    "not_run_why": "Its kernels were recorded into a graph, or the profiler dropped them. The "
    "trace of a graph’s capture tells which operators run in its replays: upload both together.",
    "serving_rate": "*{rate}* tokens/s, *{each}* per output token of a sequence.",
    "of_predictions": "Each operation stands at its roof: this is the best rate that the device "
    "allows for its work. There is no total.",
    "of_points": "Each point has the rate and the intensity that the file states. There is no "
    "total.",
    "of_both": "{points} of {every} operations have the rates that the file states; the others "
    "stand at their roof, the best rate for their work. There is no total.",
    # One op, on its card and in the drawer.
    "op_idle": "Nothing ran: the device waited.",
    "op_unknown": "Neither FLOPs nor bytes are known, so it has no place on a roofline.",
    "op_transfer": "It moves data over a link. The link binds it, not a memory. ",
    "op_predicted": "Its time was not measured: at best it reaches the {roof} roof, as shown.",
    "op_predicted_without_roof": "Its time was not measured, and no roof is known that says what "
    "it could reach.",
    "op_flops_unknown": "Its FLOPs are not known, so its bound is unknown.",
    "op_bytes_unknown": "Its bytes are not known, so its bound is unknown.",
    "op_no_peak": "No peak of the unit or memory that it uses is known, so its distance to a roof "
    "is unknown.",
    "op_unit_without_peak": "The peak of {unit} is unknown, and most of its FLOPs run there, so "
    "its bound is unknown.",
    "op_no_flops": "Does no FLOPs. ",
    "op_light": "Its FLOPs are not known, but few. ",
    "op_place": "{share} of the {roof} roof.",
    "op_saving": " At the roof it would save {saving}.",
    "op_stop": " That is what this roof sustains, so stop here: only less work or other hardware "
    "helps.",
    "op_above": "{share} of the {roof} peak. ",
    "op_clocks": "At best {t_min}, if all of it overlaps; {t_max} if nothing does. ",
    "op_clocks_one": "Its work needs {t_min} at that peak. ",
    "op_clocks_between": "The measured time lies between. ",
    "op_clocks_below": "The measured time is less than that. ",
    "op_clocks_above": "It took {above} longer than that: latency, or work that was not counted. ",
    "op_clocks_ridge": "At the ridge: compute and memory need about as long. ",
    # Why an op seems to run above its roof, by cause.
    **{f"above_{cause}": why for cause, why in WHY_ABOVE.items()},
    # Under other peaks than the profile's.
    "whatif_device": "With the peaks of {device}",
    "whatif_and": " and ",
    "whatif_with": " with ",
    "whatif_edits": "With ",
    "whatif_peak": "{name} at *{peak}*",
    "whatif_many_peaks": "*{count}* peaks set by you",
    "whatif_placed": ", the program is {bound} at *{share}* of the roof",
    "whatif_of_known": ", of what is known",
    "whatif_unplaced": ", the bound of the program is unknown",
    "whatif_same_bound": " instead of {share}",
    "whatif_other_bound": "; by the profile’s own peaks it is {bound} at {share}",
    "whatif_no_change": "No operation changes what binds it. ",
    "whatif_changes": "*{count} {count|operation|operations}*, {share} of the time, "
    "{count|is|are} bound by something else. ",
    "whatif_saving": "Reaching every roof would save {saving} per {core} (own peaks: {own}). ",
    "whatif_first_peaks": "The profile has no peaks of its own. Reaching every roof would save "
    "*{saving}* per {core}.",
    "whatif_stay": "Measured times and rates stay; only the roofs move.",
    # Two runs against each other. `per` is "a step", "an execution", "in the capture".
    "series": "{count} {count|run|runs} of {name}: {time} {per} in the newest",
    "series_roof": ", at {share} of the roof",
    "series_change": "{span}, {per} takes {share} {how}: {after} instead of {before} ({new} "
    "{new|run|runs} against {old} before). ",
    "series_none": "No run of {name} is ready",
    "change_none": "No change: {total} {per} on both sides",
    "change_within": "No change beyond the noise: {sign}{change} of {total} {per}",
    "change_to": "{who} takes {change} {how} {per}: {after} instead of {before}",
    "change_as_long": "{who} takes as long as {other}: {after} {per}",
    "change_apart": "These captures have too little in common for a comparison: {total} {per} "
    "became {after}",
    "change_no_cores": "These captures cannot be compared: one file does not say of how many cores "
    "its times are",
    "change_no_time": "These captures cannot be compared: no operation of one of them has a time",
    "change_kinds": "{first} against {second}",
    "change_largest": "{First} takes {change} {how}{where}{others}. ",
    "change_spread_out": "The change is spread out: {first} takes {change} {how}{where}{others}. ",
    "change_next": ", {name} {change}",
    "change_new": "{name} is {new}{places}: {change}{where}. ",
    "change_noise": "No module changed by more than captures of one program differ. ",
    "change_term": "{term} *{sign}{change}*{between}. ",
    "change_busy": "{unit} is busy {before} → {after} of the time. ",
    "change_beyond": "Beyond the noise. ",
    "change_tested": "{old} + {new} captures: between {low} and {high} of the time before; chance "
    "{chance} if nothing changed. ",
    "change_one_each": "One capture of each, so it may be noise. Two more of each would tell. ",
    "change_untested": "{old} and {new} captures, so it may be noise. Three of each would tell. ",
    "change_spread": "Half of the steps of A take {low} to {high}. ",
    "change_in_spread": "The change is smaller than steps of A differ: half take {low} to {high}. ",
    "change_only": "{share} of the time has no partner in the other run. ",
    # Advice: savings, the plan. The words of each rule stand in `advice.rules`.
    "advice_saves": "−{saving}",
    "advice_waited": "measured, up to −{saving}",
    "advice_instead": "or −{saving} instead",
    "advice_assumed": "would save {saving} if {condition}",
    "advice_changes": " · changes results",
    "advice_all": "All {many}: about {after}{since}. ",
    "advice_some": "{many} of these together: about {after}{since}. ",
    "advice_both": "Both: about {after}{since}. ",
    "advice_one": "With it: about {after}{since}. ",
    "advice_since_fusing": ", since fusing removes work",
    "advice_since": ", since that removes work",
    "advice_no_time": "No time was measured, so there is none to save. ",
    "advice_no_peaks": "No peak of this device is known. With peaks each operation has a least "
    "time, and this list says what to do first: choose the device, or enter its peaks. ",
    "advice_at_roofs": "Only less work or other hardware helps. ",
    "advice_nothing": "No finding saves 1 % of it. ",
    "advice_left_out": "{count} smaller {count|one|ones}. ",
    "advice_at_roof": "{saving} is in operations at their roof already: only less work helps "
    "there. ",
    "advice_waiting": "{count} {count|finding waits|findings wait} until {what} {ops|has|have} "
    "possible numbers",
    "advice_note": "To judge the other {share}: {how}.",
    "advice_verify": "Run `{command}`: the term “{term}” should change by {sign}{change}.",
    "advice_verify_flag": "Run `{command}` after a new capture.",
    "advice_limit": "The next limit is {roof}.",
    "advice_limit_link": "The busiest link needs the time that is left.",
    "advice_gain": "*{most} times* as much in the same time",
    "advice_verify_option": "Measure it on a run with this change; the work is not the same, so "
    "`{command}` shows it as another program.",
    "advice_correction": "{count} earlier {count|prediction|predictions} of this rule on this "
    "device reached {share} of what was said (quartiles {least} to {most}); without them it "
    "would be {saving}.",
    **ESTIMATE_SENTENCES,
    **CHECK_SENTENCES,
    **GOAL_SENTENCES,
    **VERDICT_SENTENCES,
    # A run of many hosts.
    "hosts_read": "{read} of {hosts} {hosts|host|hosts} read",
    "hosts_working": ", {count} of them without work on an accelerator",
    "hosts_elsewhere": ", {count} of them with another program ({names}), which {count|takes|take} "
    "no part",
    "hosts_few": ". A verdict needs at least {fewest}",
    "hosts_unreadable": ". Too few for a verdict: it needs {share} of them",
    "hosts_several_captures": ". No verdict: a rank has several files, which are of several "
    "captures or runs. Name the files of one",
    "hosts_several_programs": ". No verdict: hosts run several programs, which are not held "
    "against each other",
    "hosts_even": ". No host works longer than the others",
    "hosts_late": ". No host works longer than the others, but they wait for {host} in "
    "collectives: it comes later by {share} of their work. Its input or its own program was late",
    "hosts_cost": ". Hosts that hold the others up cost at most {share} of the time",
    "hosts_next": ". ",
    "hosts_end": ".",
    "hosts_slow_chip": "{host} takes {share} more time for the same work ({chips})",
    "hosts_slow_host": "{host} takes {share} more time for the same work, on all of its chips",
    "hosts_more_work": "{host} was given more work: per FLOP and byte it is not slow",
    "hosts_straggler": "{host} works longer than the others; whether it is slow or was given more "
    "is unknown",
    "hosts_intermittent": "{host} is slow in {slow} of {steps} {steps|step|steps}",
    # The page of a run.
    "run_slow_chip": "{host} is slow: *{share}* more time for the same work",
    "run_slow_host": "{host} is slow on all of its chips: *{share}* more time for the same work",
    "run_more_work": "{host} was given more work: per FLOP and byte it is not slow",
    "run_straggler": "{host} works longer than the others: slow, or given more work, is unknown",
    "run_intermittent": "{host} is slow now and then: in {slow} of {steps} {steps|step|steps}",
    "run_even": "No host works longer than the others",
    "run_late": "Hosts wait for {host}, which does not work longer: its input or its own program "
    "was late, by *{share}* of their work",
    "run_few": "No verdict: it needs at least {fewest} hosts",
    "run_unreadable": "No verdict: it needs {share} of the hosts",
    "run_several_captures": "No verdict: a rank has several files, of several captures or runs",
    "run_several_programs": "No verdict: hosts run several programs",
    "run_cost": "Hosts that hold the others up cost at most *{share}* of the time",
    "run_gain": ": putting {host} right brings *{share}*",
    "run_more": ", and {count} more {count|host stands|hosts stand} out",
    "run_end": ". ",
    "run_unread": "!{count} {count|host|hosts} could not be read.!",
    "run_elsewhere": "!{names} ran another program and {count|takes|take} no part.! ",
    "run_arriving": "So far {read} {read|host has|hosts have} been read",
    "run_arriving_of": "So far {read} of {hosts} hosts have been read",
    "run_spread": "Their spread costs at most *{share}* of the time. ",
    "run_arriving_lead": "They are spread over the run. Hosts are judged when all are there; the "
    "order in which they arrive changes no number.",
}

# Sentences that the browser fills: about one op, and under other peaks.
_IN_BROWSER = ("op_", "above_", "whatif_")

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
            return [Segment(kind=kind, text=filling)]
        case list():
            return filling
    return [_capitalised(filling) if part.get("is_first") else filling]


def _capitalised(segment: Segment) -> Segment:
    """`segment` at the start of a sentence."""
    copy = segment.copy()
    copy["text"] = copy["text"][:1].upper() + copy["text"][1:]
    return copy


def plain_text(sentence: Sequence[Segment]) -> str:
    """Segments as text, numbers written out."""
    return "".join(
        quantity(one["value"], one["unit"]) if "value" in one else one["text"] for one in sentence
    )
