"""Distinct keys of many events, without a sort where the keys are small numbers."""

import numpy as np

from roofline.model.op_columns import I64

# A flag for each possible key while these are few, or not many more than the events.
_MOST_FLAGS = 1 << 20


def distinct(keys: I64, n_keys: int) -> tuple[I64, I64]:
    """Distinct keys in order, and the place of each key among them; keys are below `n_keys`."""
    if n_keys > max(_MOST_FLAGS, len(keys)):
        found, place = np.unique(keys, return_inverse=True)
        return found, place
    is_used = np.zeros(n_keys, np.bool_)
    is_used[keys] = True
    found = np.flatnonzero(is_used)
    places = np.zeros(n_keys, np.int64)
    places[found] = np.arange(len(found))
    return found, places[keys]
