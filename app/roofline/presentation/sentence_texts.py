"""Templates of sentences: estimates, goals, checks of the model. `sentences` fills them."""

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
    "request_both": "Prefill is *{prefill}*: {first} to the first token; decode is *{decode}*: "
    "{each} a token on {device}",
    "request_one": "Prefill is *{prefill}*: {first} to the only token on {device}",
    "request_asks": "*{name}*, {count} {count|request|requests} of {prompt} + {output} tokens. ",
    "model_moves": "*{name}*, {load}: {work} and {moved} a step{at}, {share} of the bytes "
    "weights. ",
    "model_fits": "Needs {memory} of {capacity}. ",
    "model_full": "!Needs {memory}, the part has {capacity}.! ",
    "model_memory": "Needs {memory}. ",
    "model_limits": "{words} ",
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
    "explore_state": "{words}. ",
    "explore_rows": "Arithmetic binds products from *{size}* rows on, before from {least_batch}. ",
    "explore_choose": "Choose what tensors are stored in, what products are computed in, or both.",
}


GOAL_SENTENCES: Mapping[str, str] = {
    "goal_nothing": "No operation was recorded.",
    "goal_host": "{length} were recorded, and nothing of the device.",
    "goal_points": "{what} without times: the chart shows where they could lie.",
    "goal_point": "{what} without a time: the chart shows where it could lie.",
    "goal_no_peaks": "{length}. Choose the device to see what it could take.",
    "goal_no_peaks_cpu": "{length}. Run `roofline calibrate` where it ran, or choose the device, to"
    " see what it could take.",
    "goal_doubt": "{length}. Its numbers cannot all be right, so there is no goal.",
    "goal_doubt_partly": "{length}; {floor} {would} do, leaving out {count} "
    "{count|operation|operations} with impossible numbers.",
    "goal_waits": "{length}, {wait} of them waiting for {what}; {floor} {would} do.",
    "goal_waits_without_peak": "{length}, {wait} of them waiting for {what}, whose peak is not "
    "known.",
    "goal_unexplained": "{length}; nothing ran for {wait} of them, and the file does not say why.",
    "goal_unknown": "{length}; the cost of {unknown} of them is not known.",
    "goal_done": "{length}, and {floor} {may} the least it can take.",
    "goal": "{length}; {floor} {would} do.",
    "goal_uncounted": "{length}; how much of it is useful work was not counted.",
    "goal_uncovered": "{length}, {share} of the program: the rest is not in the file.",
    "equation": "{length} = {parts}.",
    # The second line: what to do first, or what would tell.
    "first": "Do first: {title}, {saving}.",
    "first_without_saving": "Do first: {title}.",
    "first_far": "No operation comes near a roof. ",
    "first_doubt": "Do first: measure this machine's peaks, `roofline calibrate`.",
    "first_done": "Only less work or other hardware helps.",
    "first_host": "Record the device too.",
    "first_host_torch": "Record the device too: `activities=[CPU, CUDA]`.",
    "first_shapes": "Record shapes: `record_shapes=True`.",
    "first_graphs": "Upload the trace of the graphs’ capture together with this one.",
    "first_program_plane": "Keep the `/host:metadata` plane in the capture.",
    "first_counters": "Profile with `ncu --set full`.",
    "first_counters_amd": "Profile without `--block`.",
    "first_replay": "Upload the replay with this capture.",
    "first_count": "Count {kernels} with {tool}, and add that file to this one.",
    "first_cost_estimates": "Say what Pallas calls compute and move: `cost_estimate=`.",
    "first_cost": "Record what the operations compute and move.",
    "first_threads": "Look in a trace viewer at what the host and other streams did then.",
    "first_capture": "Upload the capture itself (*.xplane.pb): it has the host’s calls.",
    "first_calls_amd": "Record the host’s calls, without counters: `rocprofv3 --runtime-trace`.",
    "first_waits": "{waits}.",
    "wait_of": "{time} wait for {what}",
    "wait_unexplained": "Nothing ran for {time}, and the file does not say why",
    # The third line: the share of the roof, other waits, and what is left out.
    "stands": "At {share} of the roof{known}{bound}.",
    "stands_known": " ({share} known)",
    "stands_waits": "{waits}.",
    "stands_unknown": "The cost of {time} is not known.",
    "stands_outside": "{time} lie outside the {what}.",
    "stands_before": "{time} lie before the first operation.",
    "stands_left_out": "The first step is left out: it took {ratio} times as long.",
    "stands_when": "To see how much of the program this is, add its file of {tool}.",
    "stands_median": "The median step takes {time}.",
}


CHECK_SENTENCES: Mapping[str, str] = {
    "check_class": "Compute time and memory time at the peaks changed by different factors in "
    "{count} {count|operation|operations}; *{share}* of their time moved with the resource that "
    "binds. ",
    "check_class_none": "Compute time and memory time at the peaks changed by different factors in "
    "no operation, so time cannot tell which one binds. ",
    "check_bound": "Memory binds {old_share} of the time of known cost in A and {new_share} in B; "
    "{count} {count|operation|operations} changed the bound.",
    "check_no_cost": "No operation of B has known work and time.",
    "check_bounds": "*{share}* of B's time of known cost lies between the longest clock and the "
    "sum of the clocks. {time} lie above the sum: latency, links, levels that were not counted. "
    "{below} of the time is below the longest clock, which cannot be.",
    "check_lever": "{count} {count|operation|operations} changed work, traffic or peaks: predicted "
    "{predicted} at the same share of the roof, measured {measured}, a hit of *{hit}*.",
    "check_lever_none": "No operation in both runs changed its work, its traffic or its peaks.",
    "check_change": "{sign}{change}",
    "check_dtype": "{count} {count|operation|operations} of the same shapes have other element "
    "types: bytes per call are *{counted}* of those before, {expected} by the sizes of the "
    "elements.",
    "check_rows": " Arithmetic binds the longest product from {new_rows} rows on, before from "
    "{old_rows}.",
    "check_dtype_none": "No operation in both runs has the same shapes and other element types.",
    "check_flip_none": "Neither run has exposed communication.",
    "check_flip_unknown": "The work of one of the runs has no known time at its roof.",
    "check_same": "The longer of the two is the same: exposed communication {exposed_a} against "
    "{at_roof_a} of work at its roof in A, {exposed_b} against {at_roof_b} in B.",
    "check_flipped": "*The longer of the two changed*: exposed communication {exposed_a} against "
    "{at_roof_a} of work at its roof in A, {exposed_b} against {at_roof_b} in B.",
    "check_crossover": " Over one link of B's device arithmetic binds a product of two chips from "
    "a contracted size of {size_of} on (elements of two bytes).",
}
"""`{exposed_a}` and the like are times, `{old_rows}` counts."""


VERDICT_SENTENCES: Mapping[str, str] = {
    "verdict_busy": "{Unit} {are} busy {busy} of the {when}{useful}.",
    "verdict_binds": "{Unit} {bind} {share} of the {when}{rest}.",
    "verdict_binds_too": ", {unit} {share}",
    "verdict_useful": ", {useful} with useful work",
    "verdict_latency": "Latency: {why}; the busiest unit, {unit}, works {busy} of the time.",
    "verdict_slack": "Latency: {why}; no unit is busy for more than {busy} of the time.",
}
