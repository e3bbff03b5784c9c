"""Attention to sequences whose lengths are data, from the sums that a server writes per step.

The FLOPs follow from the pairs of a query and a key, the bytes from the keys in the cache: both are
sums over the sequences. Keys never count as the whole cache. The notes count the assumptions about
a server's kernels: which experts were touched, how far windows reach.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from roofline.importers.pytorch.attention import names_a_layer, ragged_of_heads
from roofline.importers.pytorch.bytes_moved import cache_of
from roofline.importers.pytorch.inputs import Ragged, known_sum
from roofline.importers.pytorch.products import Touched
from roofline.importers.pytorch.serving import Lengths, ServingStep, step_at
from roofline.importers.pytorch.signatures import Signature
from roofline.importers.pytorch.trace import Trace


def read_caches(signatures: list[Signature]) -> None:
    """Complete attention that only names a layer, in place: with the type of its cache.

    That is the type of a cache of the same heads that the trace shows being written.
    """
    known = _caches(signatures)
    for place, signature in enumerate(signatures):
        if (
            signature.inputs is None
            or signature.ragged is not None
            or not names_a_layer(signature.operator)
        ):
            continue
        key = signature.inputs.tensor(1)
        item = known.get(key.shape[-2:]) if key is not None else None
        if item:
            signatures[place] = replace(signature, ragged=ragged_of_heads(signature.inputs, item))


def _caches(signatures: Sequence[Signature]) -> dict[tuple[int, ...], int]:
    """Bytes per element of caches by heads and depth; 0 where there are several."""
    result: dict[tuple[int, ...], int] = {}
    for signature in signatures:
        cache = cache_of(signature.inputs) if signature.inputs is not None else None
        if cache is not None:
            heads, item = cache
            result[heads] = item if result.get(heads, item) == item else 0
    return result


def apply_lengths(trace: Trace, steps: Sequence[ServingStep]) -> None:
    """Give each attention in `trace` that needs it the work of its step's lengths."""
    open_ones = [k for k, signature in enumerate(trace.signatures) if signature.ragged is not None]
    if not open_ones or not steps:
        return
    signature = np.array(trace.operators["signature"], np.int64)
    events = np.flatnonzero(np.isin(signature, open_ones))
    step = step_at(np.array(trace.operators["begin"][events]), steps)
    inside = step >= 0
    events, step = events[inside], step[inside]
    pairs, at = np.unique(np.stack([signature[events], step]), axis=1, return_inverse=True)
    numbers = [
        _with_lengths(trace.signatures, place, steps[number])
        for place, number in zip(*pairs.tolist(), strict=True)
    ]
    trace.operators["signature"][events] = np.array(numbers, np.int64)[at.ravel()]


def _with_lengths(signatures: list[Signature], place: int, step: ServingStep) -> int:
    """Place of the same signature with the work of this step; its own where that is unknown."""
    signature = signatures[place]
    lengths = _lengths_of(signature.ragged, step) if signature.ragged else None
    cost = _cost(signature.ragged, lengths) if signature.ragged and lengths else None
    if cost is None:
        return place
    flop, cached, moved = cost
    signatures.append(
        replace(
            signature,
            flop=flop,
            moved_bytes=moved,
            cache_bytes=cached,
            ragged=None,
            is_uncountable=False,
        )
    )
    return len(signatures) - 1


def _lengths_of(ragged: Ragged, step: ServingStep) -> Lengths | None:
    """The sums of the sequences that a call is for, told by its number of queries.

    Graphs fill a batch up: then there are more rows of queries than tokens.
    """
    phases = [part for part in (step.prefill, step.decode) if part.sequences]
    if len(phases) > 1:
        for part in phases:
            if part.queries == ragged.queries:
                return part
    both = _both(step)
    is_enough = both.queries is not None and ragged.queries >= both.queries
    return both if is_enough else None


def _both(step: ServingStep) -> Lengths:
    """The sums of prefill and decode together."""
    return Lengths(
        **{
            name: known_sum(getattr(part, name) for part in (step.prefill, step.decode))
            for name in Lengths.__dataclass_fields__
        }
    )


def _cost(ragged: Ragged, lengths: Lengths) -> tuple[int, int, int] | None:
    """FLOPs, bytes of the cache, and all bytes; `None` where a sum is missing."""
    pairs = lengths.queries_by_keys if ragged.sees_all else lengths.pairs
    keys, queries, sequences = lengths.keys, lengths.queries, lengths.sequences
    if pairs is None or keys is None or queries is None or sequences is None:
        return None
    if ragged.window is not None:
        # Of sequences that are longer than the window, which is where windows matter.
        keys = min(keys, sequences * (ragged.window - 1) + queries)
        pairs = min(pairs, queries * ragged.window)
    cached = keys * ragged.bytes_per_key
    return pairs * ragged.flop_per_pair, cached, cached + ragged.other_bytes


@dataclass(slots=True, kw_only=True)
class Assumed:
    """Calls of experts by what they may touch, and calls of attention by their window."""

    touched: Counter[Touched] = field(default_factory=Counter)
    windows: Counter[int] = field(default_factory=Counter)

    def add(self, trace: Trace) -> None:
        """Add the calls of one trace."""
        counts = np.bincount(trace.operators["signature"], minlength=len(trace.signatures))
        for called, count in zip(trace.signatures, counts.tolist(), strict=True):
            if called.touched and count:
                self.touched[called.touched] += count
            if called.window and count:
                self.windows[called.window] += count
