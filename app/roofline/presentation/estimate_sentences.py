"""Templates of the pages that say what an op or a model should cost. `sentences` fills them."""

from collections.abc import Mapping

ESTIMATE_SENTENCES: Mapping[str, str] = {
    "cost_bound": "{Bound} on {device}: at best {time}",
    "cost_measured": ", measured {time}",
    "cost_unknown": "The time on {device} is not known",
    "cost_work": "*{work}* over *{moved}* is {intensity}; the ridge is {ridge}. ",
    "cost_work_only": "*{work}* over *{moved}* is {intensity}. ",
    "cost_moves": "It does no FLOPs and moves *{moved}*. ",
    "cost_from": "It is bound by arithmetic from *{size}* {unit} on. ",
    "cost_never": "No number of {unit} makes arithmetic its bound. ",
    "cost_reaches": "The measured operation reaches *{share}* of the roof. ",
    "cost_below": "!The measured time is below this bound: !the shape, an element type or a peak "
    "is not what ran. ",
    "cost_saves": "At the roof its {count} {count|call|calls} would save {saving}. ",
    "cost_fused": "One kernel per op takes {time}: the fused one is *{ratio}* times as fast. ",
}
