"""Weights of many rank-one kernels.

=============  ========================================================================================
``problem``    ``MixtureProblem``: the weights and a machine that uses them, with bounds of the minimum
``barrier``    ``solve_mixture``: both at once, by an interior-point method
``steps``      the linear systems of its steps
``alignment``  ``solve_alignment``: weights by alignment with targets, without a machine
=============  ========================================================================================
"""

from .alignment import solve_alignment
from .barrier import solve_mixture
from .problem import LargeMargin, LeastSquares, MixtureProblem, MixtureValue

__all__ = [
    "LargeMargin",
    "LeastSquares",
    "MixtureProblem",
    "MixtureValue",
    "solve_alignment",
    "solve_mixture",
]
