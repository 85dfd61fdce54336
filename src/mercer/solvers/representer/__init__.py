"""Any convex loss of the predictions, with any increasing function of the norm.

===========  ======================================================================
``solver``   ``solve_representer``: by what suits the loss, with a bound on the gap
``generic``  a loss known by values and slopes alone, with a squared norm
``norms``    other functions of the norm, along the path of the squared norm
===========  ======================================================================
"""

from .norms import Penalty, Power, UserPenalty
from .solver import BuiltIn, RepresenterValue, UserLoss, solve_representer

__all__ = ["BuiltIn", "Penalty", "Power", "RepresenterValue", "UserLoss", "UserPenalty", "solve_representer"]
