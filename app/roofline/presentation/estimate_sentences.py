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
    # A step of a language model.
    "model_decode": "{time} a token, {rate} tokens/s on {device}: {bound}",
    "model_prefill": "{time} to the first token, {rate} tokens/s on {device}: {bound}",
    "model_mixed": "{time} a step, {rate} tokens/s on {device}: {bound}",
    "model_train": "{time} a step, {rate} tokens/s on {device}: {bound}",
    "model_unknown": "The time of a step on {device} is not known",
    "model_moves": "*{name}*, {load}: {work} and {moved} a step, {share} of the bytes weights. ",
    "model_fits": "Needs {memory} of {capacity}. ",
    "model_full": "!Needs {memory}, the part has {capacity}.! ",
    "model_memory": "Needs {memory}. ",
    "model_context": "Beyond a context of *{size}* tokens no batch makes a step compute-bound. ",
    "model_batch": "Products with weights are compute-bound from batch *{least_batch}* on. ",
    "model_price": "*{per_dollar}* tokens per dollar. ",
    "over_products": "Products take *{ratio}* times their bound; the model explains {known} of the "
    "busy time",
    "over_nothing": "No product of this run has the work of one of the model",
    "over_lead": "{count} {count|step|steps} of {time} measured against {least}; {flop} of the "
    "matrix FLOPs are in ops that the model has. ",
    # A profile with other number formats.
    "explore_as_it_ran": "{total} {per} as it ran",
    "explore_changed": "{total} {per} becomes {time}: saves {saving}",
    "explore_moved": "Bytes become *{share}* of those before, and memory binds *{known}* of the "
    "time of known cost, before {before}. ",
    "explore_kept": "{rest} of the time is that of chosen operations whose tensors or cost are not "
    "known, or that do not change: it keeps its length. ",
    "explore_rows": "Arithmetic binds products from *{size}* rows on, before from {least_batch}. ",
    "explore_choose": "Choose what tensors are stored in, what products are computed in, or both.",
}
