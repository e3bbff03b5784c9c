"""Which scores of an attention its mask keeps."""

from dataclasses import dataclass

from roofline.importers.pytorch.attention_forms import Form
from roofline.importers.pytorch.inputs import Inputs


@dataclass(frozen=True, slots=True, kw_only=True)
class Mask:
    """Which keys a query sees: `before` and `behind` its own position; `None` is all."""

    before: int | None = None
    behind: int | None = None
    is_top_left: bool = False


def kept(n_queries: int, n_keys: int, mask: Mask) -> int:
    """Pairs of a query and a key that `mask` keeps.

    A query's own position counts from the first key, or, bottom right, so that the last query
    stands at the last key.
    """
    offset = 0 if mask.is_top_left else n_keys - n_queries
    end = n_keys if mask.behind is None else offset + mask.behind + 1
    start = -n_queries if mask.before is None else offset - mask.before
    upper = n_queries * n_keys if mask.behind is None else _clipped(n_queries, end, n_keys)
    return max(upper - _clipped(n_queries, start, n_keys), 0)


def _clipped(count: int, start: int, limit: int) -> int:
    """Sum of start, start + 1, … over `count` numbers, each clipped to 0 … limit."""

    def up_to(last: int) -> int:
        if last <= 0:
            return 0
        rising = min(last, limit)
        return rising * (rising + 1) // 2 + limit * (last - rising)

    return up_to(start + count - 1) - up_to(start - 1)


def mask_of(inputs: Inputs, form: Form) -> Mask | None:
    """The mask, `None` if what was recorded does not tell."""
    if form.mask_type:
        return _typed_mask(inputs, form)
    place = next((at for at in form.causal if inputs.flag(at) is not None), None)
    if place is None:
        return None
    behind = 0 if inputs.flag(place) else None
    window = place + 1 if form.has_window else form.window
    before = None
    if window is not None:
        before = _limit(inputs, window)
        behind = behind if behind is not None else _limit(inputs, window + 1)
    return Mask(before=before, behind=behind, is_top_left=form.is_top_left)


def _typed_mask(inputs: Inputs, form: Form) -> Mask | None:
    number = next((n for at in form.mask_type if (n := inputs.number(at)) is not None), None)
    types = {0: Mask(), 1: Mask(behind=0, is_top_left=True), 2: Mask(behind=0)}
    return types.get(number) if number is not None else None


def _limit(inputs: Inputs, place: int) -> int | None:
    """How far a window reaches; negative numbers mean without end."""
    number = inputs.number(place)
    return number if number is not None and number >= 0 else None
