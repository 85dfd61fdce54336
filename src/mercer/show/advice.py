"""Pictures of what feature maps cost."""

from __future__ import annotations

from itertools import cycle
from typing import Any

from ..errors import ParameterError
from ..features import Advice
from .canvas import COLOURS, INK, drawing

__all__ = ["advice"]


def advice(found: Advice, ax: Any = None) -> Any:
    """Draw the errors of feature maps against the seconds that the features of all points take.

    Parameters
    ----------
    found : Advice
        What :func:`mercer.features.advise` has measured; the number at a point is that of its features.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.features import advise
    >>> from mercer.kernels import Gaussian
    >>> ax = advice(advise(Gaussian(1.0), np.random.default_rng(0).standard_normal((300, 2))))
    >>> ax.get_ylabel()
    'relative error of the kernel'
    """
    if not isinstance(found, Advice):
        raise ParameterError(f"advice: `found` must be the result of mercer.features.advise. Got {found!r}.")
    least = 1e-16  # no smaller error is drawn: below is rounding
    with drawing(ax) as ax:
        for name, colour in zip(dict.fromkeys(t.name for t in found.trials), cycle(COLOURS.values())):
            trials = [trial for trial in found.trials if trial.name == name]
            seconds = [found.n * trial.row_seconds for trial in trials]
            errors = [max(trial.error, least) for trial in trials]
            ax.plot(seconds, errors, "o-", color=colour, markersize=4, linewidth=1.5, label=name)
            for trial, x, y in zip(trials, seconds, errors, strict=True):
                ax.annotate(str(trial.dim), (x, y), (3, 3), textcoords="offset points", fontsize=8, color=INK)
        chosen = found.chosen
        ax.plot(
            found.n * chosen.row_seconds,
            max(chosen.error, least),
            "o",
            color="none",
            markeredgecolor=INK,
            markersize=11,
            label="recommended",
        )
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.set_xlabel(f"seconds for the features of {found.n:,} points")
        ax.set_ylabel("relative error of the kernel")
        ax.legend(loc="best")
    return ax
