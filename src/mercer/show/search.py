"""Pictures of a search over parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import ParameterError
from .canvas import COLOURS, INK, drawing

__all__ = ["search_surface"]


def search_surface(
    search: Any, x: str | None = None, y: str | None = None, *, metric: str | None = None, ax: Any = None
) -> Any:
    """Draw the scores of a search over one or two parameters, and mark the best.

    Over one parameter a curve, with bars of one standard deviation of the splits; over two a map.  Of
    candidates that differ in further parameters, the best score is drawn.

    Parameters
    ----------
    search : fitted search
        A :class:`~mercer.selection.KernelSearchCV`, or a search of scikit-learn.
    x, y : str, optional
        Names of the parameters, as in the grid; ``"kernel__sigma"`` also reads the kernels of
        ``"kernel": [Gaussian(s) for s in ...]``.  By default the ones of several values, at most two.
    metric : str, optional
        With several metrics, the one to draw; by default the first.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Gaussian
    >>> from mercer.machines import SVC
    >>> from mercer.selection import KernelSearchCV
    >>> X = np.random.default_rng(0).standard_normal((40, 2))
    >>> grid = {"kernel": [Gaussian(s) for s in (0.5, 1.0, 2.0)], "C": [0.1, 1.0, 10.0]}
    >>> search = KernelSearchCV(SVC(), grid, cv=3).fit(X, X[:, 0] * X[:, 1] > 0)
    >>> ax = search_surface(search)
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('C', 'kernel__sigma')
    """
    if not hasattr(search, "cv_results_"):
        raise ParameterError(f"search_surface: `search` must be a fitted search. Got {search!r}.")
    results = search.cv_results_
    candidates = [_flat(parameters) for parameters in results["params"]]
    known = sorted({name for parameters in candidates for name in parameters})
    names = [name for name in (x, y) if name is not None]
    if not names:  # those of several values, in alphabetical order as in ``cv_results_``
        names = [name for name in known if len({p[name] for p in candidates if name in p}) > 1]
    for name in names:
        if name not in known:
            raise ParameterError(f"search_surface: {name!r} must be a parameter of the grid, one of {known}.")
    if not 1 <= len(names) <= 2:
        raise ParameterError(
            f"search_surface: name the parameters to draw as `x` and `y`, one or two of {names}."
        )
    metrics = [name.removeprefix("mean_test_") for name in results if name.startswith("mean_test_")]
    key = metrics[0] if metric is None else metric
    if key not in metrics:
        raise ParameterError(f"search_surface: `metric` must be one of {metrics}. Got {metric!r}.")
    means, deviations = results[f"mean_test_{key}"], results[f"std_test_{key}"]
    with drawing(ax) as ax:
        if len(names) == 1:
            _draw_curve(ax, candidates, names[0], means, deviations)
            ax.set_ylabel(f"mean {key} of the splits")
        else:
            _draw_map(ax, candidates, names, means, key)
    return ax


def _flat(parameters: dict[str, Any]) -> dict[str, Any]:
    """The parameters of a candidate, and those of its kernel beside it."""
    found = dict(parameters)
    kernel: Any = parameters.get("kernel")
    if hasattr(kernel, "get_params"):
        found["kernel"] = type(kernel).__name__
        found |= {f"kernel__{name}": value for name, value in kernel.get_params().items()}
    return {name: value for name, value in found.items() if isinstance(value, int | float | str | np.number)}


def _values(candidates: Sequence[dict[str, Any]], name: str) -> list[Any]:
    """The values of a parameter, numbers in increasing order before words."""
    found = {parameters[name] for parameters in candidates if name in parameters}
    return sorted(found, key=lambda v: (isinstance(v, str), v))


def _best(candidates: Sequence[dict[str, Any]], means: np.ndarray, given: dict[str, Any]) -> int | None:
    """The best candidate with some parameters given; None if there is none."""
    some = [
        i
        for i, parameters in enumerate(candidates)
        if np.isfinite(means[i]) and all(parameters.get(name) == value for name, value in given.items())
    ]
    return max(some, key=lambda i: means[i], default=None)


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else f"{value:.4g}"


def _draw_curve(
    ax: Any, candidates: Sequence[dict[str, Any]], name: str, means: np.ndarray, deviations: np.ndarray
) -> None:
    values = _values(candidates, name)
    best = [_best(candidates, means, {name: value}) for value in values]
    known = [(place, i) for place, i in enumerate(best) if i is not None]
    is_log = all(not isinstance(v, str) and v > 0 for v in values)
    at = [values[place] if is_log else place for place, _ in known]
    heights, bars = ([float(array[i]) for _, i in known] for array in (means, deviations))
    ax.errorbar(at, heights, bars, fmt="o-", color=COLOURS["blue"], markersize=4, linewidth=1.5, capsize=3)
    top = int(np.argmax(heights))
    ax.plot(at[top], heights[top], "o", color=COLOURS["vermilion"], markersize=8, label="best", zorder=3)
    if is_log:
        ax.set_xscale("log")
    else:
        ax.set_xticks(range(len(values)), [_shown(v) for v in values])
    ax.set_xlabel(name)
    ax.legend(loc="best")


def _draw_map(
    ax: Any, candidates: Sequence[dict[str, Any]], names: Sequence[str], means: np.ndarray, key: str
) -> None:
    columns, rows = (_values(candidates, name) for name in names)
    table = np.full((len(rows), len(columns)), np.nan)
    for r, c in np.ndindex(table.shape):
        i = _best(candidates, means, {names[0]: columns[c], names[1]: rows[r]})
        table[r, c] = np.nan if i is None else means[i]
    image = ax.imshow(table, origin="lower", aspect="auto", cmap="viridis")
    ax.figure.colorbar(image, ax=ax, label=f"mean {key} of the splits")
    r, c = np.unravel_index(np.nanargmax(table), table.shape)
    ax.plot(c, r, "*", color=COLOURS["vermilion"], markersize=15, markeredgecolor=INK, label="best")
    ax.set_xticks(range(len(columns)), [_shown(v) for v in columns], rotation=45, ha="right")
    ax.set_yticks(range(len(rows)), [_shown(v) for v in rows])
    ax.set_xlabel(names[0])
    ax.set_ylabel(names[1])
