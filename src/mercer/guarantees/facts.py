"""What the panel asks a fitted machine for: numbers that bounds are made of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["MachineFacts"]


@dataclass(frozen=True, eq=False)
class MachineFacts:
    r"""Numbers about a fitted machine and its training sample.

    Parameters
    ----------
    name : str
        Class of the machine.
    is_classifier : bool
        Of two classes; otherwise a regression with squared loss.
    values : array of shape (m,)
        Margins ``y_i h(x_i)`` of a classifier, predictions of a regression.
    targets : array of shape (m,)
        Labels -1 and 1, or targets.
    norm : float
        RKHS norm of the function, without the intercept.
    intercept : float or None
        None if there is no free intercept.
    diagonal : array of shape (m,)
        ``k(x_i, x_i)``.
    radius : float or None
        r with k(x, x) <= r^2 for all x, if the kernel knows one.
    penalty : float or None
        Factor of the squared norm beside the mean loss; None if the machine minimises something else.
    support : array of int, optional
        Positions of the support vectors, if these alone determine the machine.
    loo_residuals : array of shape (m,), optional
        Errors of the models without one point, at that point.
    broken : tuple of str
        Assumptions of all bounds that this machine breaks.
    """

    name: str
    is_classifier: bool
    values: NDArray[np.float64]
    targets: NDArray[np.float64]
    norm: float
    intercept: float | None
    diagonal: NDArray[np.float64]
    radius: float | None
    penalty: float | None
    support: NDArray[np.intp] | None = None
    loo_residuals: NDArray[np.float64] | None = None
    broken: tuple[str, ...] = ()
