"""The matrices of several kernels on a common scale; kernels that the data cannot distinguish."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError, warn
from ...gram import Gram
from ...solvers import KernelFamily, LazyMatrix

__all__ = ["SCALES", "Matrices", "UnidentifiedWeightsWarning", "matrices_of"]

Vector: TypeAlias = NDArray[np.float64]

SCALES = ("trace", "variance", None)


class UnidentifiedWeightsWarning(UserWarning):
    """The data cannot say what the weights of some kernels are."""


class Matrices(NamedTuple):
    """Matrices that are neither zero nor equal to one before them.

    Attributes
    ----------
    family : KernelFamily
        Of the matrices, each divided by its scale.
    scales : array of shape (m,)
        Of all kernels; 1 for those that are zero.
    groups : array of shape (m,)
        Which matrix of the family each kernel has, -1 for zero.
    """

    family: KernelFamily
    scales: Vector
    groups: NDArray[np.intp]

    def spread(self, weights: Vector) -> Vector:
        """Weights of all kernels from those of the matrices: equal kernels share, zero has none."""
        members = self.groups >= 0
        each = weights / np.bincount(self.groups[members], minlength=len(weights))
        result = np.zeros(len(self.groups))
        result[members] = each[self.groups[members]]
        return result


def matrices_of(
    grams: Sequence[Gram],
    names: Sequence[str],
    weight: Vector,
    scale: str | None,
    caller: str,
    *,
    merge: bool,
    drop: bool = True,
) -> Matrices:
    """Matrices on a common scale, in memory as far as it goes.

    Parameters
    ----------
    grams, names
        Of the kernels.
    weight : array of shape (n,)
        Of the points.
    scale : {"trace", "variance", None}
        What each matrix is divided by: the mean of k(x, x), that of the squared distances from the mean in
        feature space, or 1.
    caller : str
        The machine, for messages.
    merge : bool
        Whether equal matrices count once: then a warning names them, because only the sum of their weights
        matters.
    drop : bool
        Whether matrices that are zero are left out.
    """
    family = KernelFamily([LazyMatrix(G) for G in grams])
    share, probe = weight / weight.sum(), np.random.default_rng(0).standard_normal(family.size)
    images = family.images(np.column_stack([probe, share]))
    traces = np.array([float(share @ matrix.diagonal()) for matrix in family.matrices])
    scales = np.ones(len(grams))
    if scale is not None:
        scales = traces - (images[:, :, 1] @ share if scale == "variance" else 0.0)
    # a variance below this part of the mean of k(x, x) is rounding
    zero = (traces <= 0.0) | (scales <= 1e-12 * traces)
    if zero.all():
        found = "constant" if scale == "variance" and traces.any() else "zero"
        raise InputError(
            f"{caller}: `kernels` must distinguish points. All of {', '.join(map(repr, names))} are {found} "
            f"on the {family.size} sample(s) of `X`."
        )
    scales[zero] = 1.0
    if (scales < np.finfo(np.float64).tiny).any():
        worst = int(scales.argmin())
        raise InputError(
            f"{caller}: `X` must be larger: values of the kernel {names[worst]!r} are {scales[worst]:.3g} on "
            "average, and reciprocals of such numbers overflow. Multiply X by a constant, or normalise the "
            "kernel."
        )
    family.factors = 1.0 / scales
    groups, first = _groups(images[:, :, 0] / scales[:, None], zero & drop, merge)
    equal = np.flatnonzero(np.bincount(groups[groups >= 0]) > 1).tolist() if merge else []
    for group in equal:
        same = [names[i] for i in np.flatnonzero(groups == group).tolist()]
        relation = "equal" if scale is None else "proportional"
        warn(
            f"{caller}: the kernels {', '.join(map(repr, same))} are {relation} on these data. Only the sum "
            "of their weights is determined; they share it evenly. Leave out all but one.",
            UnidentifiedWeightsWarning,
        )
    return Matrices(family.select(first), scales, groups)


def _groups(
    images: NDArray[np.float64], zero: NDArray[np.bool_], merge: bool
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Which kernels have equal matrices, and the first kernel of each matrix."""
    groups = np.full(len(images), -1, dtype=np.intp)
    first: list[int] = []
    for i in np.flatnonzero(~zero).tolist():
        size = float(np.linalg.norm(images[i]))
        # products with a random vector that agree to this part of their length are those of equal matrices
        equal = [
            g for g, j in enumerate(first) if float(np.linalg.norm(images[i] - images[j])) <= 1e-10 * size
        ]
        if merge and equal:
            groups[i] = equal[0]
        else:
            groups[i] = len(first)
            first.append(i)
    return groups, np.array(first, dtype=np.intp)
