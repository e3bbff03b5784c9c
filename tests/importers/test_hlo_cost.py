"""Costs, categories and sources of HLO instructions: XProf's, instruction by instruction."""

import gzip
import html
import json
from pathlib import Path

import pytest

from roofline.importers.xspace.hlo.cost import CostModel, OpCost
from roofline.importers.xspace.hlo.module import Module, group_size, parse_module
from roofline.importers.xspace.oddities import Oddities

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "hlo"
PROGRAMS = sorted(path.name.removesuffix(".pb.gz") for path in GOLDEN.glob("*.pb.gz"))
XPROF = json.loads(gzip.decompress((GOLDEN / "xprof.json.gz").read_bytes()))


def program(name: str) -> Module:
    module = parse_module(gzip.decompress((GOLDEN / f"{name}.pb.gz").read_bytes()))
    assert module is not None
    return module


def corrected(name: str, instruction: str) -> OpCost:
    module = program(name)
    return CostModel(module, Oddities(on=False)).cost_of(module.by_name[instruction])


def source_cell(module: Module, instruction: str) -> str:
    source = module.source(module.by_name[instruction])
    if not source.file:
        return ""
    stack, file = (
        html.escape(text).replace("&#x27;", "&#39;") for text in (source.stack, source.file)
    )
    return f"<div class='source-info-cell' title='{stack}'>{file}:{source.line}</div>"


def in_xprofs_words(module: Module, model: CostModel, name: str) -> list[object]:
    """The row of a kernel: no model FLOPs are shown as FLOPs, no HBM entry as all bytes."""
    instruction = module.by_name[name]
    cost = model.cost_of(instruction)
    hbm = cost.bytes_accessed if cost.hbm_bytes is None else cost.hbm_bytes
    return [
        instruction.category,
        cost.device_flop,
        cost.model_flop or cost.device_flop,
        cost.bytes_accessed,
        hbm,
        source_cell(module, name),
    ]


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_instruction_equals_xprof(name: str) -> None:
    module = program(name)
    model = CostModel(module, Oddities(on=True))
    found = {each: in_xprofs_words(module, model, each) for each in XPROF[name]}
    different = {k: (found[k], XPROF[name][k]) for k in found if found[k] != XPROF[name][k]}
    assert found.keys() == module.by_name.keys()
    assert not different


@pytest.mark.covers(87, 181, 190)
def test_dot_counts_two_flops_per_product() -> None:
    cost = corrected("dot", "dot_general.1")
    assert cost.model_flop == 2 * 64 * 128 * 96
    assert cost.bytes_accessed == 4 * (64 * 128 + 128 * 96 + 64 * 96)


def test_a_library_calls_result_is_traffic_though_it_lies_in_a_tuple() -> None:
    """XProf counts only what the call reads; the scratch buffer beside the result is none."""
    cost = corrected("gpu_fusions", "gl")
    assert cost.hbm_bytes == cost.bytes_accessed == 2 * (64 * 32 + 32 * 48 + 64 * 48)


def test_the_older_cublas_call_is_a_matrix_product_too() -> None:
    assert XPROF["gpu_fusions"]["gl0"][1] == 0
    assert corrected("gpu_fusions", "gl0").model_flop == 2 * 64 * 32 * 48


def test_an_unknown_custom_call_has_no_cost() -> None:
    cost = corrected("gpu_convolutions", "tr")
    assert not cost.known
    assert cost.model_flop == cost.bytes_accessed == 0


def test_values_on_the_host_are_no_hbm_traffic() -> None:
    cost = corrected("gpu_fusions", "hostadd")
    size = 4 * 64 * 48
    assert (cost.bytes_accessed, cost.hbm_bytes) == (3 * size, 2 * size)


def test_eight_bit_operands_count_half_on_the_device() -> None:
    cost = corrected("gpu_fusions", "d8")
    assert (cost.model_flop, cost.device_flop) == (196_608, 98_304)


def test_while_costs_one_iteration() -> None:
    body, whole = (corrected("gpu_control_flow", name) for name in ("vy", "wh"))
    assert body.model_flop < whole.model_flop < body.model_flop + 10


@pytest.mark.parametrize(("name", "devices"), [("agn", 8), ("agr", 8), ("agt", 4), ("arg", 1)])
def test_group_size_of_listed_and_iota_groups(name: str, devices: int) -> None:
    assert group_size(program("gpu_control_flow").by_name[name]) == devices


def test_long_names_of_shapes_read_like_hlo() -> None:
    assert str(program("gpu_fusions").by_name["gl"].shape) == "(bf16[64,48], s8[1000])"


@pytest.mark.parametrize("raw", [b"\x0a\x05abc", b"\xff\xff", b""])
def test_a_damaged_program_is_none_or_empty(raw: bytes) -> None:
    module = parse_module(raw)
    assert module is None or not module.by_name


def test_every_cut_program_is_read_or_refused() -> None:
    raw = gzip.decompress((GOLDEN / "train_compiled.pb.gz").read_bytes())
    for size in range(0, len(raw), 97):
        module = parse_module(raw[:size])
        if module is None:
            continue
        for instruction in module.by_name.values():
            CostModel(module, Oddities(on=False)).cost_of(instruction)
