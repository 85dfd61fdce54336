"""Learning guarantees as numbers: every bound is a pure function that returns a :class:`Bound`.

==============  ========================================================================================
``bound``       ``Bound``: the value, its addends, its assumptions, and whether it is vacuous
``rademacher``  empirical Rademacher complexity of a ball of the RKHS: estimate, upper and lower bound
``margin``      error of a classifier from its margins
``ball``        false alarms of an enclosing sphere in feature space
``perceptron``  mistakes of the perceptron on separable data
``fourier``     random Fourier features: their uniform error, and the number of frequencies for one
``sampled``     number of sampled features that approximate a Gram matrix
==============  ========================================================================================

Arguments are Gram matrices (dense or lazy), margins and plain numbers; kernels and data are not needed.
A bound that is true but says nothing is returned all the same, with ``vacuous=True`` and the reason.
"""

from __future__ import annotations

from mercer.guarantees.ball import enclosing_ball_bound, enclosing_ball_complexity
from mercer.guarantees.bound import Bound
from mercer.guarantees.fourier import (
    fourier_features_deviation,
    fourier_features_error_probability,
    fourier_features_needed,
)
from mercer.guarantees.margin import margin_bound, margin_loss
from mercer.guarantees.perceptron import kernel_perceptron_mistake_bound, perceptron_mistake_bound
from mercer.guarantees.rademacher import (
    ComplexityEstimate,
    rademacher_complexity,
    rademacher_lower,
    rademacher_upper,
    rademacher_upper_from_radius,
)
from mercer.guarantees.sampled import (
    sampled_kernel_deviation,
    sampled_kernel_error_probability,
    sampled_kernel_size,
)

__all__ = [
    "Bound",
    "ComplexityEstimate",
    "enclosing_ball_bound",
    "enclosing_ball_complexity",
    "fourier_features_deviation",
    "fourier_features_error_probability",
    "fourier_features_needed",
    "kernel_perceptron_mistake_bound",
    "margin_bound",
    "margin_loss",
    "perceptron_mistake_bound",
    "rademacher_complexity",
    "rademacher_lower",
    "rademacher_upper",
    "rademacher_upper_from_radius",
    "sampled_kernel_deviation",
    "sampled_kernel_error_probability",
    "sampled_kernel_size",
]
