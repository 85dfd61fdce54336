r"""Support vector machines along C on the values of all points of a search.

The test points of a split stay in the problem (:mod:`mercer.solvers.svm.problem`), with bounds zero:

.. math:: \min_\beta \; \tfrac12 \beta^\top K \beta + q^\top \beta + \epsilon \|\beta\|_1
          \quad\text{subject to}\quad l_i \le \beta_i \le h_i, \qquad l_i = h_i = 0 \text{ at test points.}

Their variables are zero, so that this is the problem of the training points.  Its gradient
:math:`K \beta + q`, which the solver knows in double precision, has the values :math:`f(x_i)` at the test
points.  All splits share one matrix without copies of parts of it, and predictions cost nothing.

A start from the solution of another split was measured beside the one along C (5,000 rows of magic04, three
widths, two of 5 splits): over a path it takes no fewer iterations, and needs a product with K besides.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...domains import take
from ...engine.runs import checkpoint, running
from ...kernel import Kernel
from ...machines import SVC, SVR
from ...machines.labels import read_labels
from ...machines.svm.problems import classification
from ...solvers import BoxProblem, HeldMatrix
from ...solvers.svm.policy import DOUBLE_TOLERANCE, SMALL, exceeds_single
from .values import SharedValues

__all__ = ["KnownSVC", "KnownSVR", "along_penalties"]

Vector = NDArray[np.float64]
Rows = NDArray[np.intp]


class KnownSVC(SVC):
    """A machine for two classes whose decision values at all points of a search are known."""

    values_: Vector

    def _decisions(self, X: Any) -> Vector:
        return np.asarray(self.values_[X][:, None])


class KnownSVR(SVR):
    """A regression whose values at all points of a search are known."""

    values_: Vector

    def predict(self, X: Any) -> Vector:
        """Values at some positions."""
        return np.asarray(self.values_[X])


def along_penalties(
    machine: Any,
    values: SharedValues,
    train: Rows,
    y: Any,
    weight: Vector | None,
    penalties: list[float],
) -> list[KnownSVC | KnownSVR] | None:
    """Machines for increasing penalties, fitted to the training points.

    None if that needs more than K: several problems, or a matrix that is checked, repaired or factored.

    Parameters
    ----------
    machine : SVC or SVR
    values : SharedValues
    train : array of positions
    y, weight
        Of the training points.
    penalties : list of float
        Values of C.
    """
    if type(machine) is not SVR:  # one problem with bounds in proportion to C
        is_one = type(machine) is SVC and not machine.probability and len(np.unique(np.asarray(y))) == 2
        if not is_one:
            return None
    n, name = len(values), type(machine).__name__
    with running(name, machine.time_budget):
        limits = machine._limits()
        kernel: Kernel = machine._checked_kernel()
        if not kernel.is_resolved:
            rows = train if weight is None else train[weight > 0]
            own = None if weight is None else weight[weight > 0]
            kernel = kernel._resolve(take(values.points(kernel), rows), own)
        if not kernel.certificate.is_psd or kernel._embedding(values.prepared(kernel)) is not None:
            return None  # the machine would check, repair or factor the matrix
        problem, classes = _problem(machine, n, train, y, weight)
        K = values.matrix(kernel)
        single = n > SMALL and limits.tol >= DOUBLE_TOLERANCE
        if single and not exceeds_single(problem.scaled(max(penalties)), K.diagonal()):
            matrix = HeldMatrix(values.single(kernel), source=HeldMatrix(K))
        else:
            matrix = HeldMatrix(K)
        limits = limits._replace(progress=False, refine=n <= SMALL)
        solutions = limits.solve_path(problem, penalties, matrix)
    checkpoint()  # what was stopped is not scored
    models: list[KnownSVC | KnownSVR] = []
    for C, solution in zip(penalties, solutions, strict=True):
        model = (KnownSVC if classes is not None else KnownSVR)(**machine.get_params(deep=False))
        bias = solution.value.multipliers[0] if machine.fit_intercept else 0.0
        model.values_, model.C = solution.value.gradient - problem.linear + bias, C
        if classes is not None:
            model.classes_ = classes
        model._report([solution])
        models.append(model)
    return models


def _problem(
    machine: Any, n: int, train: Rows, y: Any, weight: Vector | None
) -> tuple[BoxProblem, NDArray[Any] | None]:
    """The problem for C = 1 with a variable for each point, and the classes."""
    high, linear = np.zeros(n), np.zeros(n)
    if isinstance(machine, SVC):
        classes, _, kept, codes, own = read_labels(machine, y, len(train), weight, machine.class_weight)
        rows = train[kept]
        signs = np.ones(n)
        signs[rows], high[rows] = np.where(codes == 1, 1.0, -1.0), 1.0 if own is None else own
        return classification(signs, high, machine.fit_intercept), classes
    targets = machine._one_target(y, len(train))
    machine._warn_if_coarse(float(np.ptp(targets)))
    linear[train], high[train] = -targets, 1.0 if weight is None else weight
    constraint: Any = "sum" if machine.fit_intercept else "free"
    return BoxProblem(linear, -high, high, float(machine.epsilon), constraint), None
