"""Weights of kernels and the machine, as one cone program in the dual variables, by a general solver."""

from __future__ import annotations

from typing import NamedTuple

import clarabel
import numpy as np
from scipy import sparse

__all__ = ["Optimum", "cone_optimum"]


class Optimum(NamedTuple):
    """The least J, the weights, and the dual variables."""

    objective: float
    weights: np.ndarray
    beta: np.ndarray


def cone_optimum(Ks, linear, *, low=None, high=None, total=None, epsilon=0.0, noise=None, p=1.0):
    """Maximise -q'b - eps |b|_1 - b' diag(noise) b / 2 - |(b'K_l b)_l|_q / 2 over the box and the sum.

    Variables are b, u >= |b|, s_l >= b'K_l b, t >= |s|_q and r with r_l^(1/q) t^(1/p) >= s_l, sum(r) = t.
    """
    m, n = len(Ks), len(linear)
    b, u, s, t, r = np.split(np.arange(2 * n + 2 * m + 1), np.cumsum([n, n, m, 1]))
    size = 2 * n + 2 * m + 1
    unit = np.eye(size)
    rows, right, cones = [], [], []

    def require(block, limit, cone):  # limit - block @ x lies in the cone
        rows.append(np.atleast_2d(block))
        right.append(np.atleast_1d(limit))
        cones.append(cone)

    if high is not None:
        require(unit[b], high, clarabel.NonnegativeConeT(n))
        require(-unit[b], -low, clarabel.NonnegativeConeT(n))
    if epsilon:
        require(unit[b] - unit[u], np.zeros(n), clarabel.NonnegativeConeT(n))
        require(-unit[b] - unit[u], np.zeros(n), clarabel.NonnegativeConeT(n))
    else:
        require(unit[u], np.zeros(n), clarabel.ZeroConeT(n))
    if total is not None:
        require(unit[b].sum(axis=0), total, clarabel.ZeroConeT(1))
    for i, K in enumerate(Ks):
        values, vectors = np.linalg.eigh(K)
        root = np.zeros((n, size))
        root[:, b] = (vectors * np.sqrt(np.maximum(values, 0.0))).T
        block = np.vstack([-unit[s[i]], -2.0 * root, -unit[s[i]]])
        require(block, np.concatenate([[1.0], np.zeros(n), [-1.0]]), clarabel.SecondOrderConeT(n + 2))
    if p == 1:
        require(unit[s] - unit[t], np.zeros(m), clarabel.NonnegativeConeT(m))
        require(unit[r], np.zeros(m), clarabel.ZeroConeT(m))
    else:
        for i in range(m):
            require(-unit[[r[i], t[0], s[i]]], np.zeros(3), clarabel.PowerConeT(1.0 - 1.0 / p))
        require(unit[r].sum(axis=0) - unit[t[0]], 0.0, clarabel.NonnegativeConeT(1))
    cost, curvature = np.zeros(size), np.zeros(size)
    cost[b], cost[u], cost[t] = linear, epsilon, 0.5
    curvature[b] = 0.0 if noise is None else noise
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10 if p == 1 else 1e-8
    solver = clarabel.DefaultSolver(
        sparse.csc_matrix(np.diag(curvature)),
        cost,
        sparse.csc_matrix(np.vstack(rows)),
        np.concatenate(right),
        cones,
        settings,
    )
    found = solver.solve()
    gap = abs(found.obj_val - found.obj_val_dual) / abs(found.obj_val)
    assert str(found.status) in ("Solved", "AlmostSolved") or gap < 1e-7, (found.status, gap)
    x = np.array(found.x)
    beta = x[b]
    prices = np.array([beta @ K @ beta for K in Ks])
    if p == 1:  # the multipliers of s_l <= t
        place = sum(len(limit) for limit in right) - 2 * m
        weights = 2.0 * np.array(found.z)[place : place + m]
    else:
        q = p / (p - 1.0)
        weights = (prices / (prices**q).sum() ** (1.0 / q)) ** (q - 1.0)
    return Optimum(-float(found.obj_val), weights, beta)
