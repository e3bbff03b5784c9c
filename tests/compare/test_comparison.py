"""Whole comparisons: sums, swapping, notes, captures of a side, documents."""

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from itertools import combinations, pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roofline.compare.attribution import TERMS
from roofline.compare.changes import Comparison
from roofline.compare.comparison import compare
from roofline.compare.from_analysis import run_of
from roofline.compare.run import CAPTURE, STEP, Run, from_document, run_from_json, run_to_json
from roofline.errors import BadViewError, CorruptProfileError, RooflineError
from roofline.exports.comparison_words import change_verdict
from roofline.importers.generic.reader import CATEGORY
from roofline.importers.shared.kernel_names import OTHER
from roofline.importers.xspace.kernels import KERNEL_CATEGORY
from roofline.pipeline import analyse_files
from roofline.presentation.sentences import plain_text
from tests.compare.runs import Row, make_run
from tests.conftest import ROOT

NAN = float("nan")
SHARED = ROOT.parent / "shared"
REAL = (
    *sorted(SHARED.glob("profiles/*/host_0.xplane.pb")),
    *sorted(SHARED.glob("cases/*/host_0.xplane.pb")),
    *sorted(SHARED.glob("samples/pytorch/*.json.gz")),
    *sorted(SHARED.glob("samples/nsight_compute/*.*")),
    *sorted(SHARED.glob("samples/xprof_export/*.*")),
    *sorted(SHARED.glob("samples/minimal/*.*")),
)
MOST_BYTES = 40_000_000

_numbers = st.one_of(st.just(NAN), st.just(0.0), st.floats(1.0, 1e9))
_rows = st.lists(
    st.builds(
        Row,
        name=st.sampled_from(["fusion.1", "fusion.2", "dot.1", "dot.2", "copy.3"]),
        path=st.sampled_from(
            ["", "jit(f)/A/dot", "jit(f)/A/mul", "jit(f)/transpose(jvp(A))/dot", "jit(f)/B/dot"]
        ),
        operands=st.sampled_from(["", "f32[8]", "f32[9]"]),
        category=st.sampled_from(["fusion", "dot"]),
        calls=st.sampled_from([1.0, 2.0, 12.5]),
        flop=_numbers,
        bytes=_numbers,
        time_us=st.one_of(st.just(0.0), st.floats(0.01, 1e6)),
    ),
    max_size=8,
)
_runs = st.builds(
    make_run,
    _rows,
    idle_us=st.floats(-10, 1e3),
    exposed_us=st.floats(0, 1e3),
    host_us=st.floats(0, 10),
    peaks=st.sampled_from([(1e6, 1e3), (2e6, 5e3)]),
)


def _check_sums(found: Comparison) -> None:
    scale = max(found.a_us, found.b_us, *(abs(value) for value in found.terms.values()), 1e-30)
    assert tuple(found.terms) == TERMS
    assert found.change_us == found.b_us - found.a_us
    assert abs(sum(found.terms.values()) - found.change_us) <= 1e-9 * scale
    for change in found.ops:
        assert abs(sum(change.terms.values()) - change.change_us) <= 1e-9 * scale
    for group in found.groups:
        assert abs(sum(group.terms.values()) - group.change_us) <= 1e-9 * scale
    if found.matched:
        assert sum(found.matched.values()) == pytest.approx(1.0)


def _check_swap(there: Comparison, back: Comparison) -> None:
    scale = max(there.a_us, there.b_us, *(abs(value) for value in there.terms.values()), 1e-30)
    opposite = {"new": "gone", "gone": "new"}
    for name, value in there.terms.items():
        assert abs(value + back.terms[opposite.get(name, name)]) <= 1e-9 * scale, name


@settings(max_examples=150)
@given(_runs, _runs)
def test_terms_add_up_and_swapping_negates_them(a: Run, b: Run) -> None:
    there, back = compare([a], [b]), compare([b], [a])
    _check_sums(there)
    _check_swap(there, back)


@settings(max_examples=80)
@given(_runs)
def test_a_run_against_itself_is_all_zero(run: Run) -> None:
    found = compare([run], [run])
    assert found.change_us == 0
    assert not any(found.terms.values())
    assert all(one.change_us == 0 and not any(one.terms.values()) for one in found.ops)
    assert not found.only_a
    assert not found.only_b


@cache
def _real_runs() -> dict[str, list[Run]]:
    """The shared profiles that can be read on their own, by format."""
    runs: dict[str, list[Run]] = defaultdict(list)
    for path in REAL:
        if path.stat().st_size > MOST_BYTES:
            continue
        try:
            analysis = analyse_files([path])
        except RooflineError:
            continue
        runs[analysis.profile.format_id].append(run_of(analysis, path.name))
    return runs


def _add_up(pairs: Iterable[tuple[Run, Run]]) -> int:
    """Checks both directions of every pair; how many there were."""
    count = 0
    for a, b in pairs:
        there, back = compare([a], [b]), compare([b], [a])
        _check_sums(there)
        _check_swap(there, back)
        count += 1
    return count


@pytest.mark.skipif(not SHARED.is_dir(), reason="needs the shared folder")
def test_neighbours_of_one_format_add_up() -> None:
    """Each profile with the next; `make test-long` takes every pair."""
    assert sum(_add_up(pairwise(runs)) for runs in _real_runs().values()) > 50


@pytest.mark.skipif(not SHARED.is_dir(), reason="needs the shared folder")
def test_every_pair_of_shared_profiles_of_one_format_adds_up() -> None:
    assert sum(_add_up(combinations(runs, 2)) for runs in _real_runs().values()) > 50


@pytest.mark.skipif(not SHARED.is_dir(), reason="needs the shared folder")
def test_every_shared_profile_is_written_and_read_the_same_and_equals_itself() -> None:
    for runs in _real_runs().values():
        for run in runs:
            read = run_from_json(run_to_json(run))
            assert run_to_json(read) == run_to_json(run)
            found = compare([run], [read])
            assert found.change_us == 0
            assert not any(found.terms.values()), run.label


def _qwen(name: str) -> Run:
    path = SHARED / "samples" / "pytorch" / f"{name}.json.gz"
    if not path.is_file():
        pytest.skip("no shared profiles here")
    return run_of(analyse_files([path]), name)


def test_two_vendors_meet_by_operator_and_shape() -> None:
    """The same model on an H100 and an MI300X: equal FLOPs and bytes, other peaks."""
    found = compare([_qwen("h100_qwen_causal")], [_qwen("mi300x_qwen_causal")])
    matched = 1 - found.matched.get("9", 0) - found.matched.get("only", 0)
    assert matched > 0.9
    assert found.terms["peaks"] < -8_000
    assert found.terms["closeness"] > 8_000
    assert abs(found.terms["work"]) + abs(found.terms["traffic"]) < 20
    assert "other-device" in found.notes
    (mm,) = [
        one for one in found.ops if one.a.names[0].startswith("aten::mm [8944x1024, 1024x2816")
    ]
    assert mm.b.names == mm.a.names
    assert mm.a.bound == mm.b.bound == "matrix_bf16"


def test_exposed_communication_and_idle_are_terms_of_their_own() -> None:
    rows = [Row(name="dot.1")]
    found = compare(
        [make_run(rows, idle_us=5, exposed_us=7, host_us=1)],
        [make_run(rows, idle_us=4, exposed_us=17, host_us=3)],
    )
    terms = {name: value for name, value in found.terms.items() if value}
    assert terms == {"idle": -1, "communication": 10, "transfers": 2}


def test_new_and_gone_operations_have_their_time() -> None:
    found = compare(
        [make_run([Row(name="a.1", time_us=3.0)])],
        [make_run([Row(name="b.1", time_us=8.0, category="copy")])],
    )
    assert found.terms["gone"] == -3.0
    assert found.terms["new"] == 8.0
    assert found.matched == {"only": 1.0}
    assert not found.is_comparable


def test_operations_above_their_roof_are_noted_and_still_add_up() -> None:
    rows = [Row(name="dot.1", time_us=5.0)]  # 10 us at the roof
    found = compare([make_run(rows)], [make_run([replace(rows[0], time_us=4.0)])])
    assert "above-roof" in found.notes
    assert found.terms["closeness"] == pytest.approx(-1.0)
    assert "above-roof" not in compare([make_run([Row(name="a.1")])] * 2, [make_run([])]).notes


def test_unequal_provenance_compares_time_alone() -> None:
    a = make_run([Row(name="dot.1", time_us=20.0)])
    b = replace(make_run([Row(name="dot.1", flop=9e6, time_us=30.0)]), provenance=("measured",) * 2)
    found = compare([a], [b])
    assert {name: value for name, value in found.terms.items() if value} == {"unknown": 10.0}
    assert "other-provenance" in found.notes


def test_flops_that_one_side_does_not_know_are_not_a_change_of_work() -> None:
    found = compare(
        [make_run([Row(name="dot.1", flop=NAN)])], [make_run([Row(name="dot.1", flop=9e9)])]
    )
    assert not any(found.terms.values())


def test_the_unit_is_the_best_that_all_captures_have() -> None:
    run = make_run([Row(name="dot.1")])
    capture = replace(run, units={CAPTURE: run.units[CAPTURE]})
    assert compare([run], [run]).unit == STEP
    assert compare([run], [capture]).unit == CAPTURE
    with pytest.raises(BadViewError, match="step"):
        compare([run], [capture], STEP)


def test_the_capture_in_the_middle_stands_for_its_side() -> None:
    def side(*times: float) -> list[Run]:
        return [make_run([Row(name="dot.1", time_us=t)], label=f"{t}") for t in times]

    found = compare(side(10.0, 30.0, 20.0), side(41.0, 42.0, 43.0))
    assert (found.a_us, found.b_us) == (20.0, 42.0)
    assert found.tested is not None
    assert found.tested.low == pytest.approx(41 / 30)
    assert "few-captures" not in found.notes
    assert "few-captures" in compare(side(10.0), side(20.0)).notes


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"{}", b'{"schema": 99}', b'{"schema": 1}', b"\xff"]
)
def test_other_documents_are_refused(content: bytes) -> None:
    with pytest.raises(CorruptProfileError):
        run_from_json(content)


def test_columns_of_unequal_length_are_refused() -> None:
    import orjson

    document = orjson.loads(run_to_json(make_run([Row(name="a"), Row(name="b")])))
    document["texts"]["name"]["rows"] = [0]
    with pytest.raises(CorruptProfileError, match="length"):
        from_document(document)


def test_a_run_survives_its_document() -> None:
    run = make_run([Row(name="a\ud800"), Row(name="b", flop=NAN)], samples_us=(1.0, 2.0))
    read = run_from_json(run_to_json(run))
    assert read.text("name") == ("a?", "b")
    assert math.isnan(read.flop[1])
    assert read.units[STEP].samples_us == (1.0, 2.0)


def test_the_source_of_an_operation(tmp_path: Path) -> None:
    run = make_run([Row(name="a", source="train.py", line=12), Row(name="b", source="train.py")])
    assert (run.source(0), run.source(1)) == ("train.py:12", "train.py")


def _kernels(device: str, *rows: tuple[str, str, float]) -> Run:
    named = [Row(name=name, category=kind, time_us=time_us) for name, kind, time_us in rows]
    return make_run(named, device=device)


@pytest.mark.parametrize("kind", [OTHER, CATEGORY, KERNEL_CATEGORY])
def test_kernels_of_no_known_kind_are_no_common_ground(kind: str) -> None:
    found = compare([_kernels("A", ("x", kind, 10.0))], [_kernels("B", ("y", kind, 12.0))])
    assert not found.is_comparable
    assert found.matched == {"only": 1.0}


def test_kinds_of_kernels_need_half_of_both_runs() -> None:
    old = _kernels("A", ("x", "matmul", 90.0), ("z", "copy", 10.0))
    near = _kernels("B", ("y", "matmul", 60.0), ("w", "sort", 40.0))
    far = _kernels("B", ("y", "matmul", 5.0), ("w", "sort", 1.0))
    assert compare([old], [near]).is_comparable
    for there, back in ((old, far), (far, old)):
        found = compare([there], [back])
        assert not found.is_comparable
        assert (found.groups, found.matched) == ((), {"only": 1.0})
        assert found.terms["new"] + found.terms["gone"] == pytest.approx(found.change_us)


def _in_scope(name: str, time_us: float, rest_us: float, scope: str = "Block") -> Run:
    rows = [
        Row(name=name, path=f"jit(f)/{scope}/{name}", operands=name, time_us=time_us),
        Row(name=f"{name}0", path=f"jit(f)/Top{name}/dot", operands=f"{name}8", time_us=rest_us),
    ]
    return make_run(rows)


def test_a_scope_that_both_have_counts_with_what_both_have_of_it() -> None:
    assert not compare([_in_scope("x", 5.0, 80.0)], [_in_scope("y", 900.0, 90.0)]).groups
    slower = compare([_in_scope("x", 50.0, 40.0)], [_in_scope("y", 900.0, 90.0)])
    assert slower.is_comparable and slower.groups[0].scope == "Block"


def test_a_backward_pass_is_in_every_training() -> None:
    a, b = _in_scope("x", 50.0, 40.0, "backward"), _in_scope("y", 900.0, 90.0, "backward")
    assert not compare([a], [b]).is_comparable


def _torch(**times_us: float) -> Run:
    """Operators of PyTorch without modules and shapes: the path is the operator."""
    return make_run(
        [
            Row(name=f"aten::{one}", path=f"aten::{one}", flop=NAN, bytes=NAN, time_us=time_us)
            for one, time_us in times_us.items()
        ]
    )


def test_operators_of_pytorch_without_shapes_are_in_every_program() -> None:
    """A training on a GPU and a small program on a CPU have products and sums in common."""
    big = _torch(mm=60e3, add=20e3, mul=10e3, sort=5e3)
    found = compare([big], [_torch(mm=300.0, add=50.0, mul=20.0, conv=900.0)])
    assert not found.is_comparable
    assert found.matched == {"only": 1.0}
    assert compare([big], [_torch(mm=120e3, add=21e3, mul=10e3, sort=5e3)]).is_comparable


def test_numbers_of_a_compiler_are_in_every_program() -> None:
    """`fusion.1` of two programs: other FLOPs and bytes. Equal bytes may be a new count of FLOPs;
    where all numbers are the same, it is another batch."""

    def run(numbers: range, flop: float, moved: float) -> Run:
        return make_run([Row(name=f"fusion.{k}", flop=k * flop, bytes=k * moved) for k in numbers])

    a = run(range(1, 9), 1e6, 1e4)
    assert not compare([a], [run(range(3, 11), 3e6, 2e4)]).is_comparable
    assert compare([a], [run(range(1, 9), 3e6, 1e4)]).is_comparable
    assert compare([a], [run(range(1, 9), 2e6, 2e4)]).is_comparable


def test_next_to_nothing_is_no_earlier_version() -> None:
    same, rest = Row(name="x", operands="f32[8]"), Row(name="y", operands="f32[9]")
    grown = make_run([same, replace(rest, time_us=300.0)])
    other = make_run([same, replace(rest, time_us=800.0)])
    assert compare([make_run([same])], [grown]).is_comparable
    assert not compare([make_run([same])], [other]).is_comparable


def test_much_that_is_new_leaves_a_program_as_it_was() -> None:
    """A layer that takes a hundred times as long as the program in which it is new."""
    layers = [Row(name=f"dot.{k}", operands=f"f32[{k},8]", path=f"f/L{k}/dot") for k in range(1, 9)]
    new = Row(name="oops", operands="f32[99]", path="f/oops/dot", time_us=80_000.0)
    assert compare([make_run(layers)], [make_run([*layers, new])]).is_comparable


def test_a_training_and_a_convolution_of_two_vendors_are_apart() -> None:
    v100, mi300x = (
        SHARED / "profiles" / name / "host_0.xplane.pb"
        for name in ("gpu-v100-tf-multiworker", "amd-mi300x-conv-jax08")
    )
    if not v100.is_file():
        pytest.skip("no shared profiles here")
    old, new = (run_of(analyse_files([path]), path.name) for path in (v100, mi300x))
    found = compare([old], [new])
    assert not found.is_comparable
    assert "% of the time has no partner" in plain_text(change_verdict(found).lead)
