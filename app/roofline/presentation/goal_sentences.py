"""Templates of a page's headline, line by line. `sentences` fills them."""

from collections.abc import Mapping

GOAL_SENTENCES: Mapping[str, str] = {
    "goal_nothing": "No operation was recorded.",
    "goal_host": "{length} were recorded, and nothing of the device.",
    "goal_points": "{what} without times: the chart shows where they could lie.",
    "goal_point": "{what} without a time: the chart shows where it could lie.",
    "goal_no_peaks": "{length}. Choose the device to see what it could take.",
    "goal_doubt": "{length}. Its numbers cannot all be right, so there is no goal.",
    "goal_doubt_partly": "{length}; {floor} {would} do, leaving out {count} "
    "{count|operation|operations} with impossible numbers.",
    "goal_waits": "{length}, {wait} of them waiting for {what}; {floor} {would} do.",
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
    "first_cost": "Record what the operations compute and move.",
    "first_waits": "{waits}.",
    "wait_of": "{time} wait for {what}",
    # The third line: the share of the roof, other waits, and what is left out.
    "stands": "At {share} of the roof{known}{bound}.",
    "stands_known": " ({share} known)",
    "stands_waits": "{waits}.",
    "stands_unknown": "The cost of {time} is not known.",
    "stands_outside": "{time} lie outside the {what}.",
    "stands_before": "{time} lie before the first operation.",
    "stands_left_out": "The first step is left out: it took {ratio} times as long.",
    "stands_median": "The median step takes {time}.",
}
