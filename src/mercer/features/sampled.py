"""Randomised kernels: features drawn from a family, whose products have the kernel as their mean."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
import scipy.sparse
from sklearn.utils.validation import check_is_fitted

from .. import memory
from ..domains import Data, size
from ..errors import InputError, ParameterError, brief
from ..guarantees import Bound, sampled_kernel_deviation, sampled_kernel_size
from ..guarantees._validate import generator, positive
from ..kernel import Kernel
from ..kernels.fingerprints import MinMax, Tanimoto
from ..parameters import check_arguments
from .base import KernelMap
from .random import DEFAULT_COMPONENTS, MOST_COMPONENTS, not_empty, same_width

__all__ = ["FeatureFamily", "Sampled", "WeightedMinHash"]


class FeatureFamily(ABC):
    r"""A distribution of bounded features, the mean of whose products is a kernel.

    .. math:: k(x, y) = E_i\, \phi_i(x) \phi_i(y), \qquad |\phi_i(x)| \le c

    Subclasses define ``bound``, the number c, and ``draw``.
    """

    bound: float = 1.0

    @abstractmethod
    def draw(self, n: int, X: Data, rng: np.random.Generator) -> Any:
        """A function from validated points to an array of shape (points, n): n features drawn at random.

        ``X`` are the training points, for their shape.  The function should be one that can be pickled.
        """


class Sampled(KernelMap):
    r"""Random features of a kernel that is the mean of products of bounded features.

    .. math:: k(x, y) = E_i\, \phi_i(x) \phi_i(y) \approx \frac1N \sum_{i=1}^N \phi_i(x)\, \phi_i(y)

    on any objects.  With probability :math:`1 - \delta` all entries of the Gram matrix of n points are within

    .. math:: \epsilon = c^2 \sqrt{\frac{2}{N} \log \frac{n (n + 1)}{\delta}}

    if all :math:`|\phi_i(x)| \le c` (Hoeffding).  Shawe-Taylor and Cristianini (2004), computation 9.46, and
    Mohri et al. (2018), exercise 6.13, print :math:`c^2` for :math:`c^4` in the number N that follows.

    ``Tanimoto`` and ``MinMax`` have families of their own, :class:`WeightedMinHash`.

    Parameters
    ----------
    kernel : Kernel
        What is approximated.
    n_components : int, optional
        Number N of features; 100 by default, or what ``eps`` asks for.
    family : FeatureFamily, optional
        The features; needed for all kernels but the two above.
    eps : float, optional
        Error that the number of features is chosen for, on the training points.
    delta : float, default=0.05
        Probability that the error is larger, in (0, 1).
    random_state : int, Generator, RandomState or None, default=0

    Examples
    --------
    The minimum of two numbers from [0, 1] is the probability that a uniform one is below both:

    >>> import numpy as np
    >>> from mercer.kernels import MinMax, Min
    >>> class Steps(FeatureFamily):
    ...     def draw(self, n, X, rng):
    ...         u = rng.uniform(size=n)
    ...         return lambda X: (u < X).astype(float)
    >>> X = np.array([[0.2], [0.5], [0.9]])
    >>> features = Sampled(Min(), family=Steps(), eps=0.1).fit(X)
    >>> Z = features.transform(X)
    >>> features.dim, bool(np.abs(Z @ Z.T - Min().block(X)).max() < 0.1)
    (1097, True)
    >>> Sampled(MinMax(), 64).fit_transform([[2, 1, 0], [1, 1, 2]]).shape
    (2, 64)
    """

    def __init__(
        self,
        kernel: Kernel,
        n_components: int | None = None,
        *,
        family: FeatureFamily | None = None,
        eps: float | None = None,
        delta: float = 0.05,
        random_state: Any = 0,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.family = family
        self.eps = eps
        self.delta = delta
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw the features; ``y`` is ignored."""
        check_arguments(self)
        family: Any = self.family
        if family is None and isinstance(self.kernel, MinMax | Tanimoto):
            family = WeightedMinHash()
        if not isinstance(family, FeatureFamily):
            raise ParameterError(
                f"Sampled: `family` must be a FeatureFamily for {self.kernel!r}. Got {brief(family)}. "
                "RandomFourier and Nystrom need none."
            )
        bound = positive("Sampled", "family.bound", family.bound)
        X = self.kernel.domain.validate(X, "X")
        not_empty("Sampled", X)
        self.n_samples_fit_ = size(X)
        self.n_components_ = self._number(bound)
        self.kernel_, self._bound = self.kernel.resolve(X), bound
        if hasattr(X, "shape"):
            self.n_features_in_ = int(X.shape[1])
        self._features_drawn = family.draw(self.n_components_, X, generator("Sampled", self.random_state))
        return self

    def _number(self, bound: float) -> int:
        if self.eps is not None and self.n_components is not None:
            raise ParameterError(
                "Sampled: `n_components` must be None where `eps` is given, which says how many there are. "
                f"Got {self.n_components!r}."
            )
        if self.eps is not None:
            eps = positive("Sampled", "eps", self.eps)
            number = int(sampled_kernel_size(bound, eps, self.delta, self.n_samples_fit_))
        elif self.n_components is None:
            number = DEFAULT_COMPONENTS
        else:
            number = int(self.n_components)
        if number > MOST_COMPONENTS:
            raise ParameterError(
                f"Sampled: `n_components` must be at most {MOST_COMPONENTS}. Got {number}. A larger `eps` "
                "asks for fewer."
            )
        return number

    def transform(self, X: Any) -> np.ndarray:
        """Return the features of ``X``, of shape (n, dim)."""
        check_is_fitted(self, "n_components_")
        X = self.kernel_.domain.validate(X, "X")
        same_width(self, X)
        n, N = size(X), self.dim
        memory.require(16 * n * N, f"Sampled.transform: {N} features of {n} points")
        values = np.asarray(self._features_drawn(X), dtype=np.float64)
        if values.shape != (n, N) or not (np.abs(values) <= self._bound * (1 + 1e-12)).all():
            raise InputError(
                f"Sampled: `family` must give {N} numbers of size up to {self._bound:.6g} for each point. "
                f"Got shape {values.shape} and sizes up to {np.abs(values).max(initial=0.0):.6g}."
            )
        return np.asarray(values / np.sqrt(N))

    @property
    def dim(self) -> int:
        """Number of features."""
        check_is_fitted(self, "n_components_")
        return self.n_components_

    def error_bound(self, delta: float | None = None, n: int | None = None) -> Bound:
        """Bound on the error of a Gram matrix, with probability 1 - delta over the draws.

        Parameters
        ----------
        delta : float, optional
            As given to the map by default.
        n : int, optional
            Number of points; those of ``fit`` by default.
        """
        check_is_fitted(self, "n_components_")
        points = self.n_samples_fit_ if n is None else n
        delta = self.delta if delta is None else delta
        return sampled_kernel_deviation(self.dim, bound=self._bound, delta=delta, n=points)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = isinstance(self.kernel, MinMax | Tanimoto)
        return tags


class WeightedMinHash(FeatureFamily):
    r"""Signs of consistent weighted samples, for ``MinMax`` and ``Tanimoto``.

    A consistent weighted sample of a vector of numbers >= 0 is a coordinate and a number; those of x and y
    are equal with probability :math:`\sum_i \min(x_i, y_i) / \sum_i \max(x_i, y_i)`.  A feature is a random
    sign of the sample, so that c = 1, and equal points have inner product 1.  On zeros and ones it is
    min-wise hashing.  Cost: O(1) per feature and entry that is not zero.

    References
    ----------
    Ioffe, Improved consistent sampling, weighted minhash and L1 sketching (2010).
    """

    bound = 1.0

    def draw(self, n: int, X: Data, rng: np.random.Generator) -> _Signs:
        return _Signs(n, rng.integers(0, 2**63, 2, dtype=np.uint64))


class _Signs:
    """Signs of n consistent weighted samples; their random numbers are hashes of seeds and columns."""

    def __init__(self, n: int, seeds: np.ndarray) -> None:
        self.n, self.seeds = n, seeds

    def __call__(self, X: Data) -> np.ndarray:
        rows = scipy.sparse.csr_array(X)
        rows.eliminate_zeros()
        filled = np.flatnonzero(np.diff(rows.indptr))
        starts, logs = rows.indptr[filled], np.log(rows.data.astype(np.float64))
        used, places = np.unique(rows.indices, return_inverse=True)
        out = np.empty((rows.shape[0], self.n))
        for i in range(self.n):
            u = _uniform(self.seeds[0] + np.uint64(i), used)
            r, c, beta = -np.log(u[0] * u[1]), -np.log(u[2] * u[3]), u[4]
            steps = np.floor(logs / r[places] + beta[places])
            cost = np.log(c)[places] - r[places] * (steps - beta[places] + 1)
            best = _argmin_of_rows(cost, starts)
            column, step = np.full(rows.shape[0], -1), np.zeros(rows.shape[0], dtype=np.int64)
            column[filled], step[filled] = rows.indices[best], steps[best]
            codes = _mixed(column.view(np.uint64)) ^ step.view(np.uint64)
            out[:, i] = 1.0 - 2.0 * (_mixed(codes ^ _mixed(self.seeds[1:] + np.uint64(i))) >> np.uint64(63))
        return out


def _argmin_of_rows(values: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Index of the least value of each row of entries; rows begin at ``starts`` and have one at least."""
    least = np.minimum.reduceat(values, starts)
    row = np.zeros(len(values), dtype=np.int64)
    row[starts[1:]] = 1
    hits = np.flatnonzero(values == least[np.cumsum(row)])
    owner = np.cumsum(row)[hits]
    return np.asarray(hits[np.searchsorted(owner, np.arange(len(starts)))])


def _mixed(x: np.ndarray) -> np.ndarray:
    """A bijection of 64-bit integers that looks random (the finaliser of splitmix64)."""
    with np.errstate(over="ignore"):
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(x ^ (x >> np.uint64(31)))


def _uniform(seed: Any, columns: np.ndarray) -> np.ndarray:
    """Five uniform numbers in (0, 1) for each column, of shape (5, columns)."""
    with np.errstate(over="ignore"):
        base = _mixed(columns.astype(np.uint64) * np.uint64(5) + _mixed(np.atleast_1d(np.uint64(seed))))
        words = _mixed(base + np.arange(5, dtype=np.uint64)[:, None] * np.uint64(0x9E3779B97F4A7C15))
    return ((words >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53
