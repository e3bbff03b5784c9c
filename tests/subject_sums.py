"""What holds for every subject of every profile: its sums."""

import numpy as np
import pytest

from roofline.analysis.records import RooflineAnalysis
from roofline.analysis.subjects.records import Subject


def check_sums(subject: Subject, analysis: RooflineAnalysis) -> None:
    """Widths and host wait are the time, parts are, and gains are the time above the floor."""
    parts, ops, time_us = subject.parts, subject.ops, subject.time_us
    near = pytest.approx(time_us, rel=1e-6, abs=1e-9)
    assert len(ops.width_us) == len(ops.part) == len(analysis.ops)
    assert float(ops.width_us.sum()) + subject.unnamed_us + parts.idle == near
    assert parts.work + sum(parts.waits.values()) == near
    assert (ops.width_us >= 0).all()
    assert (ops.needed_us <= ops.width_us * (1 + 1e-9)).all()
    wasted = ops.wasted_us[~np.isnan(ops.wasted_us)]
    assert ((wasted >= 0) & (wasted <= parts.to_gain + 1e-9)).all()
    if subject.gain_us is None or subject.floor_us is None:
        return
    gains = float(ops.gain_us.sum()) + subject.other_gain_us
    assert gains == pytest.approx(time_us - subject.floor_us, rel=1e-6, abs=time_us * 1e-6)
    assert (ops.gain_us >= -1e-9 * time_us).all()
    assert subject.floor_us == pytest.approx(
        parts.needed + parts.unknown + parts.impossible + parts.stay, rel=1e-9
    )
