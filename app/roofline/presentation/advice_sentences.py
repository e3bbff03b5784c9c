"""Templates of advice: per rule its title and why it holds. `sentences` fills them.

A title is a verb and the thing, and has no numbers of operations. Some rules have forms by kind of
operation, measured reason or profiler, as in `advice_try`, which has what to try.
"""

from collections.abc import Mapping

from roofline.presentation.advice_try import ADVICE_TRY

_UNIT = "{ceiling} {are} busy {busy} of the time"

ADVICE_SENTENCES: Mapping[str, str] = {
    **ADVICE_TRY,
    # Savings.
    "advice_saves": "−{saving}",
    "advice_waited": "measured, up to −{saving}",
    "advice_instead": "or −{saving} instead",
    "advice_assumed": "would save {saving} if {condition}",
    "advice_assumed_M2": "half of the bytes went",
    "advice_assumed_K3": "half of the vector work went",
    "advice_assumed_L1": "two calls became one",
    "advice_changes": " · changes results",
    # The plan.
    "advice_all": "All {many}: about {after}{since}. ",
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
    # Validity.
    "advice_V1": "Fix the cost estimate of {names}",
    "advice_V1_why": "{count} {count|operation|operations} with {share} of the time "
    "{count|reports|report} more work than possible: up to {most} of the roof. The likely cause: "
    "{what}.",
    "advice_V2": "Take the bytes that the hardware counted",
    "advice_V2_why": "The hardware counted {most} times the bytes of the model: rereads, padding, "
    "spills or parts that the model leaves out.",
    "advice_V3": "Take the FLOPs that the hardware counted",
    "advice_V3_why": "The hardware counted {most} times the FLOPs of the model: padding, or work "
    "that is done again.",
    "advice_V4": "Compare {names} with the vector unit",
    "advice_V4_why": "{count|It is|They are} drawn under the peak of the matrix unit, which "
    "{count|it does|they do} not use, at {efficiency} of {count|its|their} roof. Under the vector "
    "unit it is {most}.",
    "advice_V5": "{precision} for {names}",
    "advice_V5_why": "{roof} binds {count|it|them}; the matrix unit multiplies faster in a shorter "
    "format.",
    "advice_V5_wide": "Check the roof of {names}",
    "advice_V5_wide_why": "{count|It reads|They read} fp32 tensors and {count|is|are} held against "
    "{roof}, a roof of another number format.",
    "advice_V7": "Measure the cost of {names}",
    "advice_V7_why": "{share} of the busy time has no known FLOPs or bytes, so its distance to a "
    "roof is unknown. That is not the same as 0 % of the peak.",
    "advice_V7_host_only": "Record the device too",
    "advice_V7_host_only_why": "The times are those of the host that launched the work.",
    "advice_V7_capture": "Upload the replay with this capture",
    "advice_V7_no_shapes_torch": "Record shapes",
    "advice_V7_xla_gpu": "Keep the `/host:metadata` plane in the capture",
    # Links.
    "advice_C1": "Overlap the transfers over {level} with work",
    "advice_C1_host": "Copy while it computes",
    "advice_C1_unknown": "Overlap the transfers with work",
    "advice_C1_unknown_why": "For {share} of the time the device only waits for transfers. There "
    "is "
    "{work} of work that could run meanwhile, and 70 % of a wait can be hidden.",
    "advice_C1_why": "For {share} of the time the device only waits for transfers over {level}. "
    "There is {work} of work that could run meanwhile, and 70 % of a wait can be hidden.",
    "advice_C2": "Give each chip more tokens, or divide the work otherwise",
    "advice_C2_why": "{what} needs {after} for its traffic at its peak, {most} times the {floor} "
    "of all work at its roof: no overlap hides that.",
    "advice_C3": "Use {level} better",
    "advice_C3_host": "Use the host link better",
    "advice_C3_why": "Transfers over {level} reach {efficiency} of its peak; {share} of the time "
    "waits for them.",
    "advice_C4": "Look at {what}, which is slower than the others",
    "advice_C4_why": "Its work takes {most} times the median of the cores, more than their spread "
    "explains. The others wait for it.",
    "advice_C5": "Copy in both directions at once",
    "advice_C5_why": "{level} moves bytes in both directions, one after the other. The busier "
    "direction needs {after} at the peak: at once, and with the link full throughout, the rest of "
    "the wait goes.",
    # Latency.
    "advice_L1": "Merge the short calls of {names}",
    "advice_L1_why": "{calls} calls take {average} each and {count|reach|reach} {efficiency} of "
    "the "
    "{roof} roof. A call shorter than 10 µs is bound by its start.",
    "advice_L2": "Fill the chip in {names}",
    "advice_L2_why": "{count|It reaches|They reach} {efficiency} of the {roof} roof, the nearest "
    "one, and a call is not short.",
    "advice_L2_counted_why": "No unit is near its ceiling: the nearest one is busy {busy} of the "
    "time. {reason}",
    "advice_L2_attention": "Use a faster attention kernel",
    "advice_L2_attention_paged": "Use a faster paged attention kernel",
    "advice_L2_attention_cpu": "More threads for attention",
    "advice_L2_few_blocks": "Give more blocks to {names}",
    "advice_L3": "Larger batches",
    "advice_L3_why": "Steps of {many} sequences take {most} times as long as those of {few}, so "
    "overhead sets the time and not the work.",
    "advice_H1": "Launch ahead",
    "advice_H1_torch": "Launch ahead (CUDA graphs)",
    "advice_H1_why": "The device is idle for {share} of the time.",
    "advice_H2": "Feed the device faster",
    "advice_H2_why": "Infeed and outfeed take {share} of the time.",
    "advice_O1": "Overlap memory and compute in {names}",
    "advice_O1_why": "The time is about the sum of the clocks, so loads and arithmetic run one "
    "after the other, at {efficiency} of the {roof} roof.",
    # Busy units.
    "advice_W2": "Find what else {ceiling} does in {names}",
    "advice_W2_why": _UNIT + ", {use} of it with useful work.",
    "advice_W2_sectors": "Load whole sectors in {names}",
    "advice_W2_sectors_why": _UNIT + ", and {use} of what it moves was asked for.",
    "advice_W2_bank_conflicts": "Remove the bank conflicts of {names}",
    "advice_W2_bank_conflicts_why": _UNIT + ", and {use} of it would do without bank conflicts.",
    "advice_W2_lanes": "Fill the warps of {names}",
    "advice_W2_lanes_why": _UNIT + ", with {use} of the lanes in use.",
    "advice_W2_multiply_adds": "Join multiplications and additions in {names}",
    "advice_W2_multiply_adds_why": _UNIT + ", and {use} of what multiply-adds would do.",
    "advice_W2_replays": "Avoid the replays in {names}",
    "advice_W2_replays_why": _UNIT + ", and {use} of what it issues is not issued again.",
    "advice_W2_last_wave": "Fill the last wave of {names}",
    "advice_W2_last_wave_why": _UNIT + "; the waves of blocks are {use} full.",
    "advice_W2_equal_sms": "Spread the work of {names} evenly",
    "advice_W2_equal_sms_why": _UNIT + "; an SM works for {use} of the time on average.",
    "advice_P1": "Issue fewer instructions in {names}",
    "advice_P1_why": _UNIT + ", so the arithmetic of the program waits for it.",
    "advice_P1_tensor": "Feed the tensor cores in {names}",
    # Memory.
    "advice_M1": "Improve the access pattern of {names}",
    "advice_M1_why": "{roof} binds {count|it|them}, yet {count|it reaches|they reach} "
    "{efficiency} of that roof.",
    "advice_M1_copy": "Avoid {names}",
    "advice_M1_update": "Update the caches in place ({list})",
    "advice_M1_attention": "Use a faster attention kernel",
    "advice_M1_attention_paged": "Use a faster paged attention kernel",
    "advice_M2": "Fuse {names} with what comes before or after",
    "advice_M2_why": "{count|It uses|They use} {efficiency} of {roof}: access is good, only fewer "
    "bytes help.",
    "advice_M2_fusion": "Fuse {names}, or store their results in 16 bits",
    "advice_M2_copy": "Avoid {names}",
    "advice_M2_update": "Update the caches in place ({list})",
    "advice_M2_optimizer": "Take fewer passes in {names}",
    "advice_M2_stencil": "Compute several steps at once in {names}",
    "advice_G1": "Fuse {names}",
    "advice_G1_module": "Fuse {what}",
    "advice_G1_why": "They hand tensors to each other through {roof}. Fused, they move {share} of "
    "their bytes.",
    "advice_G2": "8-bit weights for {names}",
    "advice_G2_why": "{share} of the bytes are 16-bit weights, and {roof} binds.",
    "advice_G3": "More rows for {names}",
    "advice_G3_why": "{share} of the bytes are weights, read for {few} rows at a time; from about "
    "{many} rows on compute binds. Twice the rows take hardly longer.",
    "advice_G3_steps": "Larger batches",
    "advice_G3_steps_why": "{share} of the bytes of a step are weights, read for {few} sequences "
    "at a time. Twice the sequences take hardly longer.",
    "advice_G4": "8-bit keys and values for {names}",
    "advice_G4_why": "{share} of the bytes are 16-bit keys and values, and {roof} binds.",
    "advice_G4_steps": "8-bit keys and values",
    "advice_G4_steps_why": "{share} of the bytes of a decode step are keys and values.",
    "advice_G4_scores": "Compute the attention of {what} in one kernel",
    "advice_G4_scores_why": "The scores between queries and keys go through {roof}, in {count} "
    "operations. In one kernel {share} of their bytes are left.",
    "advice_G5": "{precision} for {names}",
    "advice_G5_why": "{roof} binds {count|it|them}, at {efficiency} of its roof, and the device "
    "has a higher peak.",
    "advice_G6": "Verify several tokens per decode step",
    "advice_G6_why": "{share} of the bytes of a step are weights, and compute has room for five "
    "times the tokens. The gain takes four drafts per step at a tenth of the cost of the model, "
    "of which 80 % are accepted.",
    "advice_G7": "Recompute less",
    "advice_G7_why": "{share} of the FLOPs are done again to save memory.",
    # Compute.
    "advice_K1": "Fill the chip in {names}",
    "advice_K1_why": "Compute binds {count|it|them}, yet {count|it reaches|they reach} "
    "{efficiency} of the {roof} roof: padding, partial waves, a small K or a low clock.",
    "advice_K1_attention": "Use a faster attention kernel",
    "advice_K1_attention_paged": "Use a faster paged attention kernel",
    "advice_K1_filled": "Fill the tiles of {names}",
    "advice_K1_filled_why": "{share} of the tiles and waves that {count|its kernel runs|their "
    "kernels run} are data; the rest is padding, or processors without a tile.",
    "advice_K2": "Bring {names} nearer to the roof",
    "advice_K2_why": "{count|It reaches|They reach} {efficiency} of the {roof} roof, so the unit "
    "is well used.",
    "advice_K3": "Make the vector work of {names} cheaper",
    "advice_K3_why": "The vector unit binds {count|it|them}, at {efficiency} of its roof.",
}
