"""Learning guarantees as numbers: every bound is a pure function that returns a :class:`Bound`.

=================  ======================================================================================
``bound``          ``Bound``: the value, its addends, its assumptions, and whether it is vacuous
``binomial``       relative entropies of two coins, and tails of counts of errors
``rademacher``     empirical Rademacher complexity of a ball of the RKHS: estimate, upper and lower bound
``margin``         error of a classifier from its margins
``pac_bayes``      error of a classifier from its angles to the points
``compression``    error of a machine that its support vectors determine; leave-one-out
``leave_one_out``  leave-one-out errors of support vector machines, by radius and margin, by spans
``stability``      risk of a machine that changes little with one training point
``regression``     squared error of ridge regression
``panel``          ``panel(machine, X, y)``: all of these beside the cross-validated error
``facts``          what the panel asks a machine for
``ball``           false alarms of an enclosing sphere in feature space
``perceptron``     mistakes of the perceptron on separable data
``fourier``        random Fourier features: their uniform error, and the number of frequencies for one
``sampled``        number of sampled features that approximate a Gram matrix
=================  ======================================================================================

Arguments are Gram matrices (dense or lazy), margins and plain numbers; kernels and data are not needed.
A bound that is true but says nothing is returned all the same, with ``vacuous=True`` and the reason.
"""

from __future__ import annotations

from mercer.guarantees.ball import enclosing_ball_bound, enclosing_ball_complexity
from mercer.guarantees.bound import Bound
from mercer.guarantees.compression import compression_bound, support_vector_bound
from mercer.guarantees.fourier import (
    fourier_features_deviation,
    fourier_features_error_probability,
    fourier_features_needed,
)
from mercer.guarantees.leave_one_out import radius_margin_bound, span_bound
from mercer.guarantees.margin import margin_bound, margin_loss
from mercer.guarantees.pac_bayes import pac_bayes_bound
from mercer.guarantees.panel import BoundsPanel, PanelRow, panel
from mercer.guarantees.perceptron import kernel_perceptron_mistake_bound, perceptron_mistake_bound
from mercer.guarantees.rademacher import (
    ComplexityEstimate,
    rademacher_complexity,
    rademacher_lower,
    rademacher_upper,
    rademacher_upper_from_radius,
)
from mercer.guarantees.regression import ridge_bound
from mercer.guarantees.sampled import (
    sampled_kernel_deviation,
    sampled_kernel_error_probability,
    sampled_kernel_size,
)
from mercer.guarantees.stability import kernel_stability, stability_bound

__all__ = [
    "Bound",
    "BoundsPanel",
    "ComplexityEstimate",
    "PanelRow",
    "compression_bound",
    "enclosing_ball_bound",
    "enclosing_ball_complexity",
    "fourier_features_deviation",
    "fourier_features_error_probability",
    "fourier_features_needed",
    "kernel_perceptron_mistake_bound",
    "kernel_stability",
    "margin_bound",
    "margin_loss",
    "pac_bayes_bound",
    "panel",
    "perceptron_mistake_bound",
    "rademacher_complexity",
    "rademacher_lower",
    "rademacher_upper",
    "rademacher_upper_from_radius",
    "radius_margin_bound",
    "ridge_bound",
    "sampled_kernel_deviation",
    "sampled_kernel_error_probability",
    "sampled_kernel_size",
    "span_bound",
    "stability_bound",
    "support_vector_bound",
]
