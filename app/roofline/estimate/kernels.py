"""A transformer's kernels on the roofs of several parts: the best rate of each, and its bound."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from roofline.devices.choice import known_part
from roofline.errors import BadViewError
from roofline.estimate.forms import form_of
from roofline.estimate.llm.config import preset
from roofline.estimate.llm.document import flops_of
from roofline.estimate.llm.request import PredictOptions, workload
from roofline.estimate.llm.step import OUTSIDE, Step, TimedOp, step_of
from roofline.estimate.on_device import COMPUTE, EXP, MEMORY, VECTOR, ChipPeak, estimate
from roofline.estimate.ops import Options, bytes_per_element
from roofline.model.units import GIGA, TERA, US_PER_S


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

    All are `None` where the part has no such unit, or no figure of it. `url` has the page on which
    the kernel is filled in.
    """

    url: str
    rate: float | None = None
    share: float | None = None
    bound: str | None = None

    @property
    def text(self) -> str:
        """ "776 TFLOP/s, 34 %, HBM" """
        if self.rate is None or self.share is None:
            return "–"
        rate = f"{self.rate / TERA:,.4g} TFLOP/s"
        share = f"{self.share:.0%}" if self.share >= _LEAST_SHARE else "<1%"
        return f"{rate}, {share}, {self.bound}".replace("%", " %")


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelRow:
    """A kernel with its shape, its FLOP per byte, and its cell on each part."""

    title: str
    shape: str
    intensity: float
    cells: tuple[KernelCell, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelQuery:
    """Which kernels on which parts: the usual ones, or those of a `model` at `batch` and `seq`.

    `sort` is "kernel", "intensity" or a part's id, with "-" the largest first.
    """

    part_ids: tuple[str, ...]
    dtype: str = "bf16"
    model: str = ""
    batch: int = 1
    seq: int = 2048
    sort: str = ""


def kernel_rows(query: KernelQuery) -> tuple[KernelRow, ...]:
    """Every kernel on every part; `BadViewError` for an unknown part, model, type or order."""
    if not query.part_ids:
        raise BadViewError("No part is named.", remedy="Give --part, such as h100-sxm.")
    return _sorted(_of_model(query) if query.model else _usual(query), query)


def _sorted(rows: Sequence[KernelRow], query: KernelQuery) -> tuple[KernelRow, ...]:
    key = query.sort.removeprefix("-")
    columns = ("kernel", "intensity", *query.part_ids)
    if not key:
        return tuple(rows)
    if key not in columns:
        raise BadViewError(
            f'"{key[:40]}" is not a column of kernels.', remedy=f"Choose: {', '.join(columns)}."
        )
    at = columns.index(key) - 2

    def value(row: KernelRow) -> tuple[float, str]:
        if key == "kernel":
            return 0.0, row.title
        return (row.intensity if at < 0 else row.cells[at].rate or 0.0), ""

    return tuple(sorted(rows, key=value, reverse=query.sort.startswith("-")))


def _usual(query: KernelQuery) -> Sequence[KernelRow]:
    rows = []
    for kernel in KERNELS:
        options = Options(dtype=query.dtype, **kernel.options)
        found = [estimate(kernel.op, kernel.shape, name, options) for name in query.part_ids]
        rows.append(
            KernelRow(
                title=kernel.title,
                shape=kernel.shape.replace("x", " × "),
                intensity=found[0].flop / found[0].work.memory_bytes,
                cells=tuple(
                    _cell(
                        kernel.address(one.part.id, query.dtype),
                        one.attainable_gflops and one.attainable_gflops * GIGA,
                        one.bound,
                        one.peaks,
                    )
                    for one in found
                ),
            )
        )
    return rows


def _of_model(query: KernelQuery) -> Sequence[KernelRow]:
    """The ops of the model's prefill and decode that compute, as `roofline predict` has them."""
    is_narrow = bytes_per_element(query.dtype) < _LEAST_ACTIVATION
    kept = "bf16" if is_narrow else query.dtype
    given: dict[str, Any] = {
        "batch": query.batch,
        "weights": query.dtype,
        **dict.fromkeys(("activations", "kv", "logits"), kept),
        **({"compute": query.dtype} if is_narrow else {}),
    }
    parts = [known_part(name) for name in query.part_ids]
    rows: list[KernelRow] = []
    for phase, length in (("prefill", "seq"), ("decode", "context")):
        asked = {"phase": phase, length: query.seq, **given}
        load = workload(PredictOptions(**asked))
        steps = [step_of(preset(query.model), load, part) for part in parts]
        address = "/model?" + urlencode({"model": query.model, **asked})
        for same in zip(*(step.ops for step in steps), strict=True):
            op = same[0].op
            if flops_of(op) and op.bytes:
                rows.append(
                    KernelRow(
                        title=f"{phase}, {op.name}",
                        shape=f"{query.batch:,} × {load.new_tokens:,} of {load.context:,}",
                        intensity=flops_of(op) / op.bytes,
                        cells=tuple(
                            _of_step(f"{address}&device={step.part.id}", step, timed)
                            for step, timed in zip(steps, same, strict=True)
                        ),
                    )
                )
    return rows


_LEAST_SHARE = 0.005
_LEAST_ACTIVATION = 2  # bytes: sums of activations are not kept in fewer


def _of_step(url: str, step: Step, timed: TimedOp) -> KernelCell:
    peaks = dict(step.peaks)
    if not timed.op.is_layer_product:
        peaks[COMPUTE] = peaks[OUTSIDE]
    if not timed.op.matrix:
        del peaks[COMPUTE]
    rate = flops_of(timed.op) / timed.time_us * US_PER_S if timed.time_us else None
    return _cell(url, rate, timed.bound, peaks)


def _cell(
    url: str, rate: float | None, bound: str | None, peaks: Mapping[str, ChipPeak]
) -> KernelCell:
    unit = peaks.get(COMPUTE) or peaks.get(VECTOR)
    if unit is None or not unit.value or rate is None or bound is None:
        return KernelCell(url=url)
    words = {MEMORY: peaks[MEMORY].label, EXP: "exponentials"}
    return KernelCell(url=url, rate=rate, share=rate / unit.value, bound=words.get(bound, bound))


def kernels_text(query: KernelQuery) -> str:
    """The table for a terminal."""
    head = ("kernel", "FLOP/B", *query.part_ids)
    lines = [
        (row.title, f"{row.intensity:,.4g}", *(cell.text for cell in row.cells))
        for row in kernel_rows(query)
    ]
    widths = [max(map(len, cells)) for cells in zip(head, *lines, strict=True)]
    text = [
        "  ".join(f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=True)).rstrip()
        for cells in (head, *lines)
    ]
    return "\n".join([*text, "", f"At best, per chip, dense, elements of {query.dtype}."]) + "\n"
