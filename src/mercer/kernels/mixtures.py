"""Finite mixtures of characters: cosines of ``x - y`` (Bochner) and exponentials of ``x + y`` (Bernstein)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arithmetic import FLOAT, Arithmetic
from ..certificate import Certificate
from ..domains import NONNEGATIVE, Data, Domain, Vectors
from ..errors import ParameterError
from ..intervals import Interval
from ..kernel import Gradient
from ..parameters import parameter
from ..spectral_density import Discrete, no_density
from .scalar import Featured

__all__ = ["LaplaceMixture", "SpectralMixture"]


class _Mixture(Featured):
    """Kernels ``sum_j w_j <f_j(x), f_j(y)>`` with one or more features ``f_j`` for each row j of a matrix."""

    def _parts(self) -> tuple[str, np.ndarray, Any]:
        """Name of the matrix, the matrix, and the weights."""
        raise TypeError(f"{type(self).__name__} must define _parts")

    def _validate(self) -> None:
        name, rows, weights = self._parts()
        if rows.size == 0:
            raise ParameterError(f"{type(self).__name__}: `{name}` must have at least one row and column.")
        if isinstance(weights, np.ndarray) and len(weights) != len(rows):
            raise ParameterError(
                f"{type(self).__name__}: `weights` must have one entry per row of `{name}`, {len(rows)}. "
                f"Got {len(weights)}."
            )

    @property
    def _each(self) -> np.ndarray:
        """One weight per row."""
        _, rows, weights = self._parts()
        return np.broadcast_to(weights, len(rows))

    @property
    def _total(self) -> float:
        return float(FLOAT.fsum(self._each.tolist()))

    def _grouped(self, X: np.ndarray) -> np.ndarray:
        """Features as an array of shape (n, features per row, rows)."""
        rows = len(self._each)
        return X.reshape(len(X), X.shape[1] // rows, rows)

    def _gradient(self, X: np.ndarray, Y: np.ndarray | None) -> tuple[np.ndarray, Gradient]:
        K = self._block(X, Y)
        if not isinstance(self._parts()[2], np.ndarray):
            return K, {"weights": K.copy()}
        F = self._grouped(X)
        return K, {"weights": np.einsum("igj,kgj->ikj", F, F if Y is None else self._grouped(Y))}

    def _diagonal_gradient(self, X: np.ndarray) -> tuple[np.ndarray, Gradient]:
        d = self._diagonal(X)
        if not isinstance(self._parts()[2], np.ndarray):
            return d, {"weights": d.copy()}
        F = self._grouped(X)
        return d, {"weights": np.einsum("igj,igj->ij", F, F)}


class SpectralMixture(_Mixture):
    r"""Shift-invariant kernel with a discrete spectral measure.

    .. math:: k(x, y) = \sum_j w_j \cos \langle \omega_j, x - y \rangle

    Positive definite on :math:`\mathbb{R}^d` (Bochner) with two features per frequency; not strictly, for
    the number of features is finite.  Block cost: O(n m J), one matrix product.

    Parameters
    ----------
    frequencies : array of shape (J, d)
        The angular frequencies :math:`\omega_j`, one per row.
    weights : float or array of shape (J,), default=1.0
        The masses :math:`w_j \ge 0`; a number gives all the same.

    Examples
    --------
    >>> SpectralMixture([[1.0, 0.0], [0.0, 2.0]], weights=[0.5, 0.25])([3.0, 1.0], [3.0, 1.0])
    0.75
    """

    frequencies: Any = parameter(ndim=(2,))
    weights: Any = parameter(default=1.0, low=0.0, scale="log", ndim=(0, 1))

    def _parts(self) -> tuple[str, np.ndarray, Any]:
        return "frequencies", self.frequencies, self.weights

    @property
    def domain(self) -> Domain:
        return Vectors(dim=self.frequencies.shape[1])

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        differences = [a - b for a, b in zip(x, y, strict=True)]
        return m.fsum(
            m.real(w) * m.cos(m.fsum(m.real(o) * d for o, d in zip(omega, differences, strict=True)))
            for w, omega in zip(self._each.tolist(), self.frequencies.tolist(), strict=True)
        )

    def _features(self, X: Data) -> np.ndarray:
        # extended precision keeps the phases of points far from the origin
        phases = np.asarray(X.astype(np.longdouble) @ self.frequencies.T.astype(np.longdouble))
        root = np.sqrt(self._each)
        return np.hstack([root * np.cos(phases), root * np.sin(phases)]).astype(np.float64)

    def _diagonal(self, X: np.ndarray) -> np.ndarray:
        return np.full(len(X), self._total, dtype=X.dtype)

    def _certify(self) -> Certificate:
        return Certificate.psd(self, "Bochner", "the spectral measure has masses w_j >= 0 at +-omega_j")

    def _spectral_density(self) -> Discrete:
        if self._total == 0:
            raise no_density(self, "all weights are zero")
        return Discrete(self.frequencies, self._each, mass=self._total)

    @property
    def bounds(self) -> Interval:
        return Interval(-self.diagonal_bounds.high, self.diagonal_bounds.high)

    @property
    def diagonal_bounds(self) -> Interval:
        return Interval.about(self._total)


class LaplaceMixture(_Mixture):
    r"""Kernel of the sum of two nonnegative vectors with a discrete Laplace measure.

    .. math:: k(x, y) = \sum_j w_j \exp(-\langle r_j, x + y \rangle)

    Positive definite on the nonnegative orthant (Bernstein) with one feature per rate; not strictly.  Every
    bounded positive definite function of :math:`x + y` on the orthant is a limit of these.  Block cost:
    O(n m J), one matrix product.

    Parameters
    ----------
    rates : array of shape (J, d)
        The rates :math:`r_j`, one per row, entries >= 0.
    weights : float or array of shape (J,), default=1.0
        The masses :math:`w_j \ge 0`; a number gives all the same.

    Notes
    -----
    Some texts state Bernstein's theorem on all of :math:`\mathbb{R}^d`; it belongs to the orthant.

    Examples
    --------
    >>> LaplaceMixture([[1.0, 2.0]], weights=3.0)([0.0, 0.0], [0.0, 0.0])
    3.0
    """

    rates: Any = parameter(ndim=(2,), low=0.0)
    weights: Any = parameter(default=1.0, low=0.0, scale="log", ndim=(0, 1))

    def _parts(self) -> tuple[str, np.ndarray, Any]:
        return "rates", self.rates, self.weights

    @property
    def domain(self) -> Domain:
        return Vectors(dim=self.rates.shape[1], region=NONNEGATIVE)

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        sums = [a + b for a, b in zip(x, y, strict=True)]
        return m.fsum(
            m.real(w) * m.exp(-m.fsum(m.real(r) * s for r, s in zip(rate, sums, strict=True)))
            for w, rate in zip(self._each.tolist(), self.rates.tolist(), strict=True)
        )

    def _features(self, X: Data) -> np.ndarray:
        with np.errstate(over="ignore", under="ignore"):
            return np.asarray(np.sqrt(self._each) * np.exp(-np.asarray(X.astype(np.float64) @ self.rates.T)))

    def _certify(self) -> Certificate:
        return Certificate.psd(
            self, "Bernstein", "a Laplace transform with masses w_j >= 0 at r_j", conditions=["entries >= 0"]
        )

    @property
    def bounds(self) -> Interval:
        return Interval(0.0, Interval.about(self._total).high)

    @property
    def diagonal_bounds(self) -> Interval:
        return self.bounds
