"""Bytes on the wire equal the bus-bandwidth factors of nccl-tests."""

import pytest

from roofline.importers.shared.kernel_names import wire_bytes

RANKS = range(2, 65)
MIB = 2**20


@pytest.mark.parametrize("n", RANKS)
def test_factors_of_nccl_tests(n: int) -> None:
    assert wire_bytes("all-reduce", MIB, n) == pytest.approx(MIB * 2 * (n - 1) / n)
    for kind in ("all-gather", "reduce-scatter", "all-to-all"):
        assert wire_bytes(kind, MIB, n) == pytest.approx(MIB * (n - 1) / n)
    for kind in ("broadcast", "reduce", "collective-permute", "send", "recv"):
        assert wire_bytes(kind, MIB, n) == MIB


def test_unknown_group_or_kind_is_unknown() -> None:
    assert wire_bytes("all-reduce", MIB, 0) is None
    assert wire_bytes("collective", MIB, 8) is None


def test_one_rank_puts_nothing_on_the_wire() -> None:
    assert wire_bytes("all-reduce", MIB, 1) == 0
