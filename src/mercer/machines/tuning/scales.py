r"""The data's own scale: the values of parameters that are usual for some data, whatever their units.

===================  =====================================================================================
parameter            usual values
===================  =====================================================================================
width                the median distance, and what is within a factor of 4 of it
factor, noise level  a term k of the kernel has a mean of k(x, x) from 0.1 to 10 times the mean square of
                     the targets
penalty              from 0.1 to 10 times the mean of k(x, x); of a price C, one over that
===================  =====================================================================================

With an intercept mean squares and kernels are those about the mean.  Other parameters, such as exponents and
decays, have no unit, or no rule that knows it (periods).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...algebra import Constant, Product, Scaled, Sum
from ...domains import Data, size
from ...gram.kernel_gram import gram_of_points
from ...kernel import Kernel
from ...kernels import WhiteNoise
from .hyperparameters import Hyperparameters

__all__ = ["Scales", "has_unit", "mean_size", "mean_squares", "scales_of"]

Matrix: TypeAlias = NDArray[np.float64]

#: Usual widths are within this factor of the median distance.  At a quarter of it neighbours in twenty
#: dimensions still have similarities that a float knows (some 1e-3), so that the gradient shows the way.
NEAR = 4.0

#: Usual shares of a part in the whole.  Where noise has much more than ten times the variance of the rest,
#: the gradient in all other parameters is next to nothing.  A small share is no obstacle to a search.
SHARES = (0.1, 10.0)


class Scales(NamedTuple):
    """What is usual for the entries of a vector of hyper-parameters.

    Attributes
    ----------
    first : array of shape (n_parameters,)
        Logarithms to start from.
    usual : array of shape (n_parameters, 2)
        Logarithms of the least and the largest usual value; NaN where nothing is known.
    vanishing : array of bool of shape (n_parameters, 2)
        Ends of the range at which a term of the kernel or the noise vanishes: a result that says something,
        and no sign of a range too small.
    origin : float
        What the unit of the targets adds to the objective.
    size : float
        Of the objective: the number of observations for a log likelihood, 1 for logarithms of errors.
    """

    first: Matrix
    usual: Matrix
    vanishing: NDArray[np.bool_]
    origin: float = 0.0
    size: float = 1.0


def mean_squares(Y: Matrix, intercept: bool, weight: Matrix | None = None) -> tuple[float, float]:
    """Mean squares of targets of shape (n, t) about their means, and about zero if there is no intercept.

    Where that is nothing but rounding, the next one: about zero, and 1.
    """
    about_zero = float(np.average(Y**2, axis=0, weights=weight).mean())
    about_zero = about_zero if about_zero > 0 else 1.0
    about_mean = float(
        np.average((Y - np.average(Y, axis=0, weights=weight)) ** 2, axis=0, weights=weight).mean()
    )
    if about_mean <= (8 * np.finfo(np.float64).eps) ** 2 * about_zero:
        about_mean = about_zero
    return about_mean, about_mean if intercept else about_zero


def mean_size(kernel: Kernel, points: Data, intercept: bool = False) -> float:
    """The mean of k(x, x), with an intercept less that of k(x, x'); 1 if that is not positive.

    The mean square of functions of the process, about their mean with an intercept.  From 64 points at most.
    """
    # the most points that the mean size of a kernel is computed from
    rows = np.unique(np.linspace(0, size(points) - 1, 64).astype(np.intp))
    G = gram_of_points(kernel, points).select(rows)
    found = float(np.mean(np.asarray(G.diagonal(), dtype=np.float64)))
    if intercept:
        about_mean = found - float(np.mean(np.asarray(G.dense(), dtype=np.float64)))
        found = about_mean if about_mean > 1e-8 * found else found
    return found if 0 < found < np.inf else 1.0


def scales_of(
    start: Hyperparameters,
    points: Data,
    *,
    squares: tuple[float, float] | None = None,
    is_process: bool = True,
    ratio: float = 1.0,
    intercept: bool = False,
    weight: Matrix | None = None,
    origin: float = 0.0,
    total: float = 1.0,
) -> Scales:
    """What is usual for the parameters of a kernel on these points, and where to start from.

    The kernel of the process of some targets is multiplied by the number for which it could have made them.
    Shares of its terms stay as they are; without an intercept noise has its share of the mean square about
    the mean.  A kernel with a term that is no multiple of a parameter, and so states its variance, stays as
    it is.

    Parameters
    ----------
    start : Hyperparameters
    points : validated points
    squares : (float, float), optional
        :func:`mean_squares` of the values of the function; without them nothing is known of factors.
    is_process : bool
        Whether these are those of targets, that have the unit of the kernel.
    ratio : float
        Of the two mean squares: how much smaller than usual the penalty may be, since the kernel has to
        explain the mean of the targets too.
    intercept : bool
    weight : array of shape (n,), optional
        Of the points, which the penalty is relative to.
    origin, total : float
        As ``origin`` and ``size`` of :class:`Scales`.
    """
    terms = [
        (name, mean_size(term, points, intercept), _is_noise(term)) for name, term in _terms(start.kernel)
    ]
    whole, shapes = sum(size for _, size, _ in terms), start.shapes
    first = {name: np.log(value).ravel() for name, value in shapes.items()}
    usual = {name: np.full((value.size, 2), np.nan) for name, value in shapes.items()}
    vanishing = {name: np.zeros((value.size, 2), dtype=bool) for name, value in shapes.items()}
    is_multiple = squares is not None and is_process and all(name is not None for name, _, _ in terms)
    for name, size_of_term, is_noise in terms:
        if name is None:
            continue
        vanishing[name][:, 0] = True
        vanishing[name][:, 1] = start.penalty is not None  # beside a penalty a large factor is little noise
        if squares is not None:
            least, most = np.log(squares) - np.log(size_of_term)
            usual[name] = first[name][:, None] + np.array([least, most]) + np.log(SHARES)
        if is_multiple and squares is not None:
            first[name] = first[name] + np.log(squares[0 if is_noise else 1] / whole)
    usual |= {
        width: np.log(values)[:, None] + np.log([1 / NEAR, NEAR])
        for width, values in _widths(start, points).items()
    }
    values, rows, ends = list(first.values()), list(usual.values()), list(vanishing.values())
    if start.penalty is not None:
        unit = whole * (1.0 if weight is None else float(weight.mean()))
        penalty, is_price = np.log([[SHARES[0] * ratio * unit, SHARES[1] * unit]]), start.penalty == "C"
        values.append(np.log([start.alpha]))
        rows.append(-penalty[:, ::-1] if is_price else penalty)
        ends.append(np.array([[not is_price, is_price]]))
    if not values:
        return Scales(np.empty(0), np.empty((0, 2)), np.empty((0, 2), dtype=bool), origin, total)
    return Scales(np.concatenate(values), np.concatenate(rows), np.concatenate(ends), origin, total)


def has_unit(kernel: Kernel) -> bool:
    """Whether a kernel states a variance: some term is no multiple of one of its parameters."""
    return any(name is None for name, _ in _terms(kernel))


def _terms(kernel: Kernel, prefix: str = "") -> Iterator[tuple[str | None, Kernel]]:
    """The terms of a sum that are not zero, each with a parameter that it is a multiple of."""
    if isinstance(kernel, Sum):
        for child, term in kernel._children:
            yield from _terms(term, f"{prefix}{child}__")
    elif not (isinstance(kernel, Scaled) and kernel.factor == 0):
        name = _multiple(kernel)
        yield None if name is None else prefix + name, kernel


def _multiple(kernel: Kernel) -> str | None:
    """The name of a parameter that a kernel is a positive multiple of."""
    for kind, name in ((WhiteNoise, "level"), (Constant, "value"), (Scaled, "factor")):
        if isinstance(kernel, kind):
            return name if getattr(kernel, name) > 0 else None
    if isinstance(kernel, Product):
        for name, child in kernel._children:
            inner = _multiple(child)
            if inner is not None:
                return f"{name}__{inner}"
    return None


def _is_noise(kernel: Kernel) -> bool:
    return isinstance(kernel, WhiteNoise) or (isinstance(kernel, Scaled) and _is_noise(kernel.base))


def _widths(start: Hyperparameters, points: Data) -> dict[str, Matrix]:
    """What the rules of widths give on these points, one number per entry.

    A vector with a width per feature has them in proportion to the standard deviations of the features.
    """
    rules = {name: rule for name, rule in _rules(start.kernel) if name in start.shapes}
    found = start.kernel.replace(**rules)._resolve(points, None).parameters
    widths: dict[str, Matrix] = {}
    for name in rules:
        count = start.shapes[name].size
        widths[name] = np.full(count, float(found[name].value))
        if count > 1 and isinstance(points, np.ndarray) and points.shape[1:] == (count,):
            spread = points.std(axis=0, dtype=np.float64)
            spread = np.where(spread > 0, spread, spread.max() or 1.0)
            widths[name] *= spread / np.sqrt(np.mean(spread**2))
    return widths


def _rules(kernel: Kernel, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Parameters that could be computed from the points, with the rule for that."""
    for name, _, spec in kernel._fields:
        if spec is not None and spec.scale == "log" and spec.rules:
            yield prefix + name, spec.rules[0]
    for name, child in kernel._children:
        yield from _rules(child, f"{prefix}{name}__")
