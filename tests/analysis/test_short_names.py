"""Short forms of names: tests/golden/names/names.json, and what no form may do."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roofline.analysis.short_names import (
    ShortName,
    common_prefix,
    distinct,
    fitted,
    middle_cut,
    short_name,
)
from tests.tools.golden_names import GOLDEN, written


def test_names_are_shown_as_the_golden_file_has_them() -> None:
    assert GOLDEN.read_text("utf-8") == written()


@given(st.text(max_size=80), st.integers(2, 60))
def test_a_short_name_is_never_empty_and_a_cut_one_fits(name: str, width: int) -> None:
    assert short_name(name).text or not name.strip()
    assert len(middle_cut(name, width)) <= width
    assert len(fitted(short_name(name), width)) <= width


def test_different_names_never_look_the_same() -> None:
    names = ["void f<float, 1>(int)", "g", "void f<double>(int)", "void f<float, 1>(int)"]
    assert [one.text for one in distinct(names)] == ["f #1", "g", "f #2", "f #1"]
    operators = ["aten::mm [2x2, 2x2] f32", "aten::mm [4x4, 4x4] f32"]
    assert [one.text for one in distinct(operators)] == ["aten::mm", "aten::mm"]


def test_wrappers_of_templates_show_what_they_run() -> None:
    wrapped = "void cutlass::device_kernel<flash::enable_sm90_or_later<flash::FlashAttnFwdSm90<x>>>"
    assert short_name(wrapped).text == "FlashAttnFwdSm90"
    assert short_name("void ck_tile::kentry<1, ck_tile::BatchedGemmKernel<_Float16>>(X)").text == (
        "BatchedGemmKernel"
    )
    assert short_name("void scale<_Float16, float>(int)").chips == ("f16, f32",)


def test_in_a_line_the_last_chip_may_lose_its_middle() -> None:
    name = ShortName("aten::mm", ("bf16", "8944×1024, 1024×2816"))
    assert fitted(name, 40) == "aten::mm bf16 8944×1024, 1024×2816"
    assert fitted(name, 24) == "aten::mm bf16 8944×1…816"
    assert fitted(name, 20) == "aten::mm bf16"
    assert fitted(name, 7) == "aten…mm"


@pytest.mark.parametrize(
    ("texts", "prefix"),
    [
        (["model/layers.0/attn", "model/layers.1/mlp"], "model/"),
        (["aten::mm", "aten::add"], "aten::"),
        (["/home/me/a.py", "/home/me/b/c.py"], "/home/me/"),
        (["fusion.1", "fusion.2"], ""),
        (["a/b"], ""),
        (["a/b", "c/d"], ""),
        (["/a", "/b"], ""),
        ([], ""),
    ],
)
def test_what_all_begin_with_ends_where_a_scope_ends(texts: list[str], prefix: str) -> None:
    assert common_prefix(texts) == prefix


@pytest.mark.parametrize(
    "hostile", ["f<" * 2000, "a" * 20_000 + "<b>", f"f<{'a' * 20_000}>(", "_ZN" + "1a" * 9000]
)
def test_names_of_hostile_length_have_a_short_form(hostile: str) -> None:
    assert short_name(hostile).text
