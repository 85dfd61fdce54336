"""Support vector machines, on one solver.

=====================  ==================================================================
``base``               parameters, limits, training data, support vectors
``problems``           the dual problem of each machine, as a ``BoxProblem``
``starts``             feasible starting points
``classification``     ``SVC``
``nu_classification``  ``NuSVC``
``classifier``         their base: labels, weights, decisions
``multiclass``         several two-class problems on one Gram matrix
``pairwise``           coefficients and votes of pairs of classes
``calibration``        decision values of points left out
``folds``              which points are left out
``probability``        from decision values to probabilities
``regression``         ``SVR``, ``NuSVR``
``oneclass``           ``OneClassSVM``
``enclosing_ball``     ``EnclosingBall``
``compression``        fewer support vectors
``leave_one_out``      bounds of the leave-one-out error
=====================  ==================================================================
"""

from .classification import SVC
from .enclosing_ball import EnclosingBall
from .leave_one_out import LeaveOneOutBounds
from .nu_classification import NuSVC
from .oneclass import OneClassSVM
from .regression import SVR, NuSVR

__all__ = ["SVC", "SVR", "EnclosingBall", "LeaveOneOutBounds", "NuSVC", "NuSVR", "OneClassSVM"]
