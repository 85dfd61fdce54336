"""Any convex loss of the predictions, with any increasing function of the norm.

===============  ===========================================================================
``solver``       ``solve_representer``: by what suits the loss, with a bound on the gap
``generic``      a function of predictions and norm known by values and slopes alone
``ranking``      ``RankingLoss``: losses of the differences of pairs
``multipliers``  the same of predictions that must stay within intervals
``hard``         ``solve_constraints``: intervals alone
``feasibility``  whether there is any function within the intervals
``norms``        increasing functions of the norm
``path``         their minimisers, along the path of the squared norm
===============  ===========================================================================
"""

from .hard import solve_constraints
from .norms import Ball, NoPenalty, Penalty, Power, UserPenalty
from .ranking import RankingLoss
from .solver import BuiltIn, RepresenterValue, UserLoss, solve_representer, unit_of

__all__ = [
    "Ball",
    "BuiltIn",
    "NoPenalty",
    "Penalty",
    "Power",
    "RankingLoss",
    "RepresenterValue",
    "UserLoss",
    "UserPenalty",
    "solve_constraints",
    "solve_representer",
    "unit_of",
]
