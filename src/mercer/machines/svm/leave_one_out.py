"""Bounds of the leave-one-out error of a fitted classifier, from one training."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...domains import Similarities
from ...errors import InputError
from ...gram import PointGram
from ...guarantees import Bound, radius_margin_bound, span_bound, support_vector_bound
from ..base import len_of
from ..tuning.span import AT_BOUND, leave_one_out_combinations
from .enclosing_ball import EnclosingBall

__all__ = ["LeaveOneOutBounds", "leave_one_out_bounds"]

Array = NDArray[np.float64]


class LeaveOneOutBounds(NamedTuple):
    """Bounds of the share of leave-one-out errors, each a number with its assumptions, and an estimate.

    Attributes
    ----------
    support_vectors : Bound
        The share of support vectors.
    radius_margin : Bound
        By the radius of the smallest ball around the points and the margin.
    span : Bound
        By the distances of support vectors from what the free ones span.
    estimate : float
        The share of support vectors that would be misclassified if the others kept their places (at C, or
        free) when they are left out: an estimate, often close, and no bound.
    """

    support_vectors: Bound
    radius_margin: Bound
    span: Bound
    estimate: float


def leave_one_out_bounds(machine: Any, X: Any) -> LeaveOneOutBounds:
    """Bounds for a fitted two-class machine with a price C; ``X`` are its training points."""
    name = f"{type(machine).__name__}.leave_one_out_bounds"
    points, n = _training_points(machine, X, name)
    beta = np.asarray(machine.dual_coef_[0], dtype=np.float64)
    alpha, offset = np.abs(beta), bool(machine.fit_intercept)
    high = float(machine.C) * np.where(beta > 0, machine.class_weight_[1], machine.class_weight_[0])
    if (alpha > high * (1 + AT_BOUND)).any():
        raise InputError(f"{name}: the machine must be fitted without `sample_weight`.")
    K = np.asarray(machine.expansion_._in_double().dense(), dtype=np.float64)
    values = K @ beta
    margins = np.sign(beta) * (values + machine.intercept_[0])
    slacks = np.zeros(len(beta)) if np.isinf(float(machine.C)) else np.maximum(0.0, 1.0 - margins)
    if isinstance(machine.kernel_.domain, Similarities):
        own = np.diagonal(np.asarray(X, dtype=np.float64)).copy()
    else:
        own = np.asarray(machine.expansion_._self(points), dtype=np.float64)
    if offset:
        cross = np.asarray(machine.expansion_._cross(points).dense(), dtype=np.float64)
        distances = np.sqrt(np.maximum(0.0, (own[:, None] - 2 * cross).max(axis=0) + K.diagonal()))
        # accuracy of the smallest ball; its radius is that of a ball that has all points inside, whatever
        # this is
        ball = EnclosingBall(machine.kernel_, tol=1e-6).fit(X)
        center = np.asarray(ball.dual_coef_[0])
        inner = np.asarray(ball.expansion_._cross(points) @ np.ascontiguousarray(center))
        radius = float(np.sqrt(max(float((own - 2 * inner).max()) + ball.squared_norm_, 0.0)))
    else:
        distances, radius = np.sqrt(K.diagonal()), float(np.sqrt(own.max()))
    found = leave_one_out_combinations(K, beta, high, offset)
    spans = np.minimum(np.sqrt(np.maximum(found.feasible, 0.0)), distances)
    price = float(high @ slacks / slacks.sum()) if slacks.any() else float(machine.C)
    norm = float(np.sqrt(max(float(beta @ values), 0.0)))
    radius_margin = radius_margin_bound(norm, radius, n=n, C=price, slack=float(slacks.sum()), offset=offset)
    span = span_bound(alpha, spans, distances, n=n, slacks=slacks, offset=offset)
    if offset and not (alpha < high * (1 - AT_BOUND)).any():
        reason = (
            "no support vector has 0 < alpha < C, so that the offset of a machine without a point may jump"
        )
        radius_margin, span = (
            dataclasses.replace(
                bound, value=1.0, vacuous=True, vacuous_because=reason, terms={"undetermined offset": 1.0}
            )
            for bound in (radius_margin, span)
        )
    estimate = float((margins - alpha * found.unconstrained <= 0).sum()) / n
    return LeaveOneOutBounds(support_vector_bound(n, len(beta)), radius_margin, span, estimate)


def _training_points(machine: Any, X: Any, name: str) -> tuple[Any, int]:
    if len(machine.classes_) != 2:
        raise InputError(f"{name}: the machine must have two classes. Got {len(machine.classes_)}.")
    machine._require_exact("leave_one_out_bounds")
    if not machine.converged_:
        raise InputError(f"{name}: the machine must be trained to its optimum. Got: {machine.status_}.")
    if not isinstance(machine.expansion_, PointGram):
        raise InputError(f"{name}: the Gram matrix was repaired; bounds are of a positive definite kernel.")
    points = machine._validate_X(X, reset=False)
    n = machine.shape_fit_[0]
    if len_of(points) != n:
        raise InputError(f"{name}: `X` must be the {n} training points. Got {len_of(points)} points.")
    return points, n
