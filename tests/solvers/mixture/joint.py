"""Weights of patterns and the machine, as one cone program over both, solved by a general solver."""

import clarabel
import numpy as np
from scipy import sparse

__all__ = ["joint_minimum"]


def joint_minimum(F, Y, trace, *, C=None, alpha=None):
    """Least value over mu >= 0 with sum(mu * s) <= trace, and over the machine of the kernel F diag(mu) F'.

    s are the squared lengths of the columns of F.  With C the loss is the hinge loss times C, with alpha the
    squared one over 2 alpha.  Returns the value, mu and the predictions.

    Variables are mu, p, w, b, e: p_z >= |w_z|^2 / mu_z, written as |(2 w_z, p_z - mu_z)| <= p_z + mu_z, and
    e are the losses or errors of the points.
    """
    (n, m), c = F.shape, Y.shape[1]
    mu, p, w, b, e = np.split(np.arange(2 * m + m * c + c + n * c), np.cumsum([m, m, m * c, c]))
    w, e = w.reshape(m, c), e.reshape(n, c)
    size = e.max() + 1
    rows, right, cones = [], [], []

    def require(blocks, limits, cone):  # limits - blocks @ x lies in the cone
        rows.append(blocks)
        right.append(limits)
        cones.append(cone)

    f = np.zeros((n * c, size))
    for j in range(c):
        f[np.ix_(np.arange(j, n * c, c), w[:, j])] = F
        f[j::c, b[j]] = 1.0
    errors, y = np.eye(size)[e.ravel()], Y.ravel()
    if C is not None:  # e >= 1 - y f, e >= 0
        require(-y[:, None] * f - errors, -np.ones(n * c), clarabel.NonnegativeConeT(n * c))
        require(-errors, np.zeros(n * c), clarabel.NonnegativeConeT(n * c))
    else:  # e = y - f
        require(errors + f, y, clarabel.ZeroConeT(n * c))
    require(-np.eye(size)[mu], np.zeros(m), clarabel.NonnegativeConeT(m))
    trace_row = np.zeros((1, size))
    trace_row[0, mu] = (F**2).sum(axis=0)
    require(trace_row, np.array([trace]), clarabel.NonnegativeConeT(1))
    for z in range(m):
        unit = np.eye(size)
        cone = np.vstack([-unit[p[z]] - unit[mu[z]], -2 * unit[w[z]], -unit[p[z]] + unit[mu[z]]])
        require(cone, np.zeros(c + 2), clarabel.SecondOrderConeT(c + 2))
    cost, curvature = np.zeros(size), np.zeros(size)
    cost[p] = 0.5
    cost[e] = 0.0 if C is None else C
    curvature[e] = 1.0 / alpha if C is None else 0.0
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
    solver = clarabel.DefaultSolver(
        sparse.csc_matrix(np.diag(curvature)),
        cost,
        sparse.csc_matrix(np.vstack(rows)),
        np.concatenate(right),
        cones,
        settings,
    )
    solution = solver.solve()
    assert str(solution.status) in ("Solved", "AlmostSolved"), solution.status
    x = np.array(solution.x)
    return float(solution.obj_val), x[mu], (f @ x).reshape(n, c)
