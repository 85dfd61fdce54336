"""Which criteria belong to which machines, and what they are on given data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from ...domains import Data, take
from ...errors import InputError, ParameterError
from ...gram.alignment import targets
from ...gram.point_gram import widened
from ...machines.arguments import PENALTY_RANGE, read_weight
from ...machines.base import KernelMachine, len_of
from ...machines.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from ...machines.indefinite import beside_intercept
from ...machines.labels import read_labels
from ...machines.logistic import KernelLogistic
from ...machines.ridge import KernelRidge
from ...machines.ridge.checks import check_parameters, signal_rule
from ...machines.svm import SVC
from ...machines.tuning import Hyperparameters, RidgeCriterion, Scales, scales_of
from ...machines.tuning.alignment import AlignmentCriterion
from ...machines.tuning.search import Objective
from .logistic import LogisticCriterion
from .support_vectors import MarginCriterion

__all__ = ["CRITERIA", "Problem", "check_criterion", "problem_of"]

#: The machines that each criterion is for.
CRITERIA: Mapping[str, tuple[type, ...]] = {
    "evidence": (KernelRidge, GaussianProcessRegressor, GaussianProcessClassifier),
    "loo": (KernelRidge, KernelLogistic),
    "radius_margin": (SVC,),
    "span": (SVC,),
    "alignment": (KernelMachine,),
}


class Problem(NamedTuple):
    """What to maximise, from where, what it is a function of, and what is usual for its parameters."""

    objective: Objective
    start: Hyperparameters
    points: Data
    scales: Callable[[Hyperparameters], Scales]


def check_criterion(machine: Any, criterion: Any) -> None:
    """Raise unless the criterion is one of this machine."""
    if criterion not in CRITERIA:
        raise ParameterError(
            f"tune: `criterion` must be one of {', '.join(map(repr, CRITERIA))}. Got {criterion!r}."
        )
    name = type(machine).__name__
    if not isinstance(machine, KernelMachine) or not hasattr(machine, "kernel"):
        raise ParameterError(f"tune: `machine` must be a machine with a kernel. Got a {name}.")
    if not isinstance(machine, CRITERIA[criterion]):
        owners = ", ".join(owner.__name__ for owner in CRITERIA[criterion])
        fitting = [repr(key) for key, kinds in CRITERIA.items() if isinstance(machine, kinds)]
        raise ParameterError(
            f"tune: criterion={criterion!r} is for {owners}. Got a {name}, which has {', '.join(fitting)}."
        )
    if getattr(machine, "approximation", None) is not None:
        raise ParameterError(
            "tune: `machine` must have no `approximation`: criteria are of its kernel. Tune without it, "
            f"on some of the points if they are many, and set the kernel. Got {machine.approximation!r}."
        )


def problem_of(machine: Any, criterion: str, X: Any, y: Any, sample_weight: Any) -> Problem:
    """The criterion on these data; the machine itself stays as it is."""
    model = clone(machine)
    if criterion == "alignment":
        return _alignment(model, X, y, sample_weight)
    if isinstance(model, GaussianProcessRegressor | GaussianProcessClassifier):
        return _process(model, X, y, sample_weight)
    if isinstance(model, KernelRidge):
        return _ridge(model, criterion, X, y, sample_weight)
    if isinstance(model, SVC):
        return _support_vectors(model, criterion, X, y, sample_weight)
    return _logistic(model, X, y, sample_weight)


def _alignment(model: Any, X: Any, y: Any, sample_weight: Any) -> Problem:
    _refuse_weight(sample_weight, "criterion='alignment'")
    points = model._validate_X(X, reset=True)
    Y = targets(y, len_of(points), "tune")
    kernel = model._checked_kernel().resolve(points)
    points = widened(points)
    start = Hyperparameters(kernel, 1.0, None)
    return Problem(AlignmentCriterion(points, Y), start, points, partial(scales_of, points=points))


def _process(model: Any, X: Any, y: Any, sample_weight: Any) -> Problem:
    _refuse_weight(sample_weight, type(model).__name__)
    model.set_params(tune="evidence")._prepare(X, y)
    observed = model._observed
    start = Hyperparameters(model.kernel_, 1.0, None)
    return Problem(observed.evidence, start, observed.points, observed.scales)


def _ridge(model: KernelRidge, criterion: str, X: Any, y: Any, sample_weight: Any) -> Problem:
    check_parameters(model.set_params(tune=criterion))
    points, Y, weight = model._validated(X, y, sample_weight, reset=True)
    kernel = model._checked_kernel().resolve(points, weight)
    if model.fit_intercept:
        kernel = beside_intercept(kernel, points)
    points, Y = widened(points), Y.reshape(len(Y), -1)
    objective = RidgeCriterion(points, Y, weight, bool(model.fit_intercept), signal_rule(model, Y), criterion)
    return Problem(objective, Hyperparameters(kernel, float(model.alpha)), points, objective.scales)


def _support_vectors(model: SVC, criterion: str, X: Any, y: Any, sample_weight: Any) -> Problem:
    training, codes = model._prepare(X, y, sample_weight)
    _require_two(model)
    C = float(model.C)
    start = Hyperparameters(model.kernel_, C, None if np.isinf(C) else "C")
    signs, points = np.where(codes == 1, 1.0, -1.0), widened(training.points)
    weight, intercept = training.weight, bool(model.fit_intercept)
    objective = MarginCriterion(points, signs, weight, intercept, criterion)
    scales = partial(scales_of, points=points, intercept=intercept, weight=weight)
    return Problem(objective, start, points, scales)


def _logistic(model: KernelLogistic, X: Any, y: Any, sample_weight: Any) -> Problem:
    if isinstance(model.alpha, str) or model.l1 or not PENALTY_RANGE[0] <= model.alpha <= PENALTY_RANGE[1]:
        raise ParameterError(
            "tune: criterion='loo' needs a number `alpha` > 0 to start from and l1=0. "
            f"Got alpha={model.alpha!r} and l1={model.l1!r}."
        )
    model._check_parameters()
    points = model._validate_X(X, reset=True)
    weight = read_weight(type(model).__name__, sample_weight, len_of(points))
    model.classes_, _, kept, codes, own = read_labels(model, y, len_of(points), weight, model.class_weight)
    _require_two(model)
    if len(kept) < len_of(points):
        points, weight = take(points, kept), None if weight is None else weight[kept]
    kernel = model._checked_kernel().resolve(points, weight)
    if model.fit_intercept:
        kernel = beside_intercept(kernel, points)
    signs, points = np.where(codes == 1, 1.0, -1.0), widened(points)
    own = np.ones(len(kept)) if own is None else own
    intercept = bool(model.fit_intercept)
    objective = LogisticCriterion(points, signs, own, intercept)
    scales = partial(scales_of, points=points, intercept=intercept, weight=own)
    return Problem(objective, Hyperparameters(kernel, float(model.alpha)), points, scales)


def _require_two(model: Any) -> None:
    if len(model.classes_) != 2:
        raise InputError(
            f"tune: `y` must hold two classes for this criterion. Got {len(model.classes_)}. "
            "criterion='alignment' takes any number, and KernelSearchCV any machine."
        )


def _refuse_weight(sample_weight: Any, owner: str) -> None:
    if sample_weight is not None:
        raise ParameterError(f"tune: {owner} takes no `sample_weight`. Leave it out.")
