"""The quadratic problems of support vector machines, solved independently by an interior-point method."""

import clarabel
import numpy as np
from scipy import sparse

__all__ = ["least_objective"]


def least_objective(K, linear, low, high, width=0.0, sums=(), most_in_all=np.inf):
    """Least value of 1/2 b'Kb + q'b + width |b|_1 in a box, by Clarabel.

    ``sums`` are the values of sum(b) (one number), or of the sums of the positive and of the negative
    variables (two numbers), or nothing.  ``most_in_all`` bounds the sum of the |b_i|.
    """
    # b = p - m with 0 <= p <= high and 0 <= m <= -low; variables that have no room are left out.
    p, m = np.flatnonzero(high > 0), np.flatnonzero(low < 0)
    index, sign = np.concatenate([p, m]), np.repeat([1.0, -1.0], [len(p), len(m)])
    P = sign[:, None] * K[np.ix_(index, index)] * sign
    cost = sign * linear[index] + width
    room = np.concatenate([high[p], -low[m]])
    count, scale = len(index), max(1.0, float(np.abs(P).max(initial=0.0)))
    equalities = {0: [], 1: [sign], 2: [(sign > 0) * 1.0, (sign < 0) * -1.0]}[len(sums)]
    finite = np.isfinite(room)
    rows = [*equalities, -np.eye(count), np.eye(count)[finite]]
    right = [np.array(sums), np.zeros(count), room[finite]]
    if np.isfinite(most_in_all):
        rows.append(np.ones((1, count)))
        right.append([most_in_all])
    A, limits = np.vstack(rows), np.concatenate(right)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    settings.max_iter = 200
    solver = clarabel.DefaultSolver(
        sparse.csc_matrix(np.triu(P) / scale),
        cost / scale,
        sparse.csc_matrix(A),
        limits,
        [clarabel.ZeroConeT(len(equalities)), clarabel.NonnegativeConeT(len(A) - len(equalities))],
        settings,
    )
    solution = solver.solve()
    assert str(solution.status) in ("Solved", "AlmostSolved"), solution.status
    return scale * float(solution.obj_val)
