"""Pictures of permutation tests: the null distribution, and where two samples differ."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InputError, ParameterError
from ..rkhs import RKHSFunction
from .canvas import COLOURS, GUIDE, INK, drawing

__all__ = ["null_distribution", "witness"]


def null_distribution(result: Any, ax: Any = None, *, level: float = 0.05) -> Any:
    """Draw the statistics of the permuted samples, and that of the sample itself.

    Parameters
    ----------
    result : MMDResult or HSICResult
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure.
    level : float, default=0.05
        Statistics beyond a thin line have p-values up to this level.  There is no line if the level is below
        the smallest p-value that the number of permutations allows.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.machines import HSICTest
    >>> x = np.random.default_rng(0).standard_normal((40, 1))
    >>> ax = null_distribution(HSICTest(n_permutations=99, random_state=0).test(x, x**2))
    >>> ax.get_xlabel()
    'statistic'
    """
    if isinstance(level, bool) or not 0 < level < 1:
        raise ParameterError(f"null_distribution: `level` must be between 0 and 1. Got {level!r}.")
    null = np.sort(np.asarray(result.null, dtype=float))
    count = len(null)
    # p <= level iff at most this many permuted statistics are at least as large
    above = int(np.floor(level * (count + 1) + 1e-9)) - 1
    with drawing(ax) as ax:
        ax.hist(
            null,
            bins=min(40, max(5, int(np.sqrt(count)))),
            color=GUIDE,
            alpha=0.6,
            label=f"permuted ({count})",
        )
        if above >= 0:
            ax.axvline(
                null[count - 1 - above], color=INK, linewidth=0.8, linestyle=":", label=f"p = {level:g}"
            )
        ax.axvline(
            result.statistic,
            color=COLOURS["vermilion"],
            linewidth=2,
            label=f"observed, p = {result.p_value:.3g}",
        )
        ax.set_xlabel("statistic")
        ax.set_ylabel("permutations")
        _legend(ax)
    return ax


def witness(result: Any, ax: Any = None, *, feature: str | None = None) -> Any:
    """Draw the witness of a two-sample test over the only feature, and the two samples.

    Above zero there is more of ``X``, below more of ``Y``, as the kernel sees them; where the curve is near
    zero they do not differ.

    Parameters
    ----------
    result : MMDResult
        Of points with one feature.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure.
    feature : str, optional
        Name of the feature, for the axis.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.machines import MMDTest
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.normal(size=(40, 1)), rng.laplace(size=(40, 1))
    >>> result = MMDTest(n_permutations=19, random_state=0).test(X, Y)
    >>> ax = witness(result, feature="length")
    >>> ax.get_xlabel()
    'length'
    """
    function: Any = getattr(result, "witness", None)
    if not isinstance(function, RKHSFunction):
        raise InputError(
            f"witness: `result` must be that of an MMDTest, which has a witness. Got {type(result).__name__}."
        )
    points = np.asarray(function.points, dtype=object)
    if points.ndim != 2 or points.shape[1] != 1:
        raise InputError(
            "witness: the points must have one feature. For others evaluate result.witness.values(X)."
        )
    x = points[:, 0].astype(float)
    first = function.coefficients > 0
    reach = 0.1 * float(np.ptp(x)) or 1.0  # the curve goes beyond the data
    grid = np.linspace(x.min() - reach, x.max() + reach, 400)
    with drawing(ax) as ax:
        ax.axhline(0.0, color=INK, linewidth=0.8)
        ax.plot(
            grid, function.values(grid[:, None]), color=COLOURS["vermilion"], linewidth=2, label="witness"
        )
        low, high = ax.get_ylim()
        # the samples stand on the lower edge, the first one above the second
        for part, name, colour, height in (
            (first, "X", "blue", 0.06),
            (~first, "Y", "green", 0.02),
        ):
            y = np.full(int(part.sum()), low - (0.12 - height) * (high - low))
            ax.plot(
                x[part], y, "|", color=COLOURS[colour], markersize=9, alpha=0.6, label=f"{name} ({len(y)})"
            )
        ax.set_xlabel(feature or "x")
        ax.set_ylabel("witness")
        _legend(ax)
    return ax


def _legend(ax: Any) -> None:
    """Above the axes: inside there is no place that is always free."""
    ax.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=3, columnspacing=1.0, handlelength=1.4)
