"""The three empirical kernel maps."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar, Literal, Self, TypeAlias, get_args

import numpy as np

from ..errors import DefinitenessError
from ..gram import PointGram, gram
from ..gram.spectrum import full_eigenpairs, rounding_level
from ..kernel import Kernel
from ..parameters import Checks, check_arguments, check_choice, check_number
from .fitted import FittedMap

__all__ = ["EmpiricalMap"]

Form: TypeAlias = Literal["phi", "psi", "omega"]


class EmpiricalMap(FittedMap):
    r"""Empirical kernel map: points described by their kernel values with a sample.

    With :math:`\Phi(x) = (k(x, x_1), \dots, k(x, x_n))` and the Gram matrix :math:`K` of the sample:

    ===========  ====================================  =====================================
    ``form``     features                              their Gram matrix on the sample
    ===========  ====================================  =====================================
    ``"phi"``    :math:`\Phi(x)`                       :math:`K^2`
    ``"psi"``    :math:`K^{+1/2} \Phi(x)`              :math:`K`
    ``"omega"``  :math:`K^+ \Phi(x)`                   :math:`K K^+`, the projection on the range of K
    ===========  ====================================  =====================================

    The pseudo-inverses take eigenvalues up to ``tol`` times the largest as zero.  ``"psi"`` and
    ``"omega"`` need a positive semidefinite Gram matrix; ``"phi"`` is defined for any symmetric function.
    Cost: one eigendecomposition of the n-by-n Gram matrix (none for ``"phi"``), then a block per transform.

    Parameters
    ----------
    kernel : Kernel
    form : {"phi", "psi", "omega"}, default="psi"
    tol : float, optional
        Relative cut-off of eigenvalues, >= 0; ``max(n, 16) eps`` by default.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel with its data-dependent parameters resolved.
    rank_ : int
        Number of eigenvalues that count (after ``fit``; n for ``"phi"``).
    cutoff_ : float
        The eigenvalue up to which all count as zero.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Gaussian
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> features = EmpiricalMap(Gaussian(1.0)).fit(X)
    >>> Z = features.transform(X)
    >>> bool(np.allclose(Z @ Z.T, Gaussian(1.0).block(X)))
    True
    """

    _checks: ClassVar[Checks] = {
        "form": partial(check_choice, options=get_args(Form)),
        "tol": partial(check_number, requirement="a nonnegative number", least=0.0, unless=(None,)),
    }

    def __init__(self, kernel: Kernel, form: Form = "psi", *, tol: float | None = None) -> None:
        self.kernel = kernel
        self.form = form
        self.tol = tol

    def fit(self, X: Any, y: Any = None) -> Self:
        """Take ``X`` as the sample; ``y`` is ignored."""
        check_arguments(self)
        K = gram(self.kernel, X)
        self.rank_, self.cutoff_ = K.shape[0], 0.0
        self._fitted(K, None if self.form == "phi" else self._inverse(K))
        return self

    def _inverse(self, K: PointGram) -> np.ndarray:
        """The pseudo-inverse of the Gram matrix, or of its root."""
        values, U = full_eigenpairs(K)
        n, largest = len(values), float(np.abs(values).max(initial=0.0))
        rounding = rounding_level(n, K._eps, largest)
        self.cutoff_ = rounding if self.tol is None else self.tol * largest
        if values.size and values[-1] < -max(self.cutoff_, rounding):
            raise DefinitenessError(
                f"EmpiricalMap: form={self.form!r} needs a positive semidefinite Gram matrix. "
                f"Its least eigenvalue is {values[-1]:.6g}. Use form='phi', or another kernel."
            )
        used = values > self.cutoff_
        power = -0.5 if self.form == "psi" else -1.0
        self.rank_ = int(used.sum())
        return np.asarray((U[:, used] * values[used] ** power) @ U[:, used].T)
