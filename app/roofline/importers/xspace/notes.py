"""Notes to the reader of a capture, of every kind of device."""

from roofline.importers.shared.notes import Note
from roofline.model.profile import Severity

NOTES = {
    "no-steps": Note(
        Severity.WARNING,
        "No step markers were found, so there is no step average and no row per step.",
        "Wrap your training step in jax.profiler.StepTraceAnnotation.",
    ),
    "no-device": Note(
        Severity.WARNING,
        "This capture holds no TPU or GPU plane, only: {names}. The program ran on the CPU, or the"
        " device tracer was off.",
        "Check jax.devices() in the program; capture on the accelerator's own host.",
    ),
    "unreadable-hlo": Note(
        Severity.WARNING,
        "compiled programs in this capture could not be read.",
        "Capture again; if it stays, the file is damaged.",
    ),
    "ops-on-several-threads": Note(
        Severity.INFO,
        "ops ran on several threads at once (up to {most}). Each counts the time in which any"
        " thread worked for it, once.",
    ),
    "overlapping-children": Note(
        Severity.WARNING,
        "ops are shorter than the ops inside them, so their self time is counted as zero. XProf"
        " lets it wrap to 213 days.",
        "Usually two clocks in one capture; capture again with a newer runtime.",
    ),
    "ops-without-id": Note(
        Severity.INFO,
        "ops name no instruction of a compiled program in this capture. They are listed by their"
        " own name; XProf drops them, and their time counts as idle there.",
    ),
    "negative-cost": Note(
        Severity.WARNING,
        "ops report negative FLOPs or bytes; their cost is shown as unknown.",
        "The compiler could not count them; a newer compiler may.",
    ),
    "sparse-core-first": Note(
        Severity.INFO,
        "A SparseCore stands before the TensorCores in this file. Peaks are taken from the"
        " TensorCore; XProf takes the SparseCore's and shows none.",
    ),
    "kernels-without-hlo": Note(
        Severity.INFO,
        "kernels name no instruction of a compiled program in this capture, so their FLOPs and"
        " bytes are unknown. They are listed by kernel name; XProf drops them.",
        "Capture with the program's HLO: keep the /host:metadata plane, and start the trace before"
        " the program is compiled.",
    ),
    "several-kernels-per-op": Note(
        Severity.INFO,
        "ops run as several kernels each. Their FLOPs and bytes count once per execution; XProf"
        " counts them once per kernel, so its rates are higher.",
    ),
    "gpus-without-kernels": Note(
        Severity.INFO,
        "{resting} of {gpus} GPUs ran nothing during the capture. Times per GPU are means over the"
        " {working} that did.",
    ),
    "gpus-at-different-times": Note(
        Severity.INFO,
        "GPUs began and ended at different times of this capture of {span}. The time of each is"
        " from its own first event to its own last, {mean} on average. Time before and after that"
        " does not count as idle.",
    ),
    "steps-do-not-intersect": Note(
        Severity.WARNING,
        "The hosts have steps, but none that all of them share in time.",
        "Capture all hosts at the same moment and for at least two steps.",
    ),
    "hosts-differ": Note(
        Severity.WARNING,
        "The hosts report different devices or peaks; one of them is used for all.",
        "Upload hosts of one kind together, others apart.",
    ),
}
