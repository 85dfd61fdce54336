r"""Pairwise ranking: a loss of the differences :math:`f(x_i) - f(x_j)` where point i ranks above point j.

==================  ======================================================================
``pairs``           ``Pairs``: which points rank above which; ``concordance`` of scores
``margins``         losses of one difference: hinge, squared hinge, logistic
``problem``         the problem, its linear systems and its duality gap
``newton``          Newton's method for the squared hinge and the logistic loss
``interior_point``  an interior-point method for the hinge loss
``solver``          ``solve_ranking``
==================  ======================================================================
"""

from .margins import MARGINS, MarginLoss
from .pairs import Pairs, concordance, ordered_pairs
from .problem import RankingProblem, RankingValue
from .solver import solve_ranking

__all__ = [
    "MARGINS",
    "MarginLoss",
    "Pairs",
    "RankingProblem",
    "RankingValue",
    "concordance",
    "ordered_pairs",
    "solve_ranking",
]
