"""Units, categories and memory levels: what the words and numbers of a profile mean."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roofline.model.categories import is_container, is_infeed_outfeed
from roofline.model.compute import ComputeUnit
from roofline.model.memory import TPU_ON_CHIP_LEVELS, MemoryLevel
from roofline.model.units import gb_to_gib, gib_to_gb, ps_to_us


def test_units_are_those_of_data_sheets_and_of_the_page() -> None:
    assert gib_to_gb(1.0) == 1.073741824
    assert gb_to_gib(1.073741824) == 1.0
    assert ps_to_us(1_500_000) == 1.5


@given(st.floats(1e-9, 1e12))
def test_conversion_there_and_back_changes_nothing(value: float) -> None:
    assert gib_to_gb(gb_to_gib(value)) == pytest.approx(value, rel=1e-15)


def test_columns_convert_as_numbers_do() -> None:
    assert gib_to_gb(np.array([0.0, 2.0])).tolist() == [0.0, 2.147483648]


@pytest.mark.parametrize("category", ["infeed", "outfeed", "infeed-done", "my outfeed fusion"])
def test_host_transfers_are_found_anywhere_in_the_category(category: str) -> None:
    assert is_infeed_outfeed(category)
    assert not is_container(category)


@pytest.mark.parametrize("category", ["call", "conditional", "while", "megacore fusion"])
def test_containers_are_exact_words(category: str) -> None:
    assert is_container(category)
    assert not is_container(f"{category} 2")
    assert not is_infeed_outfeed(category)


def test_xprofs_levels_have_its_names_in_its_order_of_classification() -> None:
    xprofs = (MemoryLevel.HBM, *TPU_ON_CHIP_LEVELS, MemoryLevel.SHARED_L1)
    assert [level for level in MemoryLevel if level in xprofs] == [*xprofs]
    assert [level.label for level in xprofs] == [
        "HBM",
        "CMEM Read",
        "CMEM Write",
        "VMEM Read",
        "VMEM Write",
        "Shm/L1",
    ]


def test_every_level_has_a_label_of_its_own() -> None:
    assert len({level.label for level in MemoryLevel}) == len(MemoryLevel)


@pytest.mark.parametrize("unit", ComputeUnit)
def test_a_compute_unit_knows_its_precision_and_kind(unit: ComputeUnit) -> None:
    kind = "matrix" if unit.is_matrix else "vector"
    assert unit.value == f"{kind}_{unit.precision.value}"
    assert unit.label.lower() == f"{kind} {unit.precision.value}"
