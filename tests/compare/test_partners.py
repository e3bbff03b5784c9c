"""How much of a program another profile ran, too."""

from pathlib import Path

import pytest

from roofline.analysis.subjects.choose import choose
from roofline.compare.partners import LEAST_SAME, op_shares, same_ratio
from tests.compare.captures import capture_path
from tests.shared_profiles import SHARED, analysed, needs_shared

PYTORCH = SHARED / "samples" / "pytorch"


def shares_of(path: Path) -> dict[str, float]:
    analysis = analysed(path)
    return op_shares(analysis, choose(analysis))


def test_numbers_that_a_compiler_appends_do_not_count() -> None:
    layernorm, rmsnorm = (shares_of(capture_path(name)) for name in ("layernorm", "rmsnorm"))
    assert same_ratio(layernorm, layernorm) == pytest.approx(1, abs=1e-4)
    assert LEAST_SAME < same_ratio(layernorm, rmsnorm) < 0.95
    assert same_ratio(layernorm, {}) == 0


@needs_shared
@pytest.mark.parametrize(
    ("name", "other", "ratio"),
    [
        ("h100_qwen_causal", "mi300x_qwen_causal", 0.826),
        ("h100_qwen_causal", "b200_vllm_eager", 0),
        # Neither has shapes: copies and matrix products have the same names in every program.
        ("a100_no_shapes", "nccl_message_sizes", 0.116),
    ],
)
def test_the_same_program_is_told_from_another(name: str, other: str, ratio: float) -> None:
    a, b = (shares_of(PYTORCH / f"{one}.json.gz") for one in (name, other))
    assert same_ratio(a, b) == pytest.approx(ratio, abs=2e-3)
    assert same_ratio(a, b) == pytest.approx(same_ratio(b, a))


def test_a_category_may_hold_what_utf8_cannot_say(tmp_path: Path) -> None:
    path = tmp_path / "ops.json"
    path.write_text(r'[{"name": "gemm", "time": "2 ms", "flops": 1e9, "category": "\ud800"}]')
    assert list(shares_of(path).values()) == [1.0]
