r"""Exact Shapley values of machines whose kernel is a sum of products over coordinates.

A machine is a sum :math:`f(x) = \sum_i a_i k(x_i, x) + b`.  Take one product
:math:`k(x_i, x) = \prod_l k_l(x_{il}, x_l)`, a point x and a point z of the background, and write
:math:`u_l = k_l(x_{il}, x_l)`, :math:`w_l = k_l(x_{il}, z_l)`.  The coordinates in S from x and the others
from z give :math:`\prod_{l \in S} u_l \prod_{l \notin S} w_l`, a function of sets whose multilinear extension
is :math:`\prod_l (w_l + t_l (u_l - w_l))`.  By Owen (1972) the Shapley value of coordinate j is

.. math:: \phi_j = (u_j - w_j) \int_0^1 \prod_{l \ne j} (w_l + t (u_l - w_l)) \, dt ,

a polynomial of degree d - 1, which Gauss-Legendre quadrature with :math:`\lceil d/2 \rceil` nodes integrates
exactly.  Products without one factor come from the products before and after it: nothing is divided.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .. import memory
from ..domains import Data, Vectors, take
from ..engine.runs import checkpoint
from ..errors import InputError
from ..features.nystrom import LandmarkMap
from ..gram import PointGram
from .base import KernelMachine, len_of
from .explanation import Expansion
from .factors import Term, coordinates_of, terms_of

__all__ = ["ShapleyValues", "shapley"]

Array: TypeAlias = NDArray[np.float64]


class ShapleyValues(NamedTuple):
    """How much each coordinate moved each prediction away from the mean over the background.

    ``values.sum(axis=1) + base == predictions``, up to rounding.

    Attributes
    ----------
    values : array of shape (m, d) or (m, d, n_functions)
        One row for each point, one column for each coordinate.
    base : float or array of shape (n_functions,)
        Mean of the machine's function over the background.
    predictions : array of shape (m,) or (m, n_functions)
        The function at the points.
    names : tuple of str
        The coordinates in words.
    """

    values: Array
    base: Any
    predictions: Array
    names: tuple[str, ...]


def shapley(machine: Any, X: Any, *, background: Any) -> ShapleyValues:
    r"""Exact Shapley values of the predictions of a machine.

    The game of a point x: a coalition S of coordinates has the worth

    .. math:: v(S) = \frac{1}{|B|} \sum_{z \in B} f(x_S, z_{\bar S}) ,

    the mean of f over the background B where the coordinates in S are those of x (interventional values).
    Its Shapley values :math:`\phi_j` are the mean of :math:`v(S \cup j) - v(S)` over all orders of the
    coordinates, and :math:`\sum_j \phi_j = f(x) - \frac{1}{|B|} \sum_z f(z)`.  All
    :math:`2^d` coalitions are accounted for: the values are exact up to rounding.

    They say what this function does with its inputs, not what causes what; combinations of coordinates from x
    and z need not occur in nature.

    Cost: O(n m b d^2) for n training points with a coefficient, m rows and b background rows.

    Parameters
    ----------
    machine : fitted machine
        A regressor (its ``predict``) or a classifier (its function for two classes, or its functions of
        classes or pairs of classes): KernelRidge, GaussianProcessRegressor, SVC, SVR, NuSVC, NuSVR,
        OneClassSVM, KernelLogistic.  Its kernel is a sum of products over coordinates: Gaussian, Laplacian,
        Cauchy, Periodic, AllSubsets, Linear, Intersection, ``tensor``, ``direct_sum``, ``columns``, and sums,
        products, multiples and integer powers of them.  Others are refused.
    X : points
        The points to explain.
    background : points
        The points that absent coordinates are taken from, such as a sample of the training data.

    Returns
    -------
    ShapleyValues
        ``values``, ``base``, ``predictions`` and ``names``.

    References
    ----------
    Owen 1972 (multilinear extensions of games); Lundberg and Lee 2017 (values of predictions).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Gaussian
    >>> from mercer.machines import KernelRidge
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> model = KernelRidge(Gaussian(2.0), alpha=0.1).fit(X, X[:, 0] * X[:, 1])  # no third feature
    >>> found = shapley(model, X[:4], background=X)
    >>> bool(np.allclose(found.values.sum(axis=1) + found.base, model.predict(X[:4])))
    True
    >>> bool(np.abs(found.values[:, 2]).max() < 0.2 * np.abs(found.values).max())
    True
    """
    expansion = _expansion(machine)
    points = _validated(machine, X, "X")
    others = _validated(machine, background, "background")
    kernel, trained = expansion.gram.kernel, expansion.gram._X  # type: ignore[attr-defined]
    coordinates = coordinates_of(kernel, trained, "shapley")
    terms = terms_of(kernel, coordinates, "shapley")
    kept = np.flatnonzero(np.abs(expansion.coefficients).max(axis=1))
    trained, coefficients = take(trained, kept), expansion.coefficients[kept]
    values = np.zeros((len_of(points), len(coordinates), coefficients.shape[1]))
    for term in terms:
        columns = [coordinates.index(c) for c in term.coordinates]
        if columns:
            values[:, columns] += _term_values(term, trained, points, others, term.factor * coefficients)

    def at(data: Data) -> Array:
        cross = expansion.gram._cross(data)
        return np.asarray(cross @ expansion.coefficients + expansion.intercepts, dtype=np.float64)

    names: Any = getattr(machine, "feature_names_in_", None)
    if names is None or len(names) != len(coordinates):
        names = ["x" + str(c) if isinstance(c, int) else ", ".join(c) for c in coordinates]
    base, predictions = at(others).mean(axis=0), at(points)
    if values.shape[2] > 1:
        return ShapleyValues(values, base, predictions, tuple(map(str, names)))
    return ShapleyValues(values[..., 0], float(base[0]), predictions[:, 0], tuple(map(str, names)))


def _expansion(machine: Any) -> Expansion:
    """The functions of a fitted machine as sums over points."""
    if not isinstance(machine, KernelMachine) or not hasattr(machine, "_expansion"):
        raise InputError(
            "shapley: `machine` must be a machine whose function is a sum over training points: KernelRidge, "
            "GaussianProcessRegressor, SVC, NuSVC, SVR, NuSVR, OneClassSVM or KernelLogistic. "
            f"Got a {type(machine).__name__}."
        )
    machine._check_fitted()
    map = getattr(machine, "approximation_", None)
    if map is not None and not isinstance(map, LandmarkMap):
        raise InputError(
            f"shapley: `machine` must have no approximation by {type(map).__name__}: functions of its "
            "features are no sums over points. Nystrom and IncompleteCholesky are."
        )
    found: Expansion = machine._expansion()
    if not isinstance(found.gram, PointGram):
        raise InputError(
            "shapley: `machine` was trained on a repaired matrix, whose values are no longer those of the "
            "kernel. Train it with a kernel that is positive definite."
        )
    return found


def _validated(machine: Any, X: Any, name: str) -> Data:
    domain, width = machine.kernel_.domain, getattr(machine, "n_features_in_", None)
    if isinstance(domain, Vectors) and width is not None:
        shape = np.shape(X) if not hasattr(X, "shape") else tuple(X.shape)
        if len(shape) != 2 or shape[1] != width:
            raise InputError(
                f"shapley: `{name}` must be rows of {width} features, as the training points. Got shape "
                f"{shape}."
            )
    try:
        return machine._validate_X(X, reset=False)
    except InputError as error:
        raise InputError(f"shapley: `{name}` is not valid. {error}") from error


# -- one product ------------------------------------------------------------------------------
def _term_values(term: Term, trained: Data, points: Data, others: Data, coefficients: Array) -> Array:
    """Shapley values of one product, weighted by the coefficients of the training points: (m, d, c)."""
    coordinates, n = term.coordinates, len(coefficients)
    m, count = len_of(points), len_of(others)
    result = np.zeros((m, len(coordinates), coefficients.shape[1]))
    # bytes of factors of one band of training points
    step = max(1, (1 << 28) // (8 * len(coordinates) * (m + count)))
    memory.require(8 * len(coordinates) * (m + count) * min(step, n), "shapley: the factors of the kernel")
    for start in range(0, n, step):
        band = slice(start, min(start + step, n))
        some = take(trained, band)
        U = np.stack([term.value(c, some, points) for c in coordinates])  # (d, n, m)
        W = np.stack([term.value(c, some, others) for c in coordinates])  # (d, n, count)
        for row in range(m):
            checkpoint()
            result[row] += _row(U[:, :, row], W, coefficients[band]) / count
    return result


def _row(U: Array, W: Array, coefficients: Array) -> Array:
    """Sum of the values of one point over training points and background: shape (d, c)."""
    d, n, count = W.shape
    result = np.zeros((d, coefficients.shape[1]))
    # Gauss-Legendre quadrature on [0, 1], exact for polynomials of degree d - 1
    nodes, weights = np.polynomial.legendre.leggauss((d + 1) // 2)
    nodes, weights = (nodes + 1) / 2, weights / 2
    step = max(1, (1 << 16) // (d * len(nodes) * count))  # buffers of all nodes stay in a cache of 1 MiB
    for start in range(0, n, step):
        part = slice(start, min(start + step, n))
        difference = U[:, part, None] - W[:, part]
        rest = _products_without_one(W[:, part], difference, nodes, weights)
        result += np.einsum("dnb,dnb->dn", difference, rest) @ coefficients[part]
    return result


def _products_without_one(W: Array, difference: Array, nodes: Array, weights: Array) -> Array:
    """Integrals over t of the products of all ``W + t difference`` but one: shape (d, n, count)."""
    d = len(W)
    t = nodes[:, None, None]
    G = W[:, None] + t * difference[:, None]  # (d, nodes, n, count)
    after = np.empty_like(G)
    after[-1] = 1.0
    for j in range(d - 1, 0, -1):
        np.multiply(after[j], G[j], out=after[j - 1])
    result = np.empty_like(W)
    before = np.broadcast_to(weights[:, None, None], G.shape[1:]).copy()
    for j in range(d):
        np.einsum("tnb,tnb->nb", before, after[j], out=result[j])
        before *= G[j]
    return result
