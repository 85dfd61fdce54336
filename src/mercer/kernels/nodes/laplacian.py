"""Any nonnegative function of a graph Laplacian."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from ...arithmetic import Arithmetic
from ...certificate import Certificate
from ...errors import ParameterError
from ...graphs.operators import Kind
from ...kernel import parameter
from .spectral import SpectralKernel
from .transforms import Cutoff, Transform

__all__ = ["LaplacianKernel"]


class LaplacianKernel(SpectralKernel):
    r"""A function of the Laplacian of a graph (Smola and Kondor).

    .. math:: K = r(L) = \sum_i r(\lambda_i) u_i u_i' , \qquad L u_i = \lambda_i u_i

    Eigenvectors of small eigenvalue are smooth on the graph: :math:`u' L u` sums the squared differences
    along the edges.  Positive definite for :math:`r \ge 0` on the spectrum, strictly for r > 0.  What is
    negative on the spectrum of this graph is refused, with the bound; the tables of textbooks hold for the
    normalised Laplacian, whose eigenvalues are at most 2.  A function of your own is evaluated at every
    eigenvalue of a graph that is diagonalised; on a larger one nothing is known of it until you say
    ``.assume("PSD")``.

    ===========================  ========================================================
    transform                    :math:`r(\lambda)`
    ===========================  ========================================================
    ``Regularized(eps)``         :math:`1 / (\lambda + \epsilon)`
    ``Heat(t)``                  :math:`e^{-t\lambda}`
    ``OneStep(a)``               :math:`a - \lambda`, for a >= the largest eigenvalue
    ``Steps(a, p)``              :math:`(a - \lambda)^p`, likewise
    ``InverseCosine()``          :math:`\cos(\pi\lambda/4)`, for eigenvalues of at most 2
    ``Cutoff(c)``                1 up to c, else 0
    ``GraphMatern(nu, kappa)``   :math:`(2\nu/\kappa^2 + \lambda)^{-\nu}`
    ===========================  ========================================================

    Cost: O(n^3) once on a graph of n <= 2000 nodes; on a larger one a row takes some passes over the edges,
    the more the less smooth r is.  ``Cutoff`` diagonalises every graph.

    Parameters
    ----------
    graph : Graph, networkx graph, (n, edges), array or sparse matrix of weights
        Undirected, with weights >= 0.
    transform : Transform or callable
        A callable takes an array of eigenvalues and gives an array of values >= 0.  On graphs that are not
        diagonalised it is sampled for its expansion, and must be smooth.
    laplacian : {"normalized", "combinatorial"}, default="normalized"
        :math:`D^{-1/2} (D - B) D^{-1/2}`, or :math:`D - B`.
    tol : float, default=1e-12
        Largest error of ``K @ v`` relative to the largest eigenvalue of K and the length of v, on graphs that
        are not diagonalised.
    version : str, optional
        Names the code of a callable, for :meth:`~mercer.Kernel.digest`.

    Examples
    --------
    >>> from mercer.kernels import OneStep, Regularized
    >>> triangle = (3, [(0, 1), (1, 2), (0, 2)])
    >>> LaplacianKernel(triangle, Regularized(0.5)).block([0], [0, 1]).round(4)
    array([[1.   , 0.5]])
    >>> LaplacianKernel(triangle, OneStep(2.0), laplacian="combinatorial")
    Traceback (most recent call last):
        ...
    mercer.errors.ParameterError: LaplacianKernel: `transform` OneStep(a=2.0) is meant for eigenvalues of ...
    """

    transform: Any
    laplacian: str = parameter(default="normalized", choices=("combinatorial", "normalized"), kw_only=True)
    version: str | None = dataclasses.field(default=None, kw_only=True)

    @property
    def _kind(self) -> Kind:
        return "normalized" if self.laplacian == "normalized" else "laplacian"

    def _check(self) -> None:
        L, r = self.operator, self.transform
        if isinstance(r, Transform):
            self._check_reach(r)
        elif not callable(r) or isinstance(r, type):
            raise ParameterError(
                "LaplacianKernel: `transform` must be a function of an array of eigenvalues, or one of "
                f"Regularized, Heat, OneStep, Steps, InverseCosine, Cutoff, GraphMatern. Got {r!r}."
            )
        else:
            points = L.eigen[0] if L.is_small else np.array(L.interval)
            self._check_values(np.asarray(r(points)), points)

    def _check_reach(self, r: Transform) -> None:
        """Refuse a transform that would be cut off at 0 for an eigenvalue, by more than its rounding."""
        L = self.operator
        if r.reach >= L.interval[1] or r.reach >= L.largest - L.rounding:
            return
        what = "The largest of this Laplacian is" if L.is_small else "A bound of those of this Laplacian is"
        remedy = "" if self.laplacian == "normalized" else " Those of the normalised one are at most 2."
        raise ParameterError(
            f"LaplacianKernel: `transform` {r!r} is meant for eigenvalues of at most {r.reach:.6g}. "
            f"{what} {L.largest:.6g}.{remedy}"
        )

    def _check_values(self, values: np.ndarray, points: np.ndarray) -> None:
        if values.shape != points.shape or values.dtype.kind not in "biuf":
            raise ParameterError(
                "LaplacianKernel: `transform` must give a real number for each eigenvalue of an array. "
                f"Got shape {values.shape} of type {values.dtype} for shape {points.shape}."
            )
        wrong = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
        if self.operator.is_small and len(wrong):
            raise ParameterError(
                f"LaplacianKernel: `transform` must be >= 0 on the spectrum. It is {values[wrong[0]]:.6g} at "
                f"the eigenvalue {points[wrong[0]]:.6g}."
            )

    def _certify(self) -> Certificate:
        L = self.operator
        if isinstance(self.transform, Transform):
            return super()._certify()
        if not L.is_small:
            low, high = L.interval
            reason = (
                f"a user's function on a spectrum that is not computed: say .assume('PSD') if it is >= 0 on "
                f"all of [{low:g}, {high:.6g}]"
            )
            return Certificate.unknown(self, reason)
        moved = (np.clip(L.eigen[0] + step, *L.interval) for step in (-L.rounding, 0.0, L.rounding))
        if not all((np.asarray(self.transform(points)) >= 0).all() for points in moved):
            return Certificate.unknown(self, "a user's function, negative within rounding of an eigenvalue")
        return Certificate.psd(
            self,
            "spectral transform",
            "a user's function, >= 0 at every eigenvalue, and at both ends of its rounding",
            conditions=[f"it is >= 0 between those ends: within {L.rounding:.1g} of an eigenvalue"],
        )

    def _transform(self, x: Any, m: Arithmetic) -> Any:
        return self.transform.formula(x, m) if isinstance(self.transform, Transform) else self.transform(x)

    @property
    def is_precise(self) -> bool:
        return isinstance(self.transform, Transform)

    def _value(self, i: int, j: int, m: Arithmetic) -> Any:
        if self.is_precise:
            return super()._value(i, j, m)
        return m.real(self._block(np.array([i]), np.array([j]))[0, 0])

    @property
    def _is_small(self) -> bool:
        return self.operator.is_small or isinstance(self.transform, Cutoff)

    @property
    def _is_positive(self) -> bool:
        return bool(self.transform.is_positive)

    @property
    def _is_entrywise(self) -> bool:
        return isinstance(self.transform, Transform) and self.transform.is_entrywise
