"""Numbers of fitted machines that learning bounds are made of."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier

from ..domains import Similarities
from ..errors import InputError
from ..guarantees.facts import MachineFacts
from .explanation import Expansion
from .logistic import KernelLogistic
from .ridge import KernelRidge
from .svm import SVC, NuSVC

__all__ = ["bound_facts"]


def bound_facts(machine: Any, X: Any, y: Any) -> MachineFacts:
    """Fit a copy of a machine and return the numbers of its bounds."""
    if not isinstance(machine, SVC | NuSVC | KernelLogistic | KernelRidge):
        raise InputError(
            "panel: `machine` must be SVC, NuSVC, KernelLogistic or KernelRidge. "
            f"Got a {type(machine).__name__}."
        )
    if machine.approximation is not None:
        raise InputError("panel: `machine` must have no `approximation`: the bounds are of its kernel.")
    fitted = clone(machine).fit(X, y)
    return _classifier_facts(fitted, X, y) if is_classifier(fitted) else _ridge_facts(fitted, X, y)


def _classifier_facts(machine: Any, X: Any, y: Any) -> MachineFacts:
    if len(machine.classes_) != 2:
        raise InputError(f"panel: `y` must hold two classes. Got {len(machine.classes_)}.")
    signs = np.where(np.asarray(y).ravel() == machine.classes_[1], 1.0, -1.0)
    plain = machine.class_weight is None
    penalty, support = None, None
    if isinstance(machine, SVC) and plain:
        penalty = 1 / (2 * float(machine.C) * len(signs))
        support = np.asarray(machine.support_, dtype=np.intp)
    elif isinstance(machine, KernelLogistic) and plain and not machine.l1:
        penalty = float(machine.alpha_) / (2 * len(signs))
    return MachineFacts(
        name=type(machine).__name__,
        is_classifier=True,
        values=signs * machine.decision_function(X),
        targets=signs,
        norm=_norm(machine._expansion()),
        intercept=float(machine.intercept_[0]) if getattr(machine, "fit_intercept", True) else None,
        diagonal=_diagonal(machine, X),
        radius=_radius(machine),
        penalty=penalty,
        support=support,
        broken=_broken(machine),
    )


def _ridge_facts(machine: Any, X: Any, y: Any) -> MachineFacts:
    targets = np.asarray(y, dtype=np.float64)
    if targets.ndim != 1:
        raise InputError(f"panel: `y` must be of shape (n,). Got {targets.shape}.")
    alpha = float(machine.alpha_)
    if alpha == 0:
        raise InputError("panel: `machine` must have `alpha` > 0: without a penalty no bound is known.")
    return MachineFacts(
        name=type(machine).__name__,
        is_classifier=False,
        values=np.asarray(machine.predict(X), dtype=np.float64),
        targets=targets,
        norm=_norm(machine._expansion()),
        intercept=float(machine.intercept_) if machine.fit_intercept else None,
        diagonal=_diagonal(machine, X),
        radius=_radius(machine),
        penalty=alpha / len(targets),
        loo_residuals=machine.loo_residuals(),
        broken=_broken(machine),
    )


def _norm(found: Expansion) -> float:
    """RKHS norm of the first function."""
    a = found.coefficients[:, :1]
    return math.sqrt(max(float((a.T @ np.asarray(found.gram @ a)).item()), 0.0))


def _diagonal(machine: Any, X: Any) -> np.ndarray:
    """Values of the training points with themselves."""
    if isinstance(machine.kernel_.domain, Similarities):
        return np.diagonal(np.asarray(X, dtype=np.float64)).copy()
    points = machine._validate_X(X, reset=False)
    return np.asarray(machine.kernel_._diagonal(machine.kernel_._prepare(points)), dtype=np.float64)


def _radius(machine: Any) -> float | None:
    largest = machine.kernel_.diagonal_bounds.high
    return math.sqrt(largest) if math.isfinite(largest) else None


def _broken(machine: Any) -> tuple[str, ...]:
    """Assumptions that do not hold of this machine."""
    broken = []
    if not machine._checked_kernel().is_resolved:
        broken.append(f"the kernel was fixed in advance: {machine._checked_kernel()!r} depends on the sample")
    chosen = [f"alpha={machine.alpha!r}"] if isinstance(getattr(machine, "alpha", None), str) else []
    if getattr(machine, "tune", None) is not None:
        chosen.append(f"tune={machine.tune!r}")
    if chosen:
        broken.append(f"the parameters were fixed in advance: {', '.join(chosen)} chose them with y")
    if not machine.kernel_.certificate.is_psd:
        broken.append(f"the kernel is positive definite: {machine.kernel_!r} is not certified")
    if _radius(machine) is None:
        broken.append("k(x, x) is bounded: its largest value in the sample was taken for all x")
    if isinstance(machine, KernelRidge):
        broken.append("the range of targets is known: the largest in the sample was taken for all")
    return tuple(broken)
