"""The cheapest pairing, against every pairing there is."""

from itertools import permutations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from roofline.compare.features import assign

_costs = st.integers(1, 5).flatmap(
    lambda columns: st.lists(
        st.lists(st.integers(0, 6), min_size=columns, max_size=columns), min_size=1, max_size=5
    )
)


def _cheapest(cost: np.ndarray[tuple[int, int], np.dtype[np.float64]]) -> float:
    if cost.shape[0] > cost.shape[1]:
        return _cheapest(cost.T)
    rows, columns = cost.shape
    return min(
        float(sum(cost[row, chosen[row]] for row in range(rows)))
        for chosen in permutations(range(columns), rows)
    )


@given(_costs)
def test_no_other_pairing_is_cheaper(given_costs: list[list[int]]) -> None:
    cost = np.array(given_costs, np.float64)
    pairs = assign(cost)
    rows, columns = zip(*pairs, strict=True)
    assert len(set(rows)) == len(set(columns)) == min(cost.shape)
    assert sum(cost[pair] for pair in pairs) == _cheapest(cost)
