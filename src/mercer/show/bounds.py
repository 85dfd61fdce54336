"""The panel of learning bounds as a picture."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InputError
from ..guarantees import BoundsPanel
from .canvas import COLOURS, GUIDE, INK, canvas, drawing

__all__ = ["panel"]


def panel(found: BoundsPanel, ax: Any = None) -> Any:
    """Draw bounds on the risk of a machine beside its training and its cross-validated error.

    A dashed line marks the risk that needs no learning.  Bounds that reach it are grey, and said to be
    vacuous; kinds of bounds that do not apply have no bar.

    Parameters
    ----------
    found : BoundsPanel
        Of :func:`mercer.guarantees.panel`.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import guarantees
    >>> from mercer.kernels import Gaussian
    >>> from mercer.machines import SVC
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> ax = panel(guarantees.panel(SVC(Gaussian(2.0)), X, X[:, 0] > 0))
    >>> ax.get_xlabel()
    'probability of error of SVC, 60 training points'
    """
    if not isinstance(found, BoundsPanel):
        raise InputError(
            "panel: `found` must be the panel of mercer.guarantees.panel(machine, X, y). "
            f"Got a {type(found).__name__}."
        )
    rows = [
        ("training error", found.training, COLOURS["purple"], ""),
        ("cross-validated", found.cross_validated, COLOURS["green"], ""),
    ]
    for row in found:
        value = np.nan if row.bound is None else row.bound.value
        colour = GUIDE if row.vacuous else COLOURS["blue"]
        rows.append((row.name, value, colour, "vacuous" if row.vacuous else ""))
    if ax is None:
        _, ax = canvas(6.2, 1.2 + 0.3 * len(rows))
    # The axis ends at twice the trivial risk; longer bars are cut, with their values in them.
    end = 2.0 * found.trivial
    with drawing(ax) as ax:
        for at, (_, value, colour, remark) in enumerate(rows):
            if np.isnan(value):
                ax.text(0.01 * end, at, "does not apply", va="center", color=GUIDE)
                continue
            ax.barh(at, min(value, end), color=colour, height=0.66)
            text = f"{value:.3g}" + (f", {remark}" if remark else "")
            inside = value > 0.75 * end  # no place for the text beside the bar
            reach = found.standard_error if at == 1 else 0.0  # of the cross-validated error
            place = 0.98 * min(value, end) if inside else value + reach + 0.015 * end
            ax.text(
                place,
                at,
                text,
                va="center",
                ha="right" if inside else "left",
                color="white" if inside else INK,
            )
        ax.errorbar(found.cross_validated, 1, xerr=found.standard_error, color=INK, capsize=3, linewidth=1)
        ax.axvline(found.trivial, color=INK, linestyle="--", linewidth=1)
        ax.text(found.trivial, -0.65, "needs no learning", ha="center", va="bottom", color=INK)
        ax.set_yticks(range(len(rows)), labels=[name for name, *_ in rows])
        ax.set_ylim(len(rows) - 0.4, -0.6)
        ax.set_xlim(0.0, end)
        ax.tick_params(axis="y", length=0)
        ax.set_xlabel(found._title())
    return ax
