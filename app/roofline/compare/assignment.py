"""The cheapest pairing of two short lists: the Hungarian method with potentials.

After Kuhn and Munkres in the form of shortest augmenting paths (Jonker and Volgenant 1987), one row
at a time, O(n² m). SciPy has the same and is not worth its 35 MB for lists of this length.
"""

import numpy as np

from roofline.analysis.roofline import Floats


def assign(cost: Floats) -> list[tuple[int, int]]:
    """Pairs (row, column) of the least total cost; every row or every column has one."""
    n_rows, n_columns = cost.shape
    if n_rows > n_columns:
        return sorted((row, column) for column, row in assign(cost.T))
    of_column = _shortest_paths(np.ascontiguousarray(cost))
    return sorted((row, column) for column, row in enumerate(of_column) if row >= 0)


def _shortest_paths(cost: Floats) -> list[int]:
    """The row of each column, -1 for none; there are no more rows than columns."""
    n_rows, n_columns = cost.shape
    row_price, column_price = np.zeros(n_rows), np.zeros(n_columns)
    row_of = np.full(n_columns, -1)
    for start in range(n_rows):
        distance = np.full(n_columns, np.inf)
        came_from = np.full(n_columns, -1)
        is_done = np.zeros(n_columns, np.bool_)
        row, column, reached = start, -1, 0.0
        in_tree = [(start, 0.0)]
        while row >= 0:
            through = reached + cost[row] - row_price[row] - column_price
            nearer = ~is_done & (through < distance)
            distance[nearer] = through[nearer]
            came_from[nearer] = column
            column = int(np.where(is_done, np.inf, distance).argmin())
            reached = float(distance[column])
            is_done[column] = True
            row = int(row_of[column])
            if row >= 0:
                in_tree.append((row, reached))
        for one, at in in_tree:
            row_price[one] += reached - at
        column_price[is_done] -= reached - distance[is_done]
        while column >= 0:
            before = int(came_from[column])
            row_of[column] = start if before < 0 else row_of[before]
            column = before
    return [int(row) for row in row_of]
