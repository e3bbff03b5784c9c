"""The assumptions about a server's kernels: which experts were touched, how far windows reach."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from roofline.importers.pytorch.experts import Touched
from roofline.importers.pytorch.trace import Trace
from roofline.model.profile import Diagnostic, Severity


@dataclass(slots=True, kw_only=True)
class Assumed:
    """Calls of experts by what they may touch, and calls of attention by their window."""

    touched: dict[Touched, int] = field(default_factory=dict)
    windows: dict[int, int] = field(default_factory=dict)

    def add(self, trace: Trace) -> None:
        """Add the calls of one trace."""
        kinds = [k for k, one in enumerate(trace.signatures) if one.touched or one.window]
        if not kinds:
            return
        counts = np.bincount(trace.operators["signature"], minlength=len(trace.signatures))
        for kind in kinds:
            one, count = trace.signatures[kind], int(counts[kind])
            if one.touched and count:
                self.touched[one.touched] = self.touched.get(one.touched, 0) + count
            if one.window and count:
                self.windows[one.window] = self.windows.get(one.window, 0) + count

    def notes(self) -> Iterator[Diagnostic]:
        """Notes on both."""
        if self.touched:
            yield self._of_experts()
        if self.windows:
            yield self._of_windows()

    def _of_experts(self) -> Diagnostic:
        main = max(self.touched, key=lambda one: one.weight_bytes * self.touched[one])
        return Diagnostic(
            severity=Severity.INFO,
            code="experts-assumed",
            message="products of experts do not tell which experts the tokens went to. Their FLOPs"
            f" are those of all routed tokens. Their weights count as those of {main.expected:.1f}"
            f" of {main.experts} experts, with equal chances; it may be {main.least} to"
            f" {main.most}.",
            count=sum(self.touched.values()),
        )

    def _of_windows(self) -> Diagnostic:
        sizes = ", ".join(f"{window:,}" for window in sorted(self.windows))
        return Diagnostic(
            severity=Severity.INFO,
            code="window-assumed",
            message=f"calls of attention see a window of {sizes} keys, as the config.json of a"
            " model with these heads says (gpt-oss): the trace only tells that their kernel is the"
            " one for windows. Each sequence is taken to be longer than the window.",
            count=sum(self.windows.values()),
        )
