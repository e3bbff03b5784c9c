"""Which compute unit an HLO instruction's work counts against."""

import numpy as np
import pytest

from roofline.importers.xspace.hlo.ops import split_by_unit, unit_on_cpu, unit_on_gpu
from roofline.model.compute import ComputeUnit
from tests.importers.test_hlo_cost import program

FP32, FP64 = ComputeUnit.VECTOR_FP32, ComputeUnit.VECTOR_FP64


@pytest.mark.parametrize(
    ("name", "instruction", "gpu", "cpu"),
    [
        ("dot", "dot_general.1", None, FP32),
        ("dot_compiled", "ynn_fusion", None, FP32),  # a fusion around a product
        ("gpu_fusions", "gl", None, FP32),  # a library's product
        ("cond", "sin.1", FP32, FP32),
        ("fft", "fft.1", FP32, FP32),
        ("reduce", "or.2", None, None),  # logic is not floating-point work
    ],
)
def test_types_and_products_tell_the_unit(
    name: str, instruction: str, gpu: ComputeUnit | None, cpu: ComputeUnit | None
) -> None:
    found = program(name).by_name[instruction]
    assert (unit_on_gpu(found), unit_on_cpu(found)) == (gpu, cpu)


def test_work_is_split_into_one_column_per_unit_that_occurs() -> None:
    flop = np.array([1, 2, 3], np.uint64)
    columns = split_by_unit([FP32, None, FP64], flop)
    assert {unit: column.tolist() for unit, column in columns.items()} == {
        FP64: [0, 0, 3],
        FP32: [1, 0, 0],
    }
    assert split_by_unit([None, None, None], flop) == {}
