"""Least squares with a squared norm.

===============  ======================================================================
``solver``       ``solve_ridge``: kernel ridge regression, by a factor or by iteration
``system``       its linear system, with weights and intercept
``inverses``     factors and preconditioners
``iterative``    the system by conjugate gradients
``blocks``       the system by blocks of unknowns, for a time budget
``restricted``   ``solve_restricted``: on the features of a map, a band of rows at a time
``equations``    ``NormalEquations``: those of features, added up a batch of rows at a time
``reduction``    a symmetric matrix turned into a band
``path``         ``ridge_path``: leave-one-out errors for many penalties
``spline``       ``fit_spline``: cubic smoothing splines in linear time
``unpenalized``  ``UnpenalizedRidge``: conditionally positive definite kernels, some functions free
``warping``      ``solve_smooth_ridge``: norms with a penalty on values at given points
===============  ======================================================================
"""

from .equations import NormalEquations
from .path import RidgePath, loo_residuals, ridge_path
from .restricted import FeatureRows, RestrictedValue, solve_normal, solve_restricted
from .solver import SOLVERS, RidgeValue, solve_ridge
from .spline import SplineErrors, SplineFit, fit_spline, spline_errors
from .system import RidgeSystem, WeightedMatrix
from .unpenalized import UnpenalizedRidge
from .warping import Warp, solve_smooth_ridge, warp

__all__ = [
    "SOLVERS",
    "FeatureRows",
    "NormalEquations",
    "RestrictedValue",
    "RidgePath",
    "RidgeSystem",
    "RidgeValue",
    "SplineErrors",
    "SplineFit",
    "UnpenalizedRidge",
    "Warp",
    "WeightedMatrix",
    "fit_spline",
    "loo_residuals",
    "ridge_path",
    "solve_normal",
    "solve_restricted",
    "solve_ridge",
    "solve_smooth_ridge",
    "spline_errors",
    "warp",
]
