"""A measured run with other number formats: stored ones change bytes, computed ones the roof. And
with fewer bytes over links, which change the time of collectives.

All are chosen apart. An op keeps its closeness e = rho / T and ends at the next roof:
T' = max(rho' / e, rho'). Ops of unknown cost or tensors keep their time, and how much time that is
stands beside the answer.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from roofline.advice.op_kinds import ATTENTION, op_kind
from roofline.advice.rules.compute import FP8_REACHED
from roofline.analysis.above_roof import IMPOSSIBLE
from roofline.analysis.roofline import Floats
from roofline.compare.comparison import common_unit
from roofline.compare.run import Run
from roofline.compare.sides import MEMORIES
from roofline.errors import BadViewError
from roofline.estimate.ops import bytes_per_element, precision_of
from roofline.model.categories import is_collective, is_product
from roofline.model.compute import ComputeUnit
from roofline.model.op_columns import Bools
from roofline.model.tensors import Tensor, tensors_of
from roofline.presentation.quantities import amount, duration, percent, significant
from roofline.presentation.text_table import named, spaced, table

Record = dict[str, Any]

TENSORS = ("auto", "weights", "all")
SHOWN = 20
_WIDTH = 50
_COMPUTE = "compute"
_LINKS = "communication"
_MOST_TIMES = 100
_MATRIX = "matrix_"
_FLOATS = ("f", "bf")  # integers are indices and masks: their format does not change
# State that a narrow format would lose, and the loss, in names, scopes and categories.
_STATE = re.compile(
    r"optimi[sz]er|adam|sgd|momentum|_foreach_|multi_tensor_apply|(?<![a-z])loss(?![a-z])",
    re.IGNORECASE,
)
_COPIES = re.compile(r"^host |memcpy.*(dtoh|htod)|infeed|outfeed", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Formats:
    """New formats: `storage` of `tensors`, `compute` of matrix products, and `link_bytes`, the part
    of all bytes over links that collectives move then: 0.5 with gradients of half the size.

    "auto" are weights, activations, keys and values: neither what an optimizer keeps, nor losses,
    copies of a host, and fp32 tensors beside narrower ones, which are sums and statistics; "all"
    are these, too, "weights" those of products. `None` leaves a format as it is. `category` and
    `op` (a part of the name) choose operations; empty ones choose all.
    """

    storage: str | None = None
    tensors: str = "auto"
    compute: str | None = None
    category: str = ""
    op: str = ""
    link_bytes: float | None = None

    @property
    def change_ops(self) -> bool:
        """True where a number format is chosen."""
        return self.storage is not None or self.compute is not None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Changed:
    """A run with other formats; columns have an entry per op, times are us per unit and core.

    `before` and `after` are clocks by resource. `is_told` marks chosen ops whose bytes or peak
    change, `untold_us` is the time of chosen ops of which that is not known, `state_us` that of an
    optimizer, losses and copies of a host among them. `link_ratio` is the part of the time of
    communication that is left.
    """

    run: Run
    unit: str
    formats: Formats
    before: dict[str, Floats]
    after: dict[str, Floats]
    time_us: Floats
    after_us: Floats
    is_told: Bools
    untold_us: float
    state_us: float
    bytes_before: float
    bytes_after: float
    link_ratio: float
    notes: tuple[str, ...] = field(default=())


def with_formats(run: Run, formats: Formats) -> Changed:
    """`run` with other number formats.

    Raises `BadViewError` for an unknown element type, for tensors that are not of `TENSORS`, for a
    peak that the device does not have, where nothing is chosen, for a run without any work that a
    roof could hold, and, of bytes over links, for one without communication.
    """
    _check(formats)
    if formats.change_ops and not run.roof_us:
        raise BadViewError(
            "Neither work nor a peak is known of this profile, so no format changes a time.",
            remedy="Choose the device, and capture with FLOPs and bytes.",
        )
    unit = common_unit([run])
    times = run.units[unit]
    before = {name: needs * times.calls for name, needs in run.roof_us.items()}
    before = before or {"": np.zeros(len(run))}
    link_ratio = _link_ratio(run, unit, formats)
    left = np.where(_is_over_link(run) & (times.time_us > 0), link_ratio, 1.0)
    chosen = _chosen(run, formats)
    ratio = _byte_ratios(run, formats, chosen)
    faster = _compute_ratios(run, formats, chosen)
    after = dict(before)
    if run.main_memory in after:
        after[run.main_memory] = before[run.main_memory] * np.where(ratio > 0, ratio, 1.0)
    for name, column in faster.items():
        moves = column != 1.0
        target = _unit_of(formats)
        now = np.nan_to_num(after.get(target, np.zeros(len(run))))
        after[target] = np.where(moves, np.nan_to_num(before[name]) * column, now)
        if name != target:
            after[name] = np.where(moves, 0.0, before[name])
    rho, ends = _longest(before), _longest(after)
    time_us = times.time_us
    known = (rho > 0) & (time_us > 0) & (rho <= IMPOSSIBLE * time_us)
    harder = np.where(_is_in_fp8(formats, faster, after, ends), FP8_REACHED.value, 1.0)
    stretched = np.where(known, time_us * ends * harder / np.where(known, rho, 1.0), time_us)
    moved = run.work.get(run.main_memory, np.zeros(len(run))) * times.calls
    changes = (ratio > 0) | _any(faster, len(run))
    is_told = chosen & changes & known
    after_us = np.where(known, np.maximum(stretched, ends), time_us)
    return Changed(
        run=run,
        unit=unit,
        formats=formats,
        before=before,
        after=after,
        time_us=time_us,
        after_us=after_us * left,
        is_told=is_told | (left != 1),
        untold_us=float(time_us[chosen & ~is_told & (left == 1)].sum()),
        state_us=float(time_us[chosen & _is_state(run)].sum()),
        bytes_before=float(np.nansum(moved)),
        bytes_after=float(np.nansum(moved * np.where(ratio > 0, ratio, 1.0))),
        link_ratio=link_ratio,
    )


def _link_ratio(run: Run, unit: str, formats: Formats) -> float:
    """The part of the time of communication that is left."""
    if formats.link_bytes is None:
        return 1.0
    if _links_us(run, unit) <= 0:
        raise BadViewError(
            "This profile has no time in communication that nothing hides, so fewer bytes over"
            " links save nothing that it shows.",
            remedy="Capture several devices, or choose a number format.",
        )
    return run.fixed_link_ratio + (1 - run.fixed_link_ratio) * formats.link_bytes


def _links_us(run: Run, unit: str) -> float:
    """Communication that nothing hides. Without a timeline collectives are ops as all others."""
    times = run.units[unit]
    return times.parts.get(_LINKS, 0.0) + float(times.time_us[_is_over_link(run)].sum())


def _is_over_link(run: Run) -> Bools:
    return np.array([is_collective(one) for one in run.text("category")], np.bool_)


def _check(formats: Formats) -> None:
    if not formats.change_ops and formats.link_bytes is None:
        raise BadViewError(
            "No number format is chosen.",
            remedy="Choose what is stored (storage), what is computed in (compute), or the bytes"
            " over links (link-bytes).",
        )
    if formats.link_bytes is not None and not 0 < formats.link_bytes <= _MOST_TIMES:
        raise BadViewError(
            "The part of the bytes over links is not above 0 and at most 100.",
            remedy="Use 0.5 for half of them.",
        )
    if formats.tensors not in TENSORS:
        raise BadViewError(
            f'"{formats.tensors}" does not name tensors.', remedy=f"Use {', '.join(TENSORS)}."
        )


def _chosen(run: Run, formats: Formats) -> Bools:
    named = np.array([formats.op in name for name in run.text("name")], np.bool_)
    wanted = formats.category.casefold()
    of_kind = [not wanted or one.casefold() == wanted for one in run.text("category")]
    return named & np.array(of_kind, np.bool_)


# ------------------------------------------------------------------------------------- storage


def _byte_ratios(run: Run, formats: Formats, chosen: Bools) -> Floats:
    """The share of each op's bytes in main memory that is left; NaN where nothing says."""
    found = np.full(len(run), np.nan)
    if formats.storage is None:
        return found
    size = bytes_per_element(formats.storage)
    operands, results = run.text("operands"), run.text("results")
    moved = run.work.get(run.main_memory, found)
    if formats.tensors == "auto":
        chosen = chosen & ~_is_state(run)
    for op in np.flatnonzero(chosen & (np.nan_to_num(moved) > 0)).tolist():
        if formats.tensors != "weights":
            every = tensors_of(f"{operands[op]}; {results[op]}")
            found[op] = _of_all(every, size, keeps_sums=formats.tensors == "auto")
        elif is_product(run.text("category")[op]):
            found[op] = _of_weights(tensors_of(operands[op]), size, float(moved[op]))
    return found


def _is_state(run: Run) -> Bools:
    """Ops of an optimizer, of a loss, and copies from and to the host."""
    texts = zip(run.text("name"), run.text("path"), run.text("category"), strict=True)
    found = [
        bool(_STATE.search(" ".join(one)) or _COPIES.search(one[0]) or _COPIES.search(one[2]))
        for one in texts
    ]
    return np.array(found, np.bool_)


def _of_all(tensors: tuple[Tensor, ...], size: float, *, keeps_sums: bool) -> float:
    floats = [one.element_bytes for one in tensors if _is_float(one)]
    widest = min(floats, default=0.0) if keeps_sums else np.inf
    whole = sum(one.bytes for one in tensors)
    new = sum(
        one.elements * size if _is_float(one) and one.element_bytes <= widest else one.bytes
        for one in tensors
    )
    return new / whole if whole else float("nan")


def _of_weights(tensors: tuple[Tensor, ...], size: float, moved: float) -> float:
    """The second matrix of a product, at most all that the op moved."""
    matrices = [one for one in tensors if len(one.shape) == 2 and _is_float(one)]
    if len(matrices) < 2:
        return float("nan")
    weights = matrices[-1]
    share = min(weights.bytes / moved, 1.0)
    return 1 - share + share * size / weights.element_bytes


def _is_float(tensor: Tensor) -> bool:
    return tensor.dtype.startswith(_FLOATS)


# ------------------------------------------------------------------------------------- compute


def _compute_ratios(run: Run, formats: Formats, chosen: Bools) -> dict[str, Floats]:
    """The share of the clocks of matrix units that is left, by resource: peak now ÷ peak then."""
    if formats.compute is None:
        return {}
    unit = _unit_of(formats)
    peak = run.peaks.get(unit, 0.0)
    if not peak:
        raise BadViewError(
            f"The run's device has no known rate of matrix products in {formats.compute}.",
            remedy=f"Known ones: {', '.join(_formats_of(run)) or 'none'}. Set one with --peak.",
        )
    kinds = zip(run.text("category"), run.text("name"), strict=True)
    chosen = chosen & np.array([op_kind(*one) != ATTENTION for one in kinds], np.bool_)
    products = np.array([is_product(one) for one in run.text("category")], np.bool_)
    found = {}
    for name, needs in run.roof_us.items():
        if name.startswith(_MATRIX) or name == _COMPUTE:
            rows = chosen & (np.nan_to_num(needs) > 0) & (name != _COMPUTE or products)
            found[name] = np.where(rows, run.peaks.get(name, peak) / peak, 1.0)
    return found


def _is_in_fp8(
    formats: Formats, faster: dict[str, Floats], after: dict[str, Floats], ends: Floats
) -> Bools:
    """Products that move to fp8 and that its unit binds then: less of its peak is reached."""
    moved = _any(faster, len(ends))
    if not moved.any() or _unit_of(formats) != ComputeUnit.MATRIX_FP8.value:
        return np.zeros(len(ends), np.bool_)
    is_bound: Bools = moved & (after[ComputeUnit.MATRIX_FP8.value] >= ends)
    return is_bound


def _unit_of(formats: Formats) -> str:
    """The matrix unit of the format that is computed in."""
    return f"{_MATRIX}{precision_of(formats.compute or '').value}"


def _formats_of(run: Run) -> list[str]:
    return [name.removeprefix(_MATRIX) for name in run.peaks if name.startswith(_MATRIX)]


def _any(ratios: dict[str, Floats], count: int) -> Bools:
    changed = np.zeros(count, np.bool_)
    for column in ratios.values():
        changed |= column != 1.0
    return changed


def _longest(clocks: dict[str, Floats]) -> Floats:
    longest: Floats = np.fmax.reduce([np.nan_to_num(one) for one in clocks.values()])
    return longest


# ------------------------------------------------------------------------------------- document


def formats_record(changed: Changed) -> Record:
    """The document of `roofline whatif --format json` and of the API: docs/explore.md."""
    run, unit = changed.run, changed.unit
    now = run.units[unit].total_us
    waits_us = run.units[unit].parts.get(_LINKS, 0.0) * (changed.link_ratio - 1)
    after = now + float((changed.after_us - changed.time_us).sum()) + waits_us
    order = np.argsort(-np.abs(changed.time_us - changed.after_us), kind="stable")
    rows = [op for op in order.tolist() if changed.is_told[op]]
    return {
        "unit": unit,
        "storage": changed.formats.storage,
        "tensors": changed.formats.tensors if changed.formats.storage else None,
        "compute": changed.formats.compute,
        "state_us": changed.state_us if changed.formats.storage else None,
        "now_us": now,
        "after_us": after,
        "saving_us": now - after,
        "bytes": {"now": changed.bytes_before, "after": changed.bytes_after},
        "changed_ops": len(rows),
        "unknown_share": changed.untold_us / now if now and changed.formats.change_ops else None,
        "memory_bound_share": {
            "now": _memory_share(changed.before, changed.time_us),
            "after": _memory_share(changed.after, changed.after_us),
        },
        "rows_from_which_arithmetic_binds": _thresholds(changed),
        "known_compute_formats": _formats_of(run),
        "ops": [_row(changed, op) for op in rows],
        **_links_record(changed),
    }


def _links_record(changed: Changed) -> Record:
    """Communication that nothing hides, where fewer bytes over links are chosen."""
    if changed.formats.link_bytes is None:
        return {}
    now_us = _links_us(changed.run, changed.unit)
    after_us = now_us * changed.link_ratio
    times = {"now_us": now_us, "after_us": after_us, "fixed_ratio": changed.run.fixed_link_ratio}
    return {"link_bytes": changed.formats.link_bytes, "communication": times}


def _row(changed: Changed, op: int) -> Record:
    return {
        "name": changed.run.text("name")[op],
        "category": changed.run.text("category")[op],
        "now_us": float(changed.time_us[op]),
        "after_us": float(changed.after_us[op]),
        "bound": _bound(changed.before, op),
        "limited_by": _bound(changed.after, op),
    }


def _bound(clocks: dict[str, Floats], op: int) -> str | None:
    known = {name: float(np.nan_to_num(column[op])) for name, column in clocks.items()}
    best = max(known, key=lambda name: known[name], default=None)
    return best if best is not None and known[best] > 0 else None


def _memory_share(clocks: dict[str, Floats], time_us: Floats) -> float | None:
    """The share of the time of known cost in ops that a memory binds."""
    count = len(time_us)
    none = {"": np.zeros(count)}
    memory = _longest({k: v for k, v in clocks.items() if k in MEMORIES} or none)
    compute = _longest({k: v for k, v in clocks.items() if k not in MEMORIES} or none)
    whole = float(time_us[(memory > 0) | (compute > 0)].sum())
    return float(time_us[memory > compute].sum()) / whole if whole else None


def _thresholds(changed: Changed) -> Record | None:
    """B* = ridge · w / 2 of 16-bit weights, and with the formats: the sizes of weights count."""
    peaks, formats = changed.run.peaks, changed.formats
    memory, now = peaks.get(changed.run.main_memory, 0.0), peaks.get(_COMPUTE, 0.0)
    if not (memory and now):
        return None
    then = now
    if formats.compute is not None:
        then = peaks[_unit_of(formats)]
    size = 2.0 if formats.storage is None else bytes_per_element(formats.storage)
    return {"now": now / memory, "after": then / memory * size / 2}


def state_words(record: Mapping[str, Any]) -> str:
    """What of an optimizer, losses and copies of the host is left out, or loses its state."""
    if not record["state_us"] or record["tensors"] == "weights":
        return ""
    what = f"{duration(record['state_us'])} of optimizer, loss and host copies"
    if record["tensors"] == "all":
        return f"Includes {what}: master weights and moments are lost in this format"
    return f"Left out: {what} keep their formats"


def link_words(record: Mapping[str, Any]) -> str:
    """What becomes of the communication; empty where its bytes stay."""
    found = record.get("communication")
    if found is None:
        return ""
    stays = f"; {percent(found['fixed_ratio'])} of it is latency and waiting" * bool(
        found["fixed_ratio"]
    )
    left = percent(record["link_bytes"])
    return (
        f"Communication that nothing hides: {duration(found['now_us'])} → "
        f"{duration(found['after_us'])} with {left} of the bytes over links{stays}"
    )


def formats_text(record: Record) -> str:
    """The answer for a terminal."""
    share, rows = record["memory_bound_share"], record["rows_from_which_arithmetic_binds"]
    lines = [
        f"{duration(record['now_us'])} per {record['unit']} → {duration(record['after_us'])}: "
        f"saves {duration(record['saving_us'])}",
        *filter(None, [link_words(record)]),
    ]
    if record["unknown_share"] is None:
        return spaced("\n".join([*lines, ""]))
    lines += [
        f"Bytes of the main memory: {amount(record['bytes']['now'], 'B')} → "
        f"{amount(record['bytes']['after'], 'B')}",
        f"Bound by memory: {percent(share['now'])} → {percent(share['after'])} of the time of "
        "known cost",
    ]
    if rows:
        lines.append(
            f"Arithmetic binds products from {significant(rows['now'])} rows on with 16-bit "
            f"weights, then from {significant(rows['after'])}"
        )
    lines.append(f"Not told: {percent(record['unknown_share'])} of the time keeps its length")
    lines += [said] if (said := state_words(record)) else []
    heads = ("Operation", "Now", "Then", "Bound", "Limited by")
    cells = [
        (
            named(one["name"], _WIDTH),
            duration(one["now_us"]),
            duration(one["after_us"]),
            one["bound"] or "–",
            one["limited_by"] or "–",
        )
        for one in record["ops"][:SHOWN]
    ]
    return spaced("\n".join([*lines, "", table(heads, cells, left={0, 3, 4}), ""]))
