"""Numbers of fitted machines that learning bounds are made of."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier

from ..domains import Similarities
from ..errors import InputError
from ..guarantees.facts import MachineFacts
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
    machine = clone(machine).fit(X, y)
    penalty, support, loo_residuals = None, None, None
    if is_classifier(machine):
        if len(machine.classes_) != 2:
            raise InputError(f"panel: `y` must hold two classes. Got {len(machine.classes_)}.")
        targets = np.where(np.asarray(y).ravel() == machine.classes_[1], 1.0, -1.0)
        values, plain = targets * machine.decision_function(X), machine.class_weight is None
        if isinstance(machine, SVC) and plain:
            penalty = 1 / (2 * float(machine.C) * len(targets))
            support = np.asarray(machine.support_, dtype=np.intp)
        elif isinstance(machine, KernelLogistic) and plain and not machine.l1:
            penalty = float(machine.alpha_) / (2 * len(targets))
    else:
        targets = np.asarray(y, dtype=np.float64)
        if targets.ndim != 1:
            raise InputError(f"panel: `y` must be of shape (n,). Got {targets.shape}.")
        if machine.alpha_ == 0:
            raise InputError("panel: `machine` must have `alpha` > 0: without a penalty no bound is known.")
        values = np.asarray(machine.predict(X), dtype=np.float64)
        penalty, loo_residuals = float(machine.alpha_) / len(targets), machine.loo_residuals()
    kernel, found = machine.kernel_, machine._expansion()
    if isinstance(kernel.domain, Similarities):
        diagonal = np.diagonal(np.asarray(X, dtype=np.float64)).copy()
    else:
        points = machine._validate_X(X, reset=False)
        diagonal = np.asarray(kernel._diagonal(kernel._prepare(points)), dtype=np.float64)
    a = found.coefficients[:, :1]
    return MachineFacts(
        name=type(machine).__name__,
        is_classifier=is_classifier(machine),
        values=values,
        targets=targets,
        norm=math.sqrt(max(float((a.T @ np.asarray(found.gram @ a)).item()), 0.0)),
        intercept=float(np.ravel(machine.intercept_)[0]) if getattr(machine, "fit_intercept", True) else None,
        diagonal=diagonal,
        radius=_radius(machine),
        penalty=penalty,
        support=support,
        loo_residuals=loo_residuals,
        broken=_broken(machine),
    )


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
