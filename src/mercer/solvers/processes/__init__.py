"""Gaussian processes at finitely many points: exact solvers for structured covariance matrices.

===============  ======================================================================
``covariance``   ``Covariance``: what all of them offer; likelihood, leave-one-out
``dense``        ``DenseCovariance``: any matrix, by its Cholesky factor
``features``     ``FeatureCovariance``: finitely many features, by orthogonal factors
``kronecker``    ``KroneckerCovariance``: products over the coordinates of a grid
``line``         ``LineCovariance``: Matern kernels and others on the line, by Kalman's filter
``laplace``      ``LaplaceApproximation``: labels instead of values
===============  ======================================================================
"""

from .covariance import Conditioned, Covariance, condition, loo_predictions
from .dense import DenseCovariance
from .features import FeatureCovariance
from .kronecker import KroneckerCovariance
from .laplace import LaplaceApproximation, expected_logistic
from .line import LineComponent, LineCovariance, LineSlopes

__all__ = [
    "Conditioned",
    "Covariance",
    "DenseCovariance",
    "FeatureCovariance",
    "KroneckerCovariance",
    "LaplaceApproximation",
    "LineComponent",
    "LineCovariance",
    "LineSlopes",
    "condition",
    "expected_logistic",
    "loo_predictions",
]
