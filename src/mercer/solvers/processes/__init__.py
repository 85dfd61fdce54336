"""Gaussian processes at finitely many points: exact solvers for structured covariance matrices.

===============  ======================================================================
``covariance``   ``Covariance``: what all of them offer; likelihood, leave-one-out
``dense``        ``DenseCovariance``: any matrix, by its Cholesky factor
``line``         ``LineCovariance``: Matern kernels and others on the line, by Kalman's filter
===============  ======================================================================
"""

from .covariance import Conditioned, Covariance, condition, loo_predictions
from .dense import DenseCovariance
from .line import LineComponent, LineCovariance, LineSlopes

__all__ = [
    "Conditioned",
    "Covariance",
    "DenseCovariance",
    "LineComponent",
    "LineCovariance",
    "LineSlopes",
    "condition",
    "loo_predictions",
]
