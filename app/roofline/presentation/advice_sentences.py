"""Templates of advice: per rule what to do, why, and what to try. `sentences` fills them."""

from collections.abc import Mapping

ADVICE_SENTENCES: Mapping[str, str] = {
    "advice_saves": "saves *{saving}* of {total} ({share})",
    "advice_bar": "{total} {per} now, {after} after this plan; the floor of the same work is "
    "{floor}. ",
    "advice_no_time": "No time was measured, so there is none to save. ",
    "advice_no_peaks": "No peak of this device is known. With peaks each operation has a least "
    "time, and this list says what to do first: choose the device, or enter its peaks. ",
    "advice_nothing": "Nothing here is worth your time; the floor is {floor} of {total}. ",
    "advice_contradicts": "This profile contradicts itself, so do not act on its numbers yet. ",
    "advice_left_out": "{count} more {count|finding saves less than 1 %|findings save less than "
    "1 % each}, or nothing after these. ",
    "advice_at_roof": "{saving} is in operations at their roof already: only less work helps "
    "there. ",
    "advice_verify": "Run `{command}`: the term “{term}” should change by {sign}{change}.",
    "advice_verify_flag": "Run `{command}` after a new capture.",
    "advice_limit": "The next limit is {roof}.",
    "advice_limit_link": "The busiest link needs the time that is left.",
    "advice_gain": "*{most} times* as much in the same time",
    "advice_verify_option": "Measure it on a run with this change; the work is not the same, so "
    "`{command}` shows it as another program.",
    "advice_verify_elsewhere": "Capture a run there; `{command}` says what changed.",
    "advice_waiting": "{count} {count|finding does|findings do} not depend on them",
    "advice_correction": "{count} earlier {count|prediction|predictions} of this rule on this "
    "device reached {share} of what was said (quartiles {least} to {most}); without them it "
    "would be {saving}.",
    # Validity.
    "advice_V1": "Settle the operations above their roof first",
    "advice_V1_why": "{count} {count|operation|operations} with {share} of the time "
    "{count|seems|seem} to run above their roof, up to {most}. No hardware does that. The likely "
    "cause: {what}.",
    "advice_V1_try": "Recount the work of these operations, or name the right peaks. Do not "
    "optimise by these numbers.",
    "advice_V2": "Take the bytes that the hardware counted",
    "advice_V2_why": "The hardware counted {most} times the bytes of the model: rereads, padding, "
    "spills or parts that the model leaves out.",
    "advice_V2_try": "Look for spills and padding; then tile or lay out the data anew.",
    "advice_V3": "Take the FLOPs that the hardware counted",
    "advice_V3_why": "The hardware counted {most} times the FLOPs of the model: padding, or work "
    "that is done again.",
    "advice_V3_try": "Choose shapes that fill the tiles, and look at what is recomputed.",
    "advice_V4": "Hold {count} vector {count|operation|operations} against the vector unit",
    "advice_V4_why": "{count|It is|They are} drawn under the peak of the matrix unit, which "
    "{count|it does|they do} not use, at {efficiency} of {count|its|their} roof. Under the vector "
    "unit it is {most}.",
    "advice_V4_try": "Read the distance to the vector roof: there is less to gain than it seems.",
    "advice_V5": "Run {count} {what} {count|operation|operations} of fp32 on the matrix unit",
    "advice_V5_why": "{roof} binds {count|it|them}; the matrix unit multiplies faster in a shorter "
    "format.",
    "advice_V5_try": "{what} products (torch.set_float32_matmul_precision, jax_default_matmul_"
    "precision), after a check of the accuracy.",
    "advice_V5_wide": "Check the roof of {count} {what} {count|operation|operations} of fp32",
    "advice_V5_wide_why": "{count|It reads|They read} fp32 tensors and {count|is|are} held against "
    "{roof}, a roof of another number format.",
    "advice_V5_wide_try": "Give the peak of the format that the kernel multiplies in "
    "(`--peak compute=…`).",
    "advice_V7": "Let the cost of {count} {count|operation|operations} be counted",
    "advice_V7_why": "{share} of the busy time has no known FLOPs or bytes, so its distance to a "
    "roof is unknown. That is not the same as 0 % of the peak.",
    "advice_V7_try": "Record shapes (record_shapes=True), pass cost_estimate= to Pallas calls, or "
    "add hardware counters.",
    # Communication.
    "advice_C1": "Hide the transfers over {level}",
    "advice_C1_why": "For {share} of the time the device only waits for transfers over {level}. "
    "The saving takes 70 % of that as hidden, as far as the link itself allows.",
    "advice_C1_try": "Overlap transfers with work (asynchronous collectives, prefetch), move fewer "
    "or smaller bytes, or keep the data where it is used.",
    "advice_C2": "Give each chip more tokens, or divide the work otherwise",
    "advice_C2_why": "{what} needs {after} for its traffic at its peak, {most} times the {floor} "
    "of all work at its roof: no overlap hides that.",
    "advice_C2_try": "A larger batch per chip, fewer ways of tensor parallelism, another mesh. The "
    "gain takes twice the tokens per chip with the same traffic, and all of it overlapped.",
    "advice_C3": "Use {level} better",
    "advice_C3_why": "Transfers over {level} reach {efficiency} of its peak, less than 80 % "
    "of what large messages reach; {share} of the time waits for them.",
    "advice_C3_try": "Put small collectives into buckets, and fuse those that follow each other.",
    "advice_C4": "Look at {what}, which is slower than the others",
    "advice_C4_why": "Its work takes {most} times the median of the cores, more than their spread "
    "explains. The others wait for it.",
    "advice_C4_try": "Compare its host, its clock and its share of the input with the others.",
    # Latency.
    "advice_L1": "Merge {calls} short calls of {what}",
    "advice_L1_why": "{count} {count|operation takes|operations take} {average} per call and "
    "{count|reaches|reach} {efficiency} of the {roof} roof. A call shorter than 10 µs is bound by "
    "its start.",
    "advice_L1_try": "Fuse or batch them (torch.compile, jit, grouped products), or use a "
    "persistent kernel. The saving takes two calls as one.",
    "advice_L2": "Raise the parallelism of {count} {what} {count|operation|operations}",
    "advice_L2_why": "{count|It reaches|They reach} {efficiency} of the {roof} roof, the nearest "
    "one, and a call is not short: dependencies, low occupancy or serial loops hold "
    "{count|it|them}.",
    "advice_L2_try": "More work in flight: larger tiles, split-K, fewer barriers, another kernel. "
    "Counters of a kernel profiler tell which. The saving takes {capped} of the roof as reached.",
    "advice_L3": "Put more sequences into a decode step",
    "advice_L3_why": "Steps of {many} sequences take {most} times as long as those of {few}, so "
    "overhead sets the time and not the work.",
    "advice_L3_try": "Larger batches, CUDA graphs, fewer and larger kernels.",
    "advice_H1": "Keep the device busy",
    "advice_H1_why": "The device is idle for {share} of the time.",
    "advice_H1_try": "Dispatch asynchronously, remove synchronisations, use graphs, prefetch "
    "input.",
    "advice_H2": "Feed the device faster",
    "advice_H2_why": "Infeed and outfeed take {share} of the time.",
    "advice_H2_try": "Prefetch, use more workers, decode on the device, pack records.",
    "advice_O1": "Overlap memory and compute in {count} {what} {count|operation|operations}",
    "advice_O1_why": "The time is about the sum of the clocks, so loads and arithmetic run one "
    "after the other, at {efficiency} of the {roof} roof.",
    "advice_O1_try": "Double buffering, pipelined tiles, asynchronous copies. The saving takes "
    "{capped} of the roof as reached.",
    # Memory.
    "advice_M1": "Improve the access pattern of {count} {what} {count|operation|operations}",
    "advice_M1_why": "{roof} binds {count|it|them}, yet {count|it reaches|they reach} "
    "{efficiency} of that roof.",
    "advice_M1_try": "Coalesced or wide loads, a layout whose last dimension fills a tile, no "
    "gathers and transposes, fewer spills. The saving takes {capped} of the roof as reached.",
    "advice_M2": "Halve the bytes of {count} {what} {count|operation|operations}",
    "advice_M2_why": "{count|It uses|They use} {efficiency} of {roof}: access is good, only fewer "
    "bytes help.",
    "advice_M2_try": "Fusion, a smaller data type, a larger batch per read of the weights, or data "
    "that stays on the chip.",
    "advice_G1": "Fuse {count} memory-bound operations of {what}",
    "advice_G1_why": "They hand tensors to each other through {roof}. Fused, they move {share} of "
    "their bytes.",
    "advice_G1_try": "torch.compile or XLA fusion, or one kernel in Triton or Pallas.",
    "advice_G2": "Store the weights of {count} {what} {count|operation|operations} in 8 bits",
    "advice_G2_why": "{share} of the bytes are 16-bit weights, and {roof} binds.",
    "advice_G2_try": "int8 or fp8 weights, dequantised inside the kernel. Check the accuracy.",
    "advice_G3": "Give {count} {what} {count|operation|operations} more rows",
    "advice_G3_why": "{share} of the bytes are weights, read for {few} rows at a time; from about "
    "{many} rows on compute binds. Twice the rows take hardly longer.",
    "advice_G3_try": "A larger batch, or continuous batching on a server.",
    "advice_G3_steps": "Put more sequences into a decode step",
    "advice_G3_steps_why": "{share} of the bytes of a step are weights, read for {few} sequences "
    "at a time. Twice the sequences take hardly longer.",
    "advice_G3_steps_try": "Continuous batching, more requests at a time, as far as the memory for "
    "keys and values allows.",
    "advice_G4": "Store keys and values of {count} {what} {count|operation|operations} in 8 bits",
    "advice_G4_why": "{share} of the bytes are 16-bit keys and values, and {roof} binds.",
    "advice_G4_try": "fp8 or int8 keys and values, fewer key heads (GQA), a sliding window. Check "
    "the accuracy.",
    "advice_G4_steps": "Store keys and values in 8 bits",
    "advice_G4_steps_why": "{share} of the bytes of a decode step are keys and values.",
    "advice_G4_steps_try": "fp8 or int8 keys and values, fewer key heads (GQA), a sliding window. "
    "A larger batch does not help here.",
    "advice_G4_scores": "Compute the attention of {what} in one kernel",
    "advice_G4_scores_why": "The scores between queries and keys go through {roof}, in {count} "
    "operations. In one kernel {share} of their bytes are left.",
    "advice_G4_scores_try": "scaled_dot_product_attention, FlashAttention, or a Pallas kernel.",
    "advice_G5": "Use a faster number format in {count} {what} {count|operation|operations}",
    "advice_G5_why": "{roof} binds {count|it|them}, at {efficiency} of its roof, and the device "
    "has a higher peak.",
    "advice_G5_try": "{what} products, after a check of the accuracy.",
    "advice_G6": "Verify several tokens per decode step",
    "advice_G6_why": "{share} of the bytes of a step are weights, and compute has room for five "
    "times the tokens. The gain takes four drafts per step at a tenth of the cost of the model, "
    "of which 80 % are accepted.",
    "advice_G6_try": "Speculative decoding with a small draft model, or heads that draft.",
    "advice_G7": "Recompute less",
    "advice_G7_why": "{share} of the FLOPs are done again to save memory.",
    "advice_G7_try": "A selective policy for rematerialisation, if memory is left.",
    # Compute.
    "advice_K1": "Feed the compute unit in {count} {what} {count|operation|operations}",
    "advice_K1_why": "Compute binds {count|it|them}, yet {count|it reaches|they reach} "
    "{efficiency} of the {roof} roof: padding, partial waves, a small K or a low clock.",
    "advice_K1_try": "Shapes that fill tiles and waves, split-K, a look at the clock. The saving "
    "takes {capped} of the roof as reached.",
    "advice_K1_filled": "Fill the tiles of {count} {what} {count|operation|operations}",
    "advice_K1_filled_why": "{share} of the tiles and waves that {count|its kernel runs|their "
    "kernels run} are data; the rest is padding, or processors without a tile.",
    "advice_K1_filled_try": "Sizes that are a multiple of the tile, another tile, split-K.",
    "advice_K2": "Bring {count} {what} {count|operation|operations} nearer to the roof",
    "advice_K2_why": "{count|It reaches|They reach} {efficiency} of the {roof} roof, so the unit "
    "is well used.",
    "advice_K2_try": "Tuning to {capped} of the roof, fewer FLOPs, or more devices.",
    "advice_K3": "Halve the vector work of {count} {what} {count|operation|operations}",
    "advice_K3_why": "The vector unit binds {count|it|them}, at {efficiency} of its roof.",
    "advice_K3_try": "Cheaper functions, packed bf16, or work moved to the matrix unit.",
    "advice_W1": "Run it on {what}",
    "advice_W1_why": "At the same distance to the roofs it takes {after} there. At the roofs its "
    "work takes {floor} there and {total} here. Launches, idle time and transfers keep their time.",
    "advice_W1_try": "Open Other hardware on the page, or use `--device`; measure before you buy.",
}
