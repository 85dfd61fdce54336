r"""Processes on the line whose covariance matrix is semiseparable, in linear time.

Sums of Matern kernels of order 1/2, 3/2 and 5/2, Brownian motion, a constant and a linear trend are
covariances of solutions of linear stochastic differential equations.  Such a process has a state of a few
numbers, and observations at sorted times are filtered one after the other (Kalman); a recursion backward
(Bryson and Frazier) gives products with the inverse of the covariance matrix and its diagonal.
"""

from __future__ import annotations

from typing import ClassVar, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ... import _native
from ...engine.runs import checkpoint
from .covariance import Covariance

__all__ = ["LineComponent", "LineCovariance", "LineSlopes"]

Array: TypeAlias = NDArray[np.float64]
Kind: TypeAlias = Literal["matern12", "matern32", "matern52", "brownian", "constant", "linear"]

#: The numbers of kinds in the native core, and how many states each has.
CODES: dict[str, int] = {
    "matern12": 0,
    "matern32": 1,
    "matern52": 2,
    "brownian": 3,
    "constant": 4,
    "linear": 5,
}
#: Most states that the native core has code for.
MOST_STATES: int = _native.MOST_STATES

STATES = {"matern12": 1, "matern32": 2, "matern52": 3, "brownian": 1, "constant": 1, "linear": 1}


class LineComponent(NamedTuple):
    r"""A covariance on the line.

    With :math:`z = \mathrm{rate} \cdot |s - t|`, variance times :math:`e^{-z}` (``"matern12"``),
    :math:`(1 + z) e^{-z}` (``"matern32"``), :math:`(1 + z + z^2/3) e^{-z}` (``"matern52"``),
    :math:`\min(s, t)` (``"brownian"``, for s, t >= 0), 1 (``"constant"``), or :math:`s t` (``"linear"``).
    """

    kind: Kind
    variance: float
    rate: float = 0.0


class LineSlopes(NamedTuple):
    """The likelihood of targets Y and its derivatives, in p = 2 c + 1 parameters for c components.

    These are the logarithms of the variance and of the rate of each component, one component after the other,
    and a variance that is added to all noise.

    Attributes
    ----------
    products : array of shape (t, t)
        ``Y' M^-1 Y``.
    product_slopes : array of shape (p, t, t)
    determinant_slopes : array of shape (p,)
        Of ``log det M``.
    """

    products: Array
    product_slopes: Array
    determinant_slopes: Array


class LineCovariance(Covariance):
    """The covariance matrix of a sum of components at times, with noise: O(n) for everything.

    Parameters
    ----------
    components : sequence of LineComponent
        With at most 12 states together: one for each, two for ``"matern32"``, three for ``"matern52"``.
    times : array of shape (n,)
        In any order, equal ones included.
    noise : array of shape (n,)
        Variances of the noise.

    Raises ``LinAlgError`` if the matrix is not positive definite to working precision.

    Examples
    --------
    >>> import numpy as np
    >>> t = np.array([0.0, 2.0, 1.0])
    >>> M = LineCovariance([LineComponent("matern12", 1.0, 1.0)], t, np.full(3, 0.5))
    >>> dense = np.exp(-abs(t[:, None] - t)) + 0.5 * np.eye(3)
    >>> bool(np.isclose(M.log_determinant, np.linalg.slogdet(dense)[1]))
    True
    >>> bool(np.allclose(M.solve(np.eye(3)), np.linalg.inv(dense)))
    True
    """

    method: ClassVar[str] = "state space"

    def __init__(self, components: list[LineComponent], times: Array, noise: Array) -> None:
        self.components, self.size = tuple(components), len(times)
        self._order = np.argsort(times, kind="stable")
        self._times = np.ascontiguousarray(times[self._order], dtype=np.float64)
        self._noise = np.ascontiguousarray(noise[self._order], dtype=np.float64)
        states = sum(STATES[c.kind] for c in components)
        self._gains, self._variances = np.empty((self.size, states)), np.empty(self.size)
        done = _native.kalman_filter(*self._line, self._noise, self._gains, self._variances, checkpoint)
        if done < self.size:
            raise np.linalg.LinAlgError(f"the leading minor of order {done + 1} is not positive")
        self.log_determinant = float(np.log(self._variances).sum())

    @property
    def _line(self) -> tuple[NDArray[np.int64], Array, Array, Array]:
        """The components and the times, as the native core wants them."""
        kinds = np.array([CODES[c.kind] for c in self.components], dtype=np.int64)
        scales = np.array([c.variance for c in self.components], dtype=np.float64)
        rates = np.array([c.rate for c in self.components], dtype=np.float64)
        return kinds, scales, rates, self._times

    def _sorted(self, B: Array) -> Array:
        return np.ascontiguousarray(B[self._order], dtype=np.float64)

    def _restored(self, values: Array) -> Array:
        result = np.empty_like(values)
        result[self._order] = values
        return result

    def solve(self, B: Array) -> Array:
        """``M^-1 B``."""
        out = np.empty((self.size, B.shape[1]))
        _native.kalman_solve(*self._line, self._gains, self._variances, self._sorted(B), out, checkpoint)
        return self._restored(out)

    def quadratic(self, Y: Array) -> Array:
        """``Y' M^-1 Y``, by innovations: a third of the time of ``solve``."""
        V = np.empty((self.size, Y.shape[1]))
        _native.kalman_innovations(*self._line, self._gains, self._sorted(Y), V, checkpoint)
        return np.asarray(V.T @ (V / self._variances[:, None]))

    def inverse_diagonal(self) -> Array:
        """The diagonal of ``M^-1``."""
        out = np.empty(self.size)
        _native.kalman_diagonal(*self._line, self._gains, self._variances, out, checkpoint)
        return self._restored(out)

    def product(self, C: Array, at: Array) -> Array:
        """The matrix of covariances of times ``at`` with those observed, without the noise, times C."""
        order = np.argsort(at, kind="stable")
        out = np.empty((len(at), C.shape[1]))
        at = np.ascontiguousarray(at[order], dtype=np.float64)
        _native.kalman_product(*self._line, self._sorted(C), at, out, checkpoint)
        result = np.empty_like(out)
        result[order] = out
        return result

    def variances(self, at: Array) -> Array:
        """Variances of the process at times, given the observations."""
        order = np.argsort(at, kind="stable")
        out, result = np.empty(len(at)), np.empty(len(at))
        at = np.ascontiguousarray(at[order], dtype=np.float64)
        _native.kalman_variances(*self._line, self._gains, self._variances, at, out, checkpoint)
        result[order] = out
        return result

    def slopes(self, Y: Array) -> LineSlopes:
        """Derivatives for targets of shape (n, t)."""
        count, t = 2 * len(self.components) + 1, Y.shape[1]
        found = LineSlopes(np.empty((t, t)), np.empty((count, t, t)), np.empty(count))
        _native.kalman_slopes(*self._line, self._noise, self._sorted(Y), *found, checkpoint)
        return found
