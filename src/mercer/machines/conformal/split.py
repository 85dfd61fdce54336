r"""Split conformal prediction: scores on points that the machine has not seen.

The score of a pair (x, y) says how badly y fits what the machine says at x.  Among n scores of points that
were left out, let q be the :math:`\lceil (1 - \alpha)(n + 1) \rceil`-th smallest; a new point, exchangeable
with these, has a score of at most q with probability at least :math:`1 - \alpha`.
"""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError, ParameterError

__all__ = ["label_scores", "lower_rank", "score_quantile", "upper_rank"]

Array: TypeAlias = NDArray[np.float64]


def lower_rank(alpha: float, n: int) -> int:
    r"""Return :math:`\lfloor \alpha (n + 1) \rfloor`; 0 if n points are too few for this alpha."""
    # relative rounding of alpha (n + 1), which is often meant to be a whole number
    return math.floor(alpha * (n + 1) * (1 + 1e-12))


def upper_rank(alpha: float, n: int) -> int:
    r"""Return :math:`\lceil (1 - \alpha)(n + 1) \rceil`; n + 1 if n points are too few for this alpha."""
    return n + 1 - lower_rank(alpha, n)


def score_quantile(scores: Array, alpha: float) -> float:
    """The score that a new one exceeds with probability alpha at most; infinite if the scores are too few."""
    rank = upper_rank(alpha, len(scores))
    return float(np.partition(scores, rank - 1)[rank - 1]) if rank <= len(scores) else math.inf


def label_scores(machine: Any, points: Any) -> Array:
    """Scores of all labels at some points, of shape (m, n_classes).

    One minus the probability of the label, or without probabilities the largest score of another label less
    that of the label itself.
    """
    count = len(machine.classes_)
    if hasattr(machine, "predict_proba"):
        return np.asarray(1.0 - machine.predict_proba(points), dtype=np.float64)
    if not hasattr(machine, "decision_function"):
        raise ParameterError(
            f"Conformal: `machine` must have predict_proba or decision_function for prediction sets. "
            f"Got {type(machine).__name__}."
        )
    values = np.asarray(machine.decision_function(points), dtype=np.float64)
    if count == 2 and values.ndim == 1:
        return np.column_stack([values, -values])
    is_by_pairs = getattr(machine, "decision_function_shape", "ovr") == "ovo"
    if is_by_pairs or values.ndim != 2 or values.shape[1] != count:
        raise InputError(
            "Conformal: the decision function of `machine` must have one score for each class. Got shape "
            f"{values.shape} for {count} classes. Set decision_function_shape='ovr'."
        )
    first, second = np.argsort(-values, axis=1, kind="stable")[:, :2].T
    rows = np.arange(len(values))
    others = np.repeat(values[rows, first][:, None], count, axis=1)  # the largest value of another label
    others[rows, first] = values[rows, second]
    return others - values
