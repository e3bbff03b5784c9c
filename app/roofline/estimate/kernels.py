"""A transformer's kernels on the roofs of several parts: the best rate of each, and its bound."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from roofline.errors import BadViewError
from roofline.estimate.forms import form_of
from roofline.estimate.on_device import COMPUTE, EXP, MEMORY, VECTOR, Estimate, estimate
from roofline.estimate.ops import Options
from roofline.model.units import GIGA, TERA


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernel:
    """One kernel: its title, the op that it is, and its shape."""

    title: str
    op: str
    shape: str
    options: dict[str, Any]

    def address(self, part_id: str, dtype: str) -> str:
        """The calculator with this kernel on a part filled in."""
        sizes = zip(form_of(self.op).sizes, _sizes(self), strict=True)
        options = {k: "yes" if v is True else str(v) for k, v in self.options.items()}
        query = {"op": self.op, **{one.key: size for one, size in sizes}, **options}
        return "/calculator?" + urlencode({**query, "dtype": dtype, "device": part_id})


def _sizes(kernel: Kernel) -> list[str]:
    """A product's form has a batch before its rows."""
    sizes = kernel.shape.split("x")
    return ["1", *sizes] if kernel.op == "matmul" else sizes


KERNELS = (
    Kernel(title="LayerNorm", op="norm", shape="16384x4096", options={}),
    Kernel(title="RMSNorm", op="norm", shape="16384x4096", options={"kind": "rms"}),
    Kernel(title="Softmax", op="softmax", shape="16384x4096", options={}),
    Kernel(title="QK^T, one head", op="matmul", shape="2048x128x2048", options={}),
    Kernel(title="Matmul 600", op="matmul", shape="600x600x600", options={}),
    Kernel(title="FFN up", op="matmul", shape="65536x4096x16384", options={}),
    Kernel(
        title="Flash attention",
        op="attention",
        shape="1x32x8192x128",
        options={"causal": True, "kv_heads": 8},
    ),
    Kernel(title="Decode QKV, batch 1", op="matmul", shape="1x4096x6144", options={}),
    Kernel(title="Decode QKV, batch 64", op="matmul", shape="64x4096x6144", options={}),
    Kernel(
        title="Decode attention",
        op="attention",
        shape="64x32x1x128",
        options={"context": 2048, "kv_heads": 8},
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelCell:
    """A kernel on a part: FLOP/s at best, its share of the peak of its own unit, what binds it.

    All are `None` where the part has no such unit, or no figure of it.
    """

    part_id: str
    rate: float | None
    share: float | None
    bound: str | None

    @property
    def text(self) -> str:
        """ "776 TFLOP/s, 34 %, HBM" """
        if self.rate is None or self.share is None:
            return "–"
        rate = f"{self.rate / TERA:,.4g} TFLOP/s"
        return f"{rate}, {self.share:.0%}, {self.bound}".replace("%", " %")


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelRow:
    """A kernel with its FLOP per byte, and its cell on each part."""

    kernel: Kernel
    intensity: float
    cells: tuple[KernelCell, ...]


def kernel_rows(part_ids: Sequence[str], dtype: str) -> tuple[KernelRow, ...]:
    """Every kernel on every part, with elements of `dtype`; `BadViewError` for an unknown part."""
    rows = []
    for kernel in KERNELS:
        options = Options(dtype=dtype, **kernel.options)
        found = [estimate(kernel.op, kernel.shape, name, options) for name in part_ids]
        if not found:
            raise BadViewError("No part is named.", remedy="Give --part, such as h100-sxm.")
        rows.append(
            KernelRow(
                kernel=kernel,
                intensity=found[0].flop / found[0].work.memory_bytes,
                cells=tuple(map(_cell, found)),
            )
        )
    return tuple(rows)


def _cell(found: Estimate) -> KernelCell:
    unit = found.peaks.get(COMPUTE) or found.peaks.get(VECTOR)
    best = found.attainable_gflops
    if unit is None or not unit.value or best is None or found.bound is None:
        return KernelCell(part_id=found.part.id, rate=None, share=None, bound=None)
    words = {MEMORY: found.peaks[MEMORY].label, EXP: "exponentials"}
    return KernelCell(
        part_id=found.part.id,
        rate=best * GIGA,
        share=best * GIGA / unit.value,
        bound=words.get(found.bound, found.bound),
    )


def kernels_text(part_ids: Sequence[str], dtype: str) -> str:
    """The table for a terminal."""
    head = ("kernel", "FLOP/B", *part_ids)
    lines = [
        (row.kernel.title, f"{row.intensity:,.4g}", *(cell.text for cell in row.cells))
        for row in kernel_rows(part_ids, dtype)
    ]
    widths = [max(map(len, cells)) for cells in zip(head, *lines, strict=True)]
    text = [
        "  ".join(f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=True)).rstrip()
        for cells in (head, *lines)
    ]
    return "\n".join([*text, "", f"At best, per chip, dense, elements of {dtype}."]) + "\n"
