"""Paths, shapes, producers and groups of XLA's ops: from texts, stats and compiled programs."""

import gzip
from pathlib import Path
from typing import Any

import pytest

from roofline.importers.xspace import tpu_programs
from roofline.model.profile import OpTable
from tests.profiles import imported
from tests.tools.gpu_captures import metadata_plane
from tests.tools.small_profiles import MICROSECOND_PS, SmallOp, space_bytes, tpu_plane

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared"
GOLDEN = ROOT / "tests" / "golden" / "hlo"
REDUCE = (
    "%all-reduce = f32[8]{0:T(8)} all-reduce(f32[8]{0:T(8)} %bitcast), "
    "replica_groups=[4,2]<=[2,4]T(1,0)"
)


def ops_of(*paths: Path) -> OpTable:
    return imported(*paths).ops


def op(name: str, **more: Any) -> SmallOp:
    span = (MICROSECOND_PS, MICROSECOND_PS)
    return SmallOp(name=name, spans=[span], flops=1, bytes_accessed=1, **more)


def row_of(ops: OpTable, name: str) -> dict[str, Any]:
    at = ops.name.index(name)
    names = ("framework_path", "operands", "results", "operand_names", "replica_groups")
    return {**{n: getattr(ops, n)[at] for n in names}, "group_size": int(ops.group_size[at])}


def captured(folder: Path, *ops: SmallOp, programs: dict[int, bytes] | None = None) -> OpTable:
    planes = [tpu_plane(ops, [(0, 10 * MICROSECOND_PS)])]
    path = folder / "host.xplane.pb"
    path.write_bytes(space_bytes([*planes, *([metadata_plane(programs)] if programs else [])]))
    return ops_of(path)


def program(name: str) -> bytes:
    return gzip.decompress((GOLDEN / f"{name}.pb.gz").read_bytes())


@pytest.mark.covers(105)
def test_the_text_of_an_instruction_describes_its_op(tmp_path: Path) -> None:
    stats = [("tf_op", "jit(f)/psum:"), ("shape_with_layout", "f32[9]")]
    ops = captured(tmp_path, op("all-reduce", long_name=REDUCE, extra=stats))
    assert row_of(ops, "all-reduce") == {
        "framework_path": "jit(f)/psum",
        "operands": "f32[8]{0:T(8)}",
        "results": "f32[9]",
        "operand_names": "bitcast",
        "replica_groups": "[4,2]<=[2,4]T(1,0)",
        "group_size": 2,
    }


def test_without_text_the_compilers_stats_have_the_result(tmp_path: Path) -> None:
    stats = [("shape_with_layout", "(bf16[8]{0}, u32[]{:S(2)})")]
    ops = captured(tmp_path, op("a", extra=stats), op("b"))
    assert row_of(ops, "a")["results"] == "bf16[8]{0}; u32[]{:S(2)}"
    assert not any(row_of(ops, "b").values())


def test_a_compiled_program_completes_what_the_metadata_lacks(tmp_path: Path) -> None:
    ops = captured(tmp_path, op("dot_general.1"), programs={7: program("dot")})
    assert row_of(ops, "dot_general.1") == {
        "framework_path": "jit(<lambda>)/dot_general",
        "operands": "f32[64,128]{1,0}; f32[128,96]{1,0}",
        "results": "f32[64,96]{1,0}",
        "operand_names": "a.1; b.1",
        "replica_groups": "",
        "group_size": 0,
    }
    assert (ops.source_file[0], int(ops.source_line[0])) == ("programs.py", 54)
    assert ops.source_stack[0].split("\n")[-1] == "programs.py:54:29 in functions.<locals>.<lambda>"


def test_functions_are_named_in_the_stack_of_the_metadata(tmp_path: Path) -> None:
    stats = [("source", "programs.py:1"), ("source_stack", "x.py:1:2\nprograms.py:54:29")]
    described = op("dot_general.1", extra=stats)
    ops = captured(tmp_path, described, programs={7: program("dot")})
    assert int(ops.source_line[0]) == 1
    assert ops.source_stack[0].split("\n") == [
        "x.py:1:2",
        "programs.py:54:29 in functions.<locals>.<lambda>",
    ]


@pytest.mark.parametrize(
    ("instruction", "groups", "size"),
    [("agn", "[1,8]<=[8]", 8), ("agt", "{{0,1,2,3}}", 4), ("fas", "", 0)],
)
def test_groups_of_a_program_are_as_xla_prints_them(
    instruction: str, groups: str, size: int, tmp_path: Path
) -> None:
    ops = captured(tmp_path, op(instruction), programs={7: program("gpu_control_flow")})
    found = row_of(ops, instruction)
    assert (found["replica_groups"], found["group_size"]) == (groups, size)


def test_an_async_wrapper_has_the_groups_of_what_it_runs(tmp_path: Path) -> None:
    ops = captured(tmp_path, op("as"), programs={7: program("gpu_fusions")})
    assert row_of(ops, "as")["group_size"] == 4
    assert row_of(ops, "as")["results"] == "(f32[16,48]{1,0}); f32[64,48]{1,0}"


def test_a_damaged_or_huge_program_is_left_aside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not any(row_of(captured(tmp_path, op("a"), programs={7: b"\xff"}), "a").values())
    monkeypatch.setattr(tpu_programs, "MAX_PROGRAM_BYTES", 10)
    ops = captured(tmp_path, op("dot_general.1"), programs={7: program("dot")})
    assert not any(row_of(ops, "dot_general.1").values())


def test_a_cpu_capture_has_paths_shapes_and_functions() -> None:
    ops = ops_of(ROOT / "sample_profiles" / "xspace" / "jax-cpu-transformer.xplane.pb")
    assert row_of(ops, "ynn_fusion.47") == {
        "framework_path": "jit(step)/jvp()/dot_general",
        "operands": "f32[1024,256]{1,0}; f32[256,768]{1,0}",
        "results": "f32[1024,768]{1,0}",
        "operand_names": "multiply_bitcast_fusion.5; p__b0____qkv__.1",
        "replica_groups": "",
        "group_size": 0,
    }
    stack = ops.source_stack[ops.name.index("ynn_fusion.47")]
    assert stack.split("\n")[:2] == ["train.py:13:29 in block", "train.py:20:25 in loss"]


@pytest.mark.skipif(not SHARED.is_dir(), reason="needs the shared folder")
def test_a_real_tpu_capture_is_described_whole() -> None:
    ops = ops_of(SHARED / "profiles" / "tpu-v6e-inference" / "host_0.xplane.pb")
    assert all(ops.operands) and all(ops.results) and all(ops.operand_names)
    array = "f32[5,1024,1024,256]{3,2,1,0:T(8,128)}"
    assert row_of(ops, "all-reduce") == {
        "framework_path": "jit(_psum)/jit(main)/reduce_sum",
        "operands": array,
        "results": array,
        "operand_names": "bitcast",
        "replica_groups": "[4,2]<=[2,4]T(1,0)",
        "group_size": 2,
    }
    stack = ops.source_stack[ops.name.index("broadcast_add_fusion")]
    assert stack.startswith("<embedded module '_launcher'>:153:2 in run_filename_as_main\n")


@pytest.mark.skipif(not SHARED.is_dir(), reason="needs the shared folder")
def test_tables_of_xprof_have_paths_and_what_their_texts_say() -> None:
    folder = SHARED / "samples" / "xprof_export"
    ops = ops_of(folder / "v4_hlo_stats.json", folder / "v4_roofline_model.json")
    found = row_of(ops, "all-reduce.25")
    assert (found["framework_path"], found["results"]) == (
        "jit(train)/layer25/all-reduce",
        "bf16[128,128]",
    )
