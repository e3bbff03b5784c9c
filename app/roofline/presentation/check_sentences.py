"""Templates of the checks of a comparison. `sentences` fills them."""

from collections.abc import Mapping

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
    "{predicted} at the same closeness to the roof, measured {measured}, a hit of *{hit}*.",
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
