"""K1, K2, K3, V5 and G5: work of compute units, how full its tiles are, and its number format."""

import re
from collections.abc import Iterator
from functools import cache
from itertools import product as combinations
from math import ceil, prod

import numpy as np

from roofline.advice.diagnosis import Label, at_least, below
from roofline.advice.formula import (
    CLOSER,
    CLOSER_CASES,
    GOOD,
    LESS_WORK,
    LESS_WORK_CASES,
    STOP,
    Threshold,
)
from roofline.advice.op_kinds import ATTENTION, COPY, OPTIMIZER
from roofline.advice.plan import Lever
from roofline.advice.rule import BOOK, MATMUL, Cure, Form, Found, Group, Rule, Run
from roofline.advice.rules.roofs import TARGETS, closer, less_work
from roofline.analysis.op_clocks import MAIN
from roofline.model.compute import ComputeUnit
from roofline.model.device import DeviceKind
from roofline.model.tensors import Product, product_of, tensors_of

FILLED = Threshold("FILLED", 0.90, "share of full tiles and waves below which filling is a finding")

_TILE = re.compile(
    r"tilesize(\d+)x(\d+)|_MT(\d+)x(\d+)x|nvjet_\w+?_(\d+)x(\d+)_|gemm_\w*?(?<![x\d])(\d+)x(\d+)_"
)
_DIVIDES_K = re.compile(r"split_?k(?!_?1\b)(?!_off)|stream_?k|_SK[1-9]|_GSU[2-9]", re.IGNORECASE)
_HELD_AT_ONCE = (1, 2)


def filled(name: str, operands: str, kernels: str, processors: int | None) -> float | None:
    """Share of the tiles' work that a matrix product's own is: padding of tiles times waves.

    The kernel's name says its tile, the operands the sizes. Which side of the tile lies along the
    rows, and how many tiles a processor holds, is not in a profile: the fullest case is taken.
    `None` if the profile does not state tile or sizes.
    """
    matrices, tile = product_of(name, operands), _tile(kernels)
    if matrices is None or tile is None or not processors:
        return None
    return max(
        _filled(matrices, sides, processors * held)
        for sides, held in combinations((tile, tile[::-1]), _HELD_AT_ONCE)
    )


def _filled(matrices: Product, tile: tuple[int, ...], slots: int) -> float:
    """Share of the padded tiles that is data, times the share of the waves' slots that work."""
    sizes = matrices.m, matrices.n
    counts = [ceil(size / side) for size, side in zip(sizes, tile, strict=True)]
    tiles = matrices.batch * prod(counts)
    return prod(sizes) / (prod(counts) * prod(tile)) * (tiles / (ceil(tiles / slots) * slots))


@cache
def _tile(kernels: str) -> tuple[int, ...] | None:
    """The tile in the name of a kernel; `None` for several kernels, or one that divides K."""
    if kernels.count("×") > 1 or _DIVIDES_K.search(kernels):
        return None
    sizes = _TILE.search(kernels)
    return tuple(int(size) for size in sizes.groups() if size) if sizes else None


def _fuller_chip(run: Run) -> Iterator[Found]:
    """Nearer to the roof; and tiles and waves that are not full, also of L2 and O1."""
    yield from closer("K1")(run)
    table, processors = run.table, run.analysis.profile.device.traits.processor_count
    for group in run.groups_of("K1", "L2", "O1"):
        if not group.bound.startswith("matrix_"):
            continue
        shares = np.array(
            [
                filled(table.name[op], table.operands[op], table.long_name[op], processors) or 1.0
                for op in group.ops.tolist()
            ]
        )
        ops, share = group.ops[shares < FILLED.value], shares[shares < FILLED.value]
        if len(ops):
            yield run.of_group(
                group,
                ops,
                Lever(rows=ops, time_us=run.state.busy_us[ops] * share),
                resource="tiles",
                factor=float(share.mean()),
                confidence="high",
                forms=("filled",),
                facts={"filled": float(share.mean())},
            )


K1 = Rule(
    id="K1",
    when="a compute unit binds, e < {GOOD}, no counters; a saving of its own where kernel and "
    "sizes show that less than {FILLED} of the tiles is data",
    source=MATMUL,
    formula=CLOSER,
    cases=CLOSER_CASES,
    thresholds=(GOOD, FILLED, *TARGETS),
    label=Label(
        13,
        lambda ops: (ops.is_matrix | ops.is_vector) & ~ops.is_counted & below(ops.e, GOOD.value),
    ),
    finds=_fuller_chip,
    lever="closeness",
    title="Fill the chip in {names}",
    why="Compute binds {count|it|them}, yet {count|it reaches|they reach} {efficiency} of the "
    "{roof} roof: padding, partial waves, a small K or a low clock.",
    cure=Cure("Shapes that fill tiles and waves, larger tiles, split-K, a look at the clock."),
    forms={
        "attention": Form(
            title="Use a faster attention kernel",
        ),
        "attention_paged": Form(title="Use a faster paged attention kernel"),
        "filled": Form(
            title="Fill the tiles of {names}",
            why="{filled} of the tiles and waves that {count|its kernel runs|their kernels run} "
            "are data; the rest is padding, or processors without a tile.",
        ),
    },
)
K2 = Rule(
    id="K2",
    when="the matrix unit binds, {GOOD} ≤ e < {STOP}",
    source=BOOK + "roofline",
    formula=CLOSER,
    cases=CLOSER_CASES,
    thresholds=(GOOD, STOP, *TARGETS),
    label=Label(14, lambda ops: ops.is_matrix & at_least(ops.e, GOOD.value)),
    finds=closer("K2"),
    lever="closeness",
    title="Bring {names} nearer to the roof",
    why="{count|It reaches|They reach} {efficiency} of the {roof} roof, so the unit is well used.",
    cure=Cure("Tuning to {target} of the roof, fewer FLOPs, or more devices."),
)


def _cheaper(run: Run) -> Iterator[Found]:
    """Half of the vector work; products leave the vector unit before that is halved (V5)."""
    moving = {op for found in run.found_by("V5") if found.lever for op in found.ops}
    for group in run.groups_of("K3"):
        if group.kind not in {OPTIMIZER, COPY} and not moving & {*group.ops.tolist()}:
            yield less_work(run, group, group.ops, "flops")


K3 = Rule(
    id="K3",
    when="the vector unit binds, e ≥ {GOOD}, not of optimizers and copies",
    source=BOOK + "roofline",
    formula=LESS_WORK,
    cases=LESS_WORK_CASES,
    thresholds=(GOOD,),
    label=Label(12, lambda ops: ops.is_vector & at_least(ops.e, GOOD.value)),
    finds=_cheaper,
    lever="work",
    condition="half of the vector work went",
    title="Make the vector work of {names} cheaper",
    why="The vector unit binds {count|it|them}, at {efficiency} of its roof.",
    cure=Cure("Cheaper functions, packed bf16, or work moved to the matrix unit."),
)

_WIDE = frozenset({"vector_fp32", "matrix_fp32"})
_LOWER = {
    ComputeUnit.MATRIX_BF16: (ComputeUnit.MATRIX_FP8, ComputeUnit.MATRIX_INT8),
    ComputeUnit.MATRIX_FP16: (ComputeUnit.MATRIX_FP8, ComputeUnit.MATRIX_INT8),
    ComputeUnit.MATRIX_TF32: (ComputeUnit.MATRIX_BF16, ComputeUnit.MATRIX_FP16),
}
_IN_ONE_PASS = (ComputeUnit.MATRIX_TF32, ComputeUnit.MATRIX_BF16)
_PRODUCTS = frozenset({"matmul", "convolution", "dot"})
_NARROW = frozenset({"bf16", "fp16", "fp8", "int8", "fp4", "int4"})
_HALVABLE = ("L1", "L2", "O1", "M1", "M2", "K1", "K2", "K3")


def _fp32_products(run: Run) -> Iterator[Found]:
    """Products of fp32 on a unit without tensor cores; and fp32 tensors under a narrow roof.

    The second is a GPU's alone: a TPU multiplies fp32 tensors in bf16 unless told otherwise.
    """
    for group in run.groups_of(*_HALVABLE):
        if group.kind == ATTENTION or group.category not in _PRODUCTS:
            continue
        if group.bound in _WIDE and group.rule != "L1":
            yield from _in_format(run, group, _IN_ONE_PASS)
        elif run.analysis.device.kind is DeviceKind.GPU:
            yield from _under_narrow_roof(run, group)


def _under_narrow_roof(run: Run, group: Group) -> Iterator[Found]:
    unit = _unit(run, group.bound)
    if unit is None or not unit.is_matrix or unit.precision.value not in _NARROW:
        return
    wide = [op for op in group.ops.tolist() if _dtypes(run.table.operands[op]) == {"f32"}]
    if wide:
        ops = np.array(wide, np.int64)
        yield run.of_group(group, ops, None, forms=("wide",), changes_results=False)


def _dtypes(operands: str) -> set[str]:
    return {tensor.dtype for tensor in tensors_of(operands)}


def _in_format(run: Run, group: Group, others: tuple[ComputeUnit, ...]) -> Iterator[Found]:
    """The work of a group in the slowest of other formats that are faster than its own."""
    peaks = {unit.value: gflops for unit, gflops in run.analysis.peaks.unit_gflops.items()}
    now = peaks.get(group.bound, run.analysis.peaks.gflops)
    faster = [
        (gflops, unit)
        for unit in others
        if now and (gflops := run.analysis.device.unit_gflops(unit) or 0.0) > now
    ]
    if not faster:
        return
    gflops, unit = min(faster, key=lambda peak: peak[0])
    is_fp8 = unit is ComputeUnit.MATRIX_FP8
    ratio = min(now / gflops * (FP8_REACHED.value if is_fp8 else 1.0), 1.0)
    yield run.of_group(
        group,
        group.ops,
        Lever(rows=group.ops, scale={group.bound: np.full(len(group.ops), ratio)}),
        resource="peak",
        factor=ratio,
        facts={"precision": unit.precision.value},
        forms=("fp8",) if is_fp8 else (),
    )


def _unit(run: Run, bound: str) -> ComputeUnit | None:
    """The unit behind a compute clock; `None` for a main peak without a known precision."""
    device = run.analysis.device
    named = next((unit for unit in ComputeUnit if unit.value == bound), None)
    if named is not None or bound != MAIN or not device.compute:
        return named
    main = device.compute[0]
    covered = main.covers if device.kind is DeviceKind.TPU else ()
    return main.unit or next((unit for unit in covered if unit in _LOWER), None)


V5 = Rule(
    id="V5",
    when="products of fp32 on the vector unit, bound by it; without a saving where the roof is of "
    "a shorter format",
    source=MATMUL,
    formula=LESS_WORK,
    cases=LESS_WORK_CASES,
    finds=_fp32_products,
    lever="peaks",  # as many FLOPs by another unit
    confidence="medium",
    changes_results=True,
    title="{precision} for {names}",
    why="{roof} binds {count|it|them}; the matrix unit multiplies faster in a shorter format.",
    cure=Cure("{precision} products, after a check of the accuracy."),
    forms={
        "wide": Form(
            title="Check the roof of {names}",
            why="{count|It reads|They read} fp32 tensors and {count|is|are} held against {roof}, a "
            "roof of another number format.",
        ),
    },
)


# The best products found on H100: 794.5 of 989.4 TFLOP/s in bf16, 1,402.6 of 1,978.9 in fp8.
FP8_REACHED = Threshold(
    "FP8_REACHED", 1.13, "share of the bf16 peak that products reach over that of fp8"
)


LEAST_ROWS = Threshold("FP8_ROWS", 256, "rows of a product from which 8-bit formats pay")


def _faster_format(run: Run) -> Iterator[Found]:
    """The work of a matrix unit in the next smaller format, where it is faster there."""
    for group in run.groups_of("K1", "K2"):
        unit = _unit(run, group.bound)
        if group.kind == ATTENTION or unit not in _LOWER:
            continue
        ops = [op for op in group.ops.tolist() if not _is_short_product(run, op)]
        if ops:
            large = group._replace(ops=np.array(ops, np.int64))
            yield from _in_format(run, large, _LOWER[unit])


def _is_short_product(run: Run, op: int) -> bool:
    """A product known to have few rows: casts and scales of 8-bit formats take what they save."""
    found = product_of(run.table.name[op], run.table.operands[op])
    return found is not None and found.m < LEAST_ROWS.value


G5 = Rule(
    id="G5",
    when="the matrix unit binds (K1, K2), and a shorter format has a higher peak, {FP8_REACHED} "
    "times as hard to reach in fp8; not of attention, nor below {FP8_ROWS} rows",
    source=BOOK + "roofline",
    formula=LESS_WORK,
    cases=LESS_WORK_CASES,
    thresholds=(FP8_REACHED, LEAST_ROWS),
    finds=_faster_format,
    lever="peaks",
    confidence="medium",
    changes_results=True,
    title="{precision} for {names}",
    why="{roof} binds {count|it|them}, at {efficiency} of its roof, and the device has a higher "
    "peak.",
    cure=Cure("{precision} products, after a check of the accuracy."),
    forms={
        "fp8": Form(
            why="{roof} binds {count|it|them}, at {efficiency} of its roof, and the device has a "
            "higher peak. Products reach 71 % of the fp8 peak where they reach 80 % of that of "
            "bf16, and casts of activations take time of their own.",
        ),
    },
)
