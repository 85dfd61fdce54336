"""How many mistakes the perceptron makes before it separates separable data."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from mercer.errors import DefinitenessError, InputError
from mercer.guarantees._validate import (
    GramLike,
    as_gram,
    as_vector,
    diagonal,
    machine_epsilon,
    nonnegative,
    positive,
)
from mercer.guarantees.bound import Bound

__all__ = ["kernel_perceptron_mistake_bound", "perceptron_mistake_bound"]


def perceptron_mistake_bound(radius: float, margin: float) -> Bound:
    r"""Bound the number of mistakes of the perceptron on separable data (Novikoff).

    .. math:: t \le (R / \rho)^2

    for features of norm at most R and a unit vector u with :math:`y_i \langle u, \Phi(x_i)\rangle \ge \rho`
    for all i.  It counts the updates over all passes together, in any order of the examples.  Cost: O(1).
    Source: Novikoff (1962).

    Parameters
    ----------
    radius : float
        R, nonnegative.
    margin : float
        rho, positive.

    Notes
    -----
    Each update adds at least rho to :math:`\langle u, w\rangle` and at most :math:`R^2` to :math:`\|w\|^2`
    (the cross term is not positive on a mistake).  After t updates from w = 0,
    :math:`t\rho \le \langle u, w\rangle \le \|w\| \le R\sqrt t`.

    Examples
    --------
    >>> from mercer.guarantees import perceptron_mistake_bound
    >>> float(perceptron_mistake_bound(radius=1.0, margin=0.25))
    16.0
    """
    caller = "perceptron_mistake_bound"
    R, rho = nonnegative(caller, "radius", radius), positive(caller, "margin", margin)
    ratio = R / rho
    return _mistakes(ratio * ratio, {"radius": R, "margin": rho}, "the ratio is too large for a float")


def kernel_perceptron_mistake_bound(K: GramLike | ArrayLike, y: ArrayLike, coef: ArrayLike) -> Bound:
    r"""Bound the mistakes of the kernel perceptron by the margin of a given separator.

    .. math::
        t \le \frac{\max_i K_{ii} \; c^\top K c}{\rho^2}, \qquad \rho = \min_i y_i (K c)_i

    This is :func:`perceptron_mistake_bound` for the separator :math:`u = \sum_j c_j \Phi(x_j)` after scaling
    it to unit norm.  Any separator serves; the hard-margin support vector machine gives the least value.  If
    the given one does not separate the sample, the value is infinite and the bound vacuous.  Cost: one
    product with K.

    Parameters
    ----------
    K : array or Gram operator of shape (m, m)
    y : array of shape (m,)
        Labels, -1 or 1.
    coef : array of shape (m,)
        c, with the sign of the label included (a dual solution alpha enters as ``alpha * y``).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.guarantees import kernel_perceptron_mistake_bound
    >>> X = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    >>> y = np.array([1, -1, -1, 1])
    >>> K = (X @ X.T + 1.0) ** 2                       # exclusive or: margin sqrt(2), K(x, x) = 9
    >>> round(float(kernel_perceptron_mistake_bound(K, y, y / 8)), 12)
    4.5
    """
    caller = "kernel_perceptron_mistake_bound"
    gram = as_gram(caller, K)
    labels, c = as_vector(caller, "y", y), as_vector(caller, "coef", coef)
    for name, vector in (("y", labels), ("coef", c)):
        if vector.size != gram.shape[0]:
            rows = f"one entry for each of the {gram.shape[0]} rows of `K`"
            raise InputError(f"`{caller}`: `{name}` must have {rows}. Got {vector.size}.")
    wrong = labels[np.abs(labels) != 1.0]
    if wrong.size:
        raise InputError(f"`{caller}`: `y` must hold labels -1 and 1. Got {wrong[0]:g}.")
    # Coefficients of size 1 keep c'Kc from over- and underflow; the bound does not depend on their scale.
    c = c / (np.abs(c).max() or 1.0)
    f = np.asarray(gram @ c[:, None], dtype=np.float64).reshape(-1)
    top, squared_norm = float(diagonal(caller, gram).max()), float(c @ f)
    least = float((labels * f).min())
    separates = least > 0.0
    # Cauchy-Schwarz: least^2 <= K_ii c'Kc, so a separator has a positive norm unless K is indefinite.
    if squared_norm < -8 * c.size * machine_epsilon(gram) * float(np.abs(c).sum()) ** 2 * top or (
        separates and squared_norm <= 0.0
    ):
        raise DefinitenessError(
            f"`{caller}`: `K` must be positive semidefinite. Got c'Kc = {squared_norm:.6g}."
        )
    margin = least / math.sqrt(squared_norm) if separates else 0.0
    ratio = math.sqrt(top) / margin if separates else math.inf
    inputs = {"radius": math.sqrt(top), "margin": margin, "n": c.size}
    reason = (
        "the ratio is too large for a float" if separates else "the coefficients do not separate the sample"
    )
    return _mistakes(ratio * ratio, inputs, reason)


def _mistakes(value: float, inputs: dict[str, float], reason: str) -> Bound:
    vacuous = math.isinf(value)
    return Bound(
        value=value,
        name="mistakes of the perceptron",
        formula="t <= (R / rho)^2",
        assumptions=(
            "some unit vector separates the data with margin at least rho, without a separate offset",
            "every feature vector has norm at most R",
            "the perceptron starts from zero and adds y Phi(x) on each mistake",
        ),
        holds_with_probability=None,
        vacuous=vacuous,
        terms={"mistakes": value},
        inputs=inputs,
        vacuous_because=reason if vacuous else "",
    )
