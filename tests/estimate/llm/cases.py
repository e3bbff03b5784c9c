"""Where the worked examples of language models are, and how they name a workload."""

from pathlib import Path

import pytest

from roofline.devices.choice import known_part
from roofline.estimate.llm.config import preset
from roofline.estimate.llm.request import PredictOptions, workload
from roofline.estimate.llm.step import Step, step_of
from roofline.estimate.llm.workload import Workload

MODEL = Path(__file__).resolve().parents[3].parent / "shared" / "model"
needs_shared = pytest.mark.skipif(not MODEL.is_dir(), reason="needs the shared folder")


def load_of(phase: str, batch: int, seq: int) -> Workload:
    """A case of the examples: `seq` are new tokens of prefill, keys of decode."""
    if phase == "decode":
        return workload(PredictOptions(phase=phase, batch=batch, context=seq))
    return workload(PredictOptions(phase=phase, batch=batch, seq=seq))


def step(model: str, device: str, options: PredictOptions) -> Step:
    """One step of a preset."""
    return step_of(preset(model), workload(options), known_part(device))


def serial_ms(found: Step) -> float:
    """The serial time; it is known."""
    serial = found.step_us["serial"]
    assert serial is not None
    return serial / 1e3
