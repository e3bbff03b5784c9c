"""A predicted step over a measured run: which ops are which, how much that covers, and the errors.

The step becomes a run, and a comparison of the two splits each op's ratio into calls, work,
traffic, peaks and closeness to the roof.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from roofline.analysis.roofline import Floats
from roofline.compare.changes import Comparison, Side
from roofline.compare.comparison import compare_matched
from roofline.compare.fingerprints import (
    BY_FLOPS,
    BY_SCOPE,
    Fingerprints,
    ModelRow,
    assign_by_flops,
)
from roofline.compare.matching import Matching
from roofline.compare.run import CAPTURE, TEXTS, UNITS, Run, UnitTimes
from roofline.estimate.llm.document import category_of
from roofline.estimate.llm.pieces import Piece, forms_of
from roofline.estimate.llm.step import OUTSIDE, Step
from roofline.estimate.on_device import COMPUTE, LINK, MEMORY, VECTOR
from roofline.exports.model_expected import expected_record, with_expected
from roofline.model.units import US_PER_S

_FACTORS = ("calls", "work", "traffic", "peaks", "closeness")
_BELOW = 0.97
"""A measured time below this share of the bound means that a number of the model is wrong."""

Record = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Overlay:
    """A step of a model over a run: `repeats` steps of it are one unit of the run."""

    pieces: tuple[Piece, ...]
    model: Run
    measured: Run
    unit: str
    repeats: int
    matching: Matching

    @cached_property
    def comparison(self) -> Comparison:
        """The model as the first side, the run as the second."""
        return compare_matched(self.model, self.measured, self.unit, self.matching)

    @property
    def products(self) -> tuple[list[int], list[int]]:
        """Rows of the model and of the run that are products with a partner."""
        pairs = self.matching.matches
        return [row for one in pairs for row in one.a], [row for one in pairs for row in one.b]

    @property
    def matched(self) -> tuple[list[int], list[int]]:
        """All rows of both that have a partner."""
        groups = self.matching.groups
        a, b = self.products
        return (
            [*a, *(row for one in groups for row in one.a)],
            [*b, *(row for one in groups for row in one.b)],
        )


def overlay(step: Step, measured: Run) -> Overlay:
    """`step` over `measured`, per step of the run, or per capture where it has no steps.

    In a capture without steps the model repeats as often as most of the matched work does.
    """
    unit = next(unit for unit in UNITS if unit in measured.units)
    pieces = _pieces(step, measured, unit)
    rows = [
        ModelRow(
            name=one.name,
            flop=one.flop,
            inputs=one.inputs,
            is_attention=one.of.op.is_attention,
        )
        for one in pieces
    ]
    matching = assign_by_flops(rows, measured, unit)
    repeats = _repeats(pieces, measured, unit, matching) if unit == CAPTURE else 1
    return Overlay(
        pieces=pieces,
        model=_run_of(step, pieces, measured, unit, repeats),
        measured=measured,
        unit=unit,
        repeats=repeats,
        matching=matching,
    )


def _pieces(step: Step, measured: Run, unit: str) -> tuple[Piece, ...]:
    """Each op in the form that the run has most of: whole where no form is in it."""
    found = Fingerprints(measured, unit)

    def presence(form: Iterable[Piece]) -> float:
        """The share of the form's calls that the run has, of the piece that it has least of."""
        return min(
            min(found.calls_near(one.name, one.flop) / one.of.counted, 1.0) if one.flop else 0.0
            for one in form
        )

    pieces: list[Piece] = []
    for timed in step.ops:
        pieces += max(forms_of(step, timed), key=presence)
    return tuple(pieces)


def _repeats(pieces: Sequence[Piece], measured: Run, unit: str, matching: Matching) -> int:
    """How many steps of the model the capture holds: what most of the FLOPs agree on."""
    votes: dict[int, float] = {}
    calls = measured.units[unit].calls
    for one in matching.matches:
        predicted = sum(pieces[row].of.counted for row in one.a)
        seen = sum(float(calls[op]) for op in one.b)
        times = max(round(seen / predicted), 1)
        votes[times] = votes.get(times, 0.0) + sum(
            float(calls[op]) * float(measured.flop[op]) for op in one.b
        )
    return max(votes, key=lambda times: votes[times], default=1)


# ------------------------------------------------------------------------------ the model as a run


def _run_of(step: Step, pieces: Sequence[Piece], measured: Run, unit: str, repeats: int) -> Run:
    """The pieces as a run; peaks are those of the step's device."""
    peaks = {
        peak.key: peak.value / US_PER_S for peak in step.peaks.values() if peak.key and peak.value
    }
    work = _work(step, pieces)
    calls = np.array([one.of.counted * repeats for one in pieces], np.float64)
    times = np.array([one.share * (one.of.time_us or 0.0) for one in pieces], np.float64)
    names = tuple(one.name for one in pieces)
    texts = dict.fromkeys(TEXTS, ("",) * len(pieces))
    total = float((calls * times).sum())
    return Run(
        label="model",
        texts={
            **texts,
            "name": names,
            "category": tuple(category_of(one.of.op) for one in pieces),
        },
        source_line=np.full(len(pieces), -1.0),
        flop=np.array([one.share * (one.of.op.matrix + one.of.op.vector) for one in pieces]),
        bytes=np.array([one.share * one.of.op.bytes for one in pieces]),
        work=work,
        roof_us={name: _over(column, peaks.get(name)) for name, column in work.items()},
        is_placed=np.array([one.of.time_us is not None for one in pieces], np.float64),
        peaks=peaks,
        main_memory=step.peaks[MEMORY].key,
        units={
            unit: UnitTimes(
                calls=calls,
                time_us=calls * times,
                needed_us=np.full(len(times), np.nan),
                parts={},
                total_us=total,
            )
        },
        # FLOPs and bytes are compared only where the source of the measured ones is known.
        provenance=measured.provenance,
    )


def _work(step: Step, pieces: Sequence[Piece]) -> dict[str, Floats]:
    """Work per call by compute unit and memory level; columns without any are left out."""
    found: dict[str, Floats] = {}
    for number, one in enumerate(pieces):
        op = one.of.op
        unit = step.peaks[COMPUTE if op.is_layer_product else OUTSIDE].key
        amounts = {
            unit: op.matrix,
            step.peaks[VECTOR].key: op.vector,
            step.peaks[MEMORY].key: op.bytes,
            step.peaks[LINK].key: op.link,
        }
        for key, amount in amounts.items():
            if key and amount:
                column = found.setdefault(key, np.zeros(len(pieces)))
                column[number] += one.share * amount
    return found


def _over(work: Floats, peak: float | None) -> Floats:
    return work / peak if peak else np.full(len(work), np.nan)


# ---------------------------------------------------------------------------------------- document


def overlay_record(found: Overlay) -> Record:
    """The `coverage` and `over` of a prediction."""
    comparison = found.comparison
    classes = dict(zip(found.model.text("name"), map(class_of, found.pieces), strict=True))
    products = [_error(one.a, one.b, one.terms, one.tier) for one in comparison.ops]
    ratios = [(one["ratio"], one["measured_us"]) for one in products if one["ratio"]]
    groups = [
        {"scope": one.scope, **_error(_joint(one.a), _joint(one.b), one.terms, BY_SCOPE)}
        for one in comparison.groups
    ]
    ops = with_expected(
        [{**one, "class": classes[one["model"][0]]} for one in (*products, *groups)]
    )
    ops.sort(key=lambda one: -one["measured_us"])
    return {
        "unit": found.unit,
        "steps_in_unit": found.repeats,
        "measured_us": found.measured.units[found.unit].total_us,
        "measured_busy_us": float(found.measured.units[found.unit].time_us.sum()),
        "predicted_us": found.model.units[found.unit].total_us,
        "coverage": coverage(found),
        "coverage_model": _coverage_of_model(found),
        "products": _products(found),
        "ratio": _mean_ratio(ratios),
        "median_error": _median_error([ratio for ratio, _ in ratios]),
        "expected": expected_record(ops),
        "ops": ops,
        "not_measured": [_side(one.side, found.repeats) for one in comparison.only_a],
        "not_modelled": [_side(one.side, 1) for one in comparison.only_b],
        "notes": list(_notes(found, ops)),
    }


def class_of(piece: Piece) -> str:
    """The kind of op whose efficiency is likely the same."""
    op = piece.of.op
    if op.is_attention:
        return "attention"
    return "matmul" if op.matrix else "collective" if op.link else "vector"


def coverage(found: Overlay) -> dict[str, float | None]:
    """Shares of the run's FLOPs, bytes and time in ops that the model has; unknown work is in none.

    `None` where the run has none of it.
    """
    run, times = found.measured, found.measured.units[found.unit]
    products, matched = found.products[1], found.matched[1]
    return {
        "flops": _share(times.calls * np.nan_to_num(_matrix_flop(run)), products),
        "bytes": _share(times.calls * np.nan_to_num(run.bytes), matched),
        "time": _share(times.time_us, matched),
    }


def _coverage_of_model(found: Overlay) -> dict[str, float | None]:
    """The same of the model's step: what of it the run has."""
    times = found.model.units[found.unit]
    products, matched = found.products[0], found.matched[0]
    flop = np.array([one.flop for one in found.pieces])
    return {
        "flops": _share(times.calls * flop, products),
        "bytes": _share(times.calls * found.model.bytes, matched),
        "time": _share(times.time_us, matched),
    }


def _matrix_flop(run: Run) -> Floats:
    """FLOPs per call of ops that are products: all FLOPs where units are not told apart."""
    matrix = [column for name, column in run.work.items() if name.startswith("matrix")]
    if not matrix:
        return run.flop
    return np.asarray(np.sum([np.nan_to_num(column) for column in matrix], axis=0))


def _share(amounts: Floats, rows: Sequence[int]) -> float | None:
    total = float(amounts.sum())
    return float(amounts[list(rows)].sum()) / total if total > 0 else None


def _joint(sides: Sequence[Side]) -> Side:
    """Several ops as one side: names, and the sum of their times."""
    return replace(
        sides[0],
        names=tuple(name for one in sides for name in one.names),
        time_us=sum(one.time_us for one in sides),
        calls=sum(one.calls for one in sides),
        flop=None,
        bytes=None,
    )


def _error(model: Side, measured: Side, terms: Mapping[str, float], tier: int) -> Record:
    """Measured ÷ predicted, and its factors, whose product it is; `None` where one is not known."""
    known = model.time_us > 0 and measured.time_us > 0
    ratio = measured.time_us / model.time_us if known else None
    return {
        "model": list(model.names),
        "measured": list(measured.names),
        "by": "flops" if tier == BY_FLOPS else "scope",
        "calls": [model.calls, measured.calls],
        "flops": [model.flop, measured.flop],
        "bytes": [model.bytes, measured.bytes],
        "predicted_us": model.time_us,
        "measured_us": measured.time_us,
        "ratio": ratio,
        "factors": _factors(terms, ratio, measured.time_us - model.time_us),
    }


def _factors(
    terms: Mapping[str, float], ratio: float | None, change_us: float
) -> dict[str, float] | None:
    """Each term as a factor of the ratio: exp(term ÷ logarithmic mean of both times)."""
    if not ratio or terms.get("unknown"):
        return None
    weight = change_us / math.log(ratio) if ratio != 1 and change_us else None
    names = _FACTORS if "calls" in terms else tuple(terms)
    if weight is None:
        return dict.fromkeys(names, 1.0)
    return {name: math.exp(terms[name] / weight) for name in names}


def _products(found: Overlay) -> Record:
    """All products with a partner together: their times, the ratio, and its factors."""
    comparison = found.comparison
    predicted = sum(one.a.time_us for one in comparison.ops)
    measured = sum(one.b.time_us for one in comparison.ops)
    terms = {
        name: sum(one.terms[name] for one in comparison.ops) for name in (*_FACTORS, "unknown")
    }
    ratio = measured / predicted if predicted > 0 and measured > 0 else None
    return {
        "predicted_us": predicted,
        "measured_us": measured,
        "time_share": _share(found.measured.units[found.unit].time_us, found.products[1]),
        "ratio": ratio,
        "factors": _factors(terms, ratio, measured - predicted),
    }


def _mean_ratio(ratios: Sequence[tuple[float, float]]) -> float | None:
    """The geometric mean of measured ÷ predicted of products, weighted by measured time."""
    total = sum(weight for _, weight in ratios)
    if not total:
        return None
    return math.exp(sum(weight * math.log(ratio) for ratio, weight in ratios) / total)


def _median_error(ratios: Sequence[float]) -> float | None:
    """The median of |ln ratio| as a factor."""
    return math.exp(float(np.median(np.abs(np.log(ratios))))) if ratios else None


def _side(side: Side, steps: int) -> Record:
    return {
        "names": list(side.names),
        "calls": side.calls / steps,
        "flops": side.flop,
        "bytes": side.bytes,
        "time_us": side.time_us,
    }


def _notes(found: Overlay, ops: Sequence[Record]) -> Sequence[str]:
    notes = []
    if found.measured.provenance[0] == "estimated":
        notes.append(
            "The FLOPs of the run are estimates from shapes: they agree with a model of the same "
            "formulas, and do not confirm it."
        )
    if found.unit == CAPTURE:
        notes.append(f"The capture has no steps: {found.repeats} of the model are in it.")
    below = [one for one in ops if one["by"] == "flops" and (one["ratio"] or 1.0) < _BELOW]
    if below:
        names = ", ".join(one["model"][0] for one in below[:3])
        notes.append(
            f"{len(below)} ops are faster than their bound ({names}): pairs, a peak or bytes of "
            "the prediction are wrong."
        )
    return notes
