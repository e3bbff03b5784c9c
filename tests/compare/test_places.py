"""The change by module: each row's two times, what is split, and the sentence made of the rows."""

from dataclasses import replace

import pytest

from roofline.compare.changes import CATEGORY, MODULE, UNNAMED, WAIT, Comparison
from roofline.compare.comparison import compare
from roofline.compare.from_analysis import run_of
from roofline.compare.places import scope_of, shared_place, short_module
from roofline.exports.comparison import comparison_record, comparison_to_text
from roofline.exports.comparison_words import change_verdict, side_names
from roofline.presentation.sentences import plain_text
from roofline.presentation.text_table import spaced
from tests.compare.runs import Row, make_run
from tests.shared_profiles import needs_shared, shared

LAYER = "Model/DecoderLayer"
BASE = [
    Row(name="mm", path=f"{LAYER}/MLP/mm", time_us=40.0),
    Row(name="softmax", path=f"{LAYER}/Attention/softmax", time_us=30.0),
    Row(name="add", path=f"{LAYER}/add", time_us=10.0),
    Row(name="take", path="Model/Embedding/take", time_us=20.0),
]


def _compared(a: list[Row], b: list[Row], **of_b: object) -> Comparison:
    return compare([make_run(a, label="before")], [make_run(b, label="after", **of_b)])  # type: ignore[arg-type]


def _faster(rows: list[Row], **times: float) -> list[Row]:
    return [
        Row(name=one.name, path=one.path, time_us=times.get(one.name, one.time_us)) for one in rows
    ]


def test_what_holds_most_of_the_time_is_split_into_its_modules() -> None:
    found = _compared(BASE, _faster(BASE, mm=30.0))
    rows = [(one.name, one.is_itself, one.a.time_us, one.b.time_us) for one in found.places]
    assert rows == [
        ("MLP", False, 40.0, 30.0),
        ("Attention", False, 30.0, 30.0),
        ("Embedding", False, 20.0, 20.0),
        ("DecoderLayer", True, 10.0, 10.0),
    ]


def test_rows_and_waits_add_up_to_the_change() -> None:
    found = _compared(BASE, _faster(BASE, mm=31.0, add=14.0), idle_us=7.0)
    assert sum(one.change_us for one in found.places) == pytest.approx(found.change_us, abs=1e-9)
    assert [one.name for one in found.places if one.kind == WAIT] == ["idle"]


def test_without_modules_the_rows_are_categories() -> None:
    rows = [Row(name="a", category="matmul"), Row(name="b", category="copy")]
    assert {one.kind for one in _compared(rows, rows).places} == {CATEGORY}


def test_a_category_has_each_sides_own_operations_whatever_they_became() -> None:
    a = [Row(name="x", category="matmul", time_us=8.0), Row(name="y", category="copy")]
    b = [Row(name="x", category="copy", time_us=6.0), Row(name="z", category="matmul", time_us=5.0)]
    rows = {one.name: (one.a.time_us, one.b.time_us) for one in _compared(a, b).places}
    assert rows == {"matmul": (8.0, 5.0), "copy": (a[1].time_us, 6.0)}


def test_the_two_ends_of_what_runs_aside_are_one_category() -> None:
    ends = [Row(name=f"x{end}", category=f"copy-{end}", time_us=9.0) for end in ("start", "done")]
    found = _compared([*ends, BASE[0]], [replace(BASE[0], path="")])
    assert {one.name: one.change_us for one in found.places}["copy-start/done"] == -18.0


def test_where_most_is_of_no_known_category_the_rows_are_operations() -> None:
    rows = [Row(name="x", category="other", time_us=90.0), Row(name="y", category="copy")]
    found = _compared(rows, [replace(rows[0], time_us=70.0), rows[1]])
    assert found.places[0].name == "x"


@needs_shared
def test_a_category_of_two_real_traces_is_that_of_each_alone() -> None:
    """One fused group of 150 operations that became 68 was called "copy" after its longest one."""
    a, b = (
        run_of(shared(f"samples/pytorch/trace_diff_{name}.json.gz")) for name in ("a100", "v100")
    )
    rows = {(one.name, one.phase): one.b.time_us for one in compare([a], [b]).places}
    assert rows["copy", "backward"] == pytest.approx(16_100, rel=0.01)
    assert rows["matmul", "backward"] == pytest.approx(24_200, rel=0.01)


def test_work_without_a_module_is_a_row_beside_modules() -> None:
    rows = [*BASE, Row(name="memset", time_us=5.0)]
    kinds = [one.kind for one in _compared(rows, rows).places]
    assert kinds.count(UNNAMED) == 1
    assert kinds.count(MODULE) == 4


def test_the_backward_pass_of_a_module_is_in_its_row_and_pairs_with_itself() -> None:
    """As PyTorch has it: `backward/Model/Layer_1/op` stands beside `Model/Layer_1/op`."""
    ways = ("Model/Layer_0/mm", "Model/Layer_1/mm", "backward/Model/Layer_1/mm")
    a = [
        *(Row(name="mm", path=path, time_us=20.0) for path in ways),
        Row(name="loss", path="backward/Model/Head/loss", time_us=30.0),
    ]
    b = [*a[:2], replace(a[2], time_us=50.0), replace(a[3], time_us=25.0)]
    found = _compared(a, b)
    rows = {one.name: (one.a.time_us, one.b.time_us) for one in found.places}
    assert rows == {"Layer": (60.0, 90.0), "Head": (30.0, 25.0)}
    changed = [(one.a.time_us, one.b.time_us) for one in found.ops if abs(one.change_us) > 1]
    assert sorted(changed) == [(20.0, 50.0), (30.0, 25.0)]


def test_a_share_of_the_roof_needs_half_of_the_time_known() -> None:
    rows = [
        Row(name="mm", path="Model/MLP/mm", time_us=40.0, flop=1e7, bytes=1.0),
        Row(name="x", path="Model/MLP/x", time_us=10.0, flop=float("nan"), bytes=float("nan")),
        Row(name="y", path="Model/Other/y", time_us=60.0, flop=float("nan"), bytes=float("nan")),
    ]
    places = {one.name: one for one in _compared(rows, rows).places}
    assert places["MLP"].a.roof_ratio == pytest.approx(10 / 40)
    assert places["Other"].a.roof_ratio is None


def test_instances_count_as_their_class_and_families_have_short_names() -> None:
    assert scope_of("jit(f)/Net/Block_3/Dense_0/dot") == ("Net", "Block", "Dense")
    assert short_module("Qwen2RMSNorm", "Qwen2Model") == "RMSNorm"
    assert short_module("Qwen2MLP", "Qwen2Model") == "MLP"
    assert short_module("Embedding", "Qwen2Model") == "Embedding"
    assert short_module("Model", "Model") == "Model"


def _largest(found: Comparison) -> str:
    return spaced(plain_text(change_verdict(found).largest)).strip()


@pytest.mark.parametrize(
    ("times", "said"),
    [
        ({"mm": 30.0, "take": 23.0}, "MLP takes 10 µs less, Embedding 3 µs more."),
        ({"mm": 30.0, "softmax": 28.0}, "MLP takes 10 µs less, Attention 2."),
        (
            {"mm": 30.0, "softmax": 22.0, "take": 23.0},
            "MLP takes 10 µs less, Attention 8, Embedding 3 µs more.",
        ),
    ],
)
def test_the_second_line_has_changes_of_nearly_the_largest_and_one_the_other_way(
    times: dict[str, float], said: str
) -> None:
    assert _largest(_compared(BASE, _faster(BASE, **times))) == said


def test_a_name_of_the_program_keeps_its_case_where_a_sentence_begins() -> None:
    rows = [
        Row(name="row_sums", path="", time_us=40.0, category="other"),
        Row(name="column_sums", path="", time_us=30.0, category="other"),
    ]
    found = _compared(rows, [replace(rows[0], time_us=30.0), rows[1]])
    assert _largest(found) == "row_sums takes 10.0 µs less."


def test_a_change_that_no_few_places_have_is_called_spread_out() -> None:
    rows = [Row(name=f"x{k}", path=f"Model/Part{k}x/mm", time_us=20.0) for k in range(9)]
    found = _compared(rows, [replace(one, time_us=30.0) for one in rows])
    said = "The change is spread out: Part0x takes 10 µs more, Part1x 10, Part2x 10."
    assert _largest(found) == said


def test_a_mixed_group_is_in_the_deepest_module_that_has_nearly_all_of_it() -> None:
    paths = ["Net/Block_0/Mlp/Dense/dot", "Net/Block_0/Mlp/add", "Net/Block_0/Norm/mul"]
    assert shared_place(paths, [60.0, 35.0, 5.0]) == (0, 3)
    assert shared_place(paths, [20.0, 20.0, 60.0]) == (2, 2)
    assert shared_place(["dot", "Net/Mlp/dot"], [50.0, 50.0]) == (0, 0)


def test_a_category_has_a_line_where_most_of_its_change_is() -> None:
    def lines(*sources: str) -> str:
        base = [Row(name=f"x{k}", category="copy", source=one) for k, one in enumerate(sources)]
        other = Row(name="y", category="matmul")
        found = _compared([*base, other], [*(replace(one, time_us=30.0) for one in base), other])
        return found.places[0].source

    assert lines("a.py", "a.py", "b.py").startswith("a.py")
    assert lines("a.py", "b.py", "c.py") == ""


def test_code_that_one_run_alone_has_is_named_with_its_line() -> None:
    new = [
        Row(name=f"z{k}", path=f"Model/Block_{k}/oops/zzz", source="/home/me/net.py", line=17)
        for k in range(3)
    ]
    blocks = [Row(name=f"dot{k}", path=f"Model/Block_{k}/dot") for k in range(3)]
    base = [*BASE, *blocks]
    found = _compared(base, [*base, *new])
    assert _largest(found) == "oops is new in each of 3 Blocks: +60 of +60 µs (net.py:17)."
    assert _largest(_compared([*base, *new], base)).startswith("oops is gone in each of 3")
    installed = [Row(name="z", path="Model/oops/z", source="/x/site-packages/y.py", line=3)]
    assert _largest(_compared(BASE, [*BASE, *installed])) == "oops is new: +20 of +20 µs (y.py:3)."


def test_a_kernel_that_one_run_alone_has_is_gone() -> None:
    kept = Row(name="tiled", category="other", time_us=4.0)
    base = [Row(name="basic", category="other", time_us=90.0), kept]
    assert _largest(_compared(base, [kept])) == "basic is gone: −90.0 of −90.0 µs."


def test_a_layer_is_new_or_gone_whatever_its_operations_were_paired_with() -> None:
    """As of PyTorch: one row for all modules that call it, named by the longest of them."""
    base = [*BASE, Row(name="t", path="Model/Block/Linear/t", time_us=1.0)]
    oops = [
        Row(name="t", path="Model/Block/Oops/t", time_us=9.0),
        Row(name="big", path="Model/Block/Oops/big", time_us=90.0),
    ]
    for a, b, said in ((base, [*BASE, *oops], "new: +99"), ([*BASE, *oops], base, "gone: −99")):
        found = _compared(a, b)
        assert _largest(found).startswith(f"Oops is {said} of ")
        assert sum(one.change_us for one in found.places) == pytest.approx(found.change_us)
        assert {one.name for one in found.places} >= {"Oops", "Linear"}


def test_a_users_line_that_all_rows_have_gives_way_to_the_librarys() -> None:
    rows = [
        replace(one, source="run.py", line=28, library=f"/x/site-packages/lib.py:{k}")
        for k, one in enumerate(BASE)
    ]
    assert _largest(_compared(rows, _slower(rows))) == "MLP takes 10 µs more (lib.py:0)."
    rows[1] = replace(rows[1], line=29)
    assert _largest(_compared(rows, _slower(rows))) == "MLP takes 10 µs more (run.py:28)."


def _slower(rows: list[Row]) -> list[Row]:
    return [replace(rows[0], time_us=rows[0].time_us + 10.0), *rows[1:]]


def test_sides_are_named_by_device_then_title_then_letter() -> None:
    other = make_run(BASE, label="after", device="NVIDIA A100-SXM4-40GB")
    base = make_run(BASE, label="before", device="NVIDIA H100 80GB HBM3")
    assert side_names(compare([base], [other])) == ("the H100", "the A100")
    unknown = make_run(BASE, label="after", device="AMD GPU")
    assert side_names(compare([base], [unknown])) == ("before", "after")
    assert side_names(_compared(BASE, BASE)) == ("before", "after")
    assert side_names(compare([make_run(BASE)], [make_run(BASE)])) == ("A", "B")


@needs_shared
def test_modules_of_two_real_captures() -> None:
    """H100 against MI300X: −1.70 RMSNorm, −1.68 Attention, +1.39 MLP, +0.40 host = −1.76 ms."""
    runs = [run_of(shared(f"samples/pytorch/{one}_qwen_causal.json.gz")) for one in _PARTS]
    found = compare(runs[:1], runs[1:])
    assert [(one.name, round(one.change_us / 1e3, 2)) for one in found.places[:5]] == [
        ("RMSNorm", -1.70),
        ("Attention", -1.68),
        ("MLP", 1.39),
        ("idle", 0.40),
        ("DecoderLayer", -0.17),
    ]
    assert sum(one.change_us for one in found.places) == pytest.approx(-1761.085, abs=1e-3)
    for side, subject in zip("ab", found.subjects, strict=True):
        sides = [getattr(one, side) for one in found.places if one.kind != WAIT]
        assert subject is not None
        needed, judged = (
            sum(getattr(one, name) for one in sides) for name in ("needed_us", "judged_us")
        )
        assert needed / judged == pytest.approx(subject.roof_ratio)
    assert "65 % → 54 %" in comparison_to_text(found)
    assert comparison_record(found)["places"][0] == {
        "kind": "module",
        "name": "RMSNorm",
        "is_new": False,
        "is_gone": False,
        "around": "DecoderLayer",
        "copies": 1,
        "source": "moca/library/model_hub/huggingface/model/adapters/text_base_model.py:28",
        "library": "transformers/models/qwen2/modeling_qwen2.py:218",
        "noise_us": None,
        "a_us": pytest.approx(7378.0, abs=0.1),
        "b_us": pytest.approx(5674.2, abs=0.1),
        "change_us": pytest.approx(-1703.8, abs=0.1),
        "a_roof_ratio": pytest.approx(0.654, abs=1e-3),
        "b_roof_ratio": pytest.approx(0.5375, abs=1e-3),
    }


_PARTS = ("h100", "mi300x")
