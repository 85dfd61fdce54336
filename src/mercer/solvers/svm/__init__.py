"""The quadratic problem in a box that is behind all support vector machines, and its solvers.

==================  ===================================================================================
``problem``         ``BoxProblem``: the problem, and how far a point is from solving it
``solve``           ``solve_box``, and ``solve_boxes`` for bounds that grow: the driver
``smo``             sequential minimal optimisation on working sets, as in LIBSVM (``native/svm``)
``active_set``      a primal-dual active set method on the free variables
``interior_point``  Mehrotra's predictor-corrector method, for K of low rank
``linear``          dual coordinate descent, for many known features (``native/svm``)
``policy``          which method when, in which precision: all tuning constants
``pairs``           ``PairSolver``: many small problems, each on the points of two classes
``outcome``         results as a ``Solution``
==================  ===================================================================================

SMO comes first, on rows of K in single precision where the tolerance allows it.  Where many more iterations
are to be expected, the active set method goes to the solution at once; where K has low rank, the interior
point method does.  Problems on many known features begin with coordinate descent.  The gradient, computed
anew in double precision, says whether the result has converged; if it has not, SMO goes on from there.  The
active set method ends small problems at rounding.
"""

from . import policy
from .outcome import BoxValue
from .pairs import Blocks, PairSolver
from .policy import iteration_limit
from .problem import BoxProblem, Optimality
from .solve import solve_box, solve_boxes

__all__ = [
    "Blocks",
    "BoxProblem",
    "BoxValue",
    "Optimality",
    "PairSolver",
    "iteration_limit",
    "policy",
    "solve_box",
    "solve_boxes",
]
