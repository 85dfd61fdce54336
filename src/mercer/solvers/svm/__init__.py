"""The quadratic problem in a box that is behind all support vector machines.

=================  ===================================================================
``problem``        ``BoxProblem``: the problem, and how far a point is from solving it
``solve``          ``solve_box``: steps and, where these are too many, bounds that grow
``decomposition``  two-variable steps on working sets
``estimates``      how many steps there may be, and how long they and their alternatives take
``outcome``        how a run ended, and what is told of it
``rows``           rows of K for the steps, and how many are kept
``precision``      what may be in single precision
``active``         guessing the free variables, and guessing again
``bordered``       linear systems on one set of variables after the other
``cholesky``       their factors, in single precision
``polish``         the exact end: the optimality system of the free variables
``interior``       an interior point method, for K of a low rank
``low_rank``       when that pays
``path``           ``solve_boxes``: problems that differ in their bounds alone
``continuation``   how these are approached, one from where another has led
``pairs``          ``PairSolver``: many problems, each on the points of two classes
=================  ===================================================================
"""

from .low_rank import comes_first, patient_steps
from .outcome import BoxValue
from .pairs import Blocks, Cross, PairSolver
from .path import solve_boxes
from .precision import DOUBLE_TOLERANCE
from .problem import BoxProblem, Optimality
from .solve import solve_box

__all__ = [
    "DOUBLE_TOLERANCE",
    "Blocks",
    "BoxProblem",
    "BoxValue",
    "Cross",
    "Optimality",
    "PairSolver",
    "comes_first",
    "patient_steps",
    "solve_box",
    "solve_boxes",
]
