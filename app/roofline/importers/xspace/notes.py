"""Notes to the reader that captures of every kind of device may have."""

from roofline.model.profile import Diagnostic, Severity


def no_steps() -> Diagnostic:
    """The capture has no step that all cores share."""
    return Diagnostic(
        severity=Severity.WARNING,
        code="no-steps",
        message="No step markers were found, so there is no step average and no row per step.",
        remedy="Wrap your training step in jax.profiler.StepTraceAnnotation.",
    )


def unreadable_hlo(count: int) -> Diagnostic:
    """`count` of the programs that ops refer to cannot be read."""
    return Diagnostic(
        severity=Severity.WARNING,
        code="unreadable-hlo",
        message="compiled programs in this capture could not be read.",
        remedy="Capture again; if it stays, the file is damaged.",
        count=count,
    )


def ops_without_id(count: int) -> Diagnostic:
    """`count` ops of a TPU name neither program nor instruction."""
    return Diagnostic(
        severity=Severity.INFO,
        code="ops-without-id",
        message="ops name no instruction of a compiled program in this capture. They are listed by "
        "their own name; XProf drops them, and their time counts as idle there.",
        count=count,
    )
