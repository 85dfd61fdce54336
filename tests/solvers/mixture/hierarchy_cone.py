"""A machine with the penalty of a hierarchy of kernels, as one cone program in the functions."""

from __future__ import annotations

import clarabel
import numpy as np
from scipy import sparse

__all__ = ["hierarchy_optimum"]


def hierarchy_optimum(Ks, above, delta, y, *, alpha=None, C=None):
    """Minimise (sum_v delta_v |(f_w)_{w below v}|)^2 / 2 + loss, and give the minimum and the norms of f_w.

    The function of a kernel is L u with L L' = K and norm |u|.  The loss is |y - f - b|^2 / (2 alpha), or
    C sum max(0, 1 - y (f + b)).  Variables are u of all kernels, b, errors r, norms t_v and their sum s.
    """
    m, n = len(Ks), len(y)
    sizes = [m * n, 1, n, m, 1]
    u, b, r, t, s = np.split(np.arange(sum(sizes)), np.cumsum(sizes)[:-1])
    unit = np.eye(sum(sizes))
    roots = []
    for K in Ks:
        values, vectors = np.linalg.eigh(K)
        roots.append(vectors * np.sqrt(np.maximum(values, 0.0)))
    f = np.zeros((n, sum(sizes)))
    f[:, u], f[:, b] = np.hstack(roots), 1.0
    rows, right, cones = [], [], []

    def require(block, limit, cone):  # limit - block @ x lies in the cone
        rows.append(np.atleast_2d(block))
        right.append(np.atleast_1d(limit))
        cones.append(cone)

    cost, curvature = np.zeros(sum(sizes)), np.zeros(sum(sizes))
    curvature[s] = 1.0
    if alpha is not None:
        require(f + unit[r], y, clarabel.ZeroConeT(n))
        curvature[r] = 1.0 / alpha
    else:
        require(-y[:, None] * f - unit[r], -np.ones(n), clarabel.NonnegativeConeT(n))
        require(-unit[r], np.zeros(n), clarabel.NonnegativeConeT(n))
        cost[r] = C
    require(delta @ unit[t] - unit[s[0]], 0.0, clarabel.NonnegativeConeT(1))
    for v in range(m):
        below = np.concatenate([u[w * n : (w + 1) * n] for w in np.flatnonzero(above[:, v])])
        block = np.vstack([-unit[t[v]], -unit[below]])
        require(block, np.zeros(len(block)), clarabel.SecondOrderConeT(len(block)))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-8
    settings.max_step_fraction = 0.9  # norms of zero are tips of cones: nearer, rounding ends the run early
    parts = sparse.csc_matrix(np.diag(curvature)), cost, sparse.csc_matrix(np.vstack(rows))
    found = clarabel.DefaultSolver(*parts, np.concatenate(right), cones, settings).solve()
    assert str(found.status) == "Solved", found.status
    norms = np.linalg.norm(np.array(found.x)[u].reshape(m, n), axis=1)
    return float(found.obj_val), norms
