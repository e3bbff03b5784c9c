"""A profile as bytes: it comes back as it was, and nothing else can be made of bytes."""

from dataclasses import fields, is_dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from roofline.model.memory import MemoryLevel
from roofline.model.stored import restored, stored
from roofline.pipeline import analyse_files

SAMPLES = Path(__file__).resolve().parents[2] / "sample_profiles"


def assert_equal(found: Any, wanted: Any) -> None:
    assert type(found) is type(wanted)
    if isinstance(wanted, np.ndarray):
        assert found.dtype == wanted.dtype
        np.testing.assert_array_equal(found, wanted)
    elif is_dataclass(wanted):
        for one in fields(wanted):
            assert_equal(getattr(found, one.name), getattr(wanted, one.name))
    elif isinstance(wanted, dict):
        assert list(found) == list(wanted)
        for key in wanted:
            assert_equal(found[key], wanted[key])
    elif isinstance(wanted, tuple):
        assert len(found) == len(wanted)
        for one, other in zip(found, wanted, strict=True):
            assert_equal(one, other)
    elif not (isinstance(wanted, float) and np.isnan(wanted)):
        assert found == wanted


@pytest.mark.parametrize("name", ["pytorch/h100-training.json", "xspace/v6e-training.xplane.pb"])
def test_a_profile_and_its_device_come_back(name: str) -> None:
    analysis = analyse_files([SAMPLES / name])
    again = restored(stored((analysis.profile, analysis.device)))
    assert analysis.device.network is not None, "it follows from the device"
    assert_equal(again, (analysis.profile, replace(analysis.device, network=None)))


def test_names_of_strangers_and_unknown_numbers_come_back() -> None:
    value = {MemoryLevel.HBM: ("\ud800 a", "array", float("nan")), None: 2**70}
    found = restored(stored(value))
    assert found[None] == 2**70
    assert found[MemoryLevel.HBM][:2] == ("\ud800 a", "array")
    assert isinstance(next(iter(found)), Enum)
    assert np.isnan(found[MemoryLevel.HBM][2])


@pytest.mark.parametrize("value", [object(), {1}, Path("x"), b"bytes"])
def test_what_is_not_of_the_model_is_refused(value: object) -> None:
    with pytest.raises(TypeError, match="not a part of the model"):
        stored(value)
