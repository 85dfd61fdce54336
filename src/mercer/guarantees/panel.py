"""All bounds that apply to a machine, beside its cross-validated error."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mercer.errors import InputError
from mercer.guarantees._validate import count, probability
from mercer.guarantees.bound import Bound
from mercer.guarantees.compression import compression_bound, support_vector_bound
from mercer.guarantees.facts import MachineFacts
from mercer.guarantees.margin import margin_bound, margin_loss
from mercer.guarantees.pac_bayes import pac_bayes_bound
from mercer.guarantees.regression import ridge_bound, ridge_range
from mercer.guarantees.stability import kernel_stability, stability_bound

__all__ = ["BoundsPanel", "PanelRow", "panel"]

_FREE_INTERCEPT = "the intercept is not penalised, and the theorem does not cover it"


class PanelRow(NamedTuple):
    """One kind of bound: the bound, or the reason why there is none."""

    name: str
    bound: Bound | None
    reason: str
    vacuous: bool

    @property
    def verdict(self) -> str:
        """In one or two words."""
        if self.bound is None:
            return f"none: {self.reason}"
        return "vacuous" if self.vacuous else "holds"


@dataclass(frozen=True, eq=False, repr=False)
class BoundsPanel:
    """Bounds on the risk of a machine, beside estimates of it.

    ``str(panel)`` is a table, ``panel.explain()`` adds the full account of each bound,
    :func:`mercer.show.panel` draws it.

    Attributes
    ----------
    machine : str
    measure : str
        What is bounded: the probability of error, or the squared error.
    n : int
        Training points.
    training : float
        Mean loss on the training sample.
    cross_validated, standard_error : float
        Mean loss of points that were left out, in folds, and its standard error.
    trivial : float
        Risk that needs no learning: that of a coin, or of predicting 0.  A bound that is not below it is
        vacuous.
    rows : tuple of PanelRow
    broken : tuple of str
        Assumptions of all bounds that this machine breaks.
    """

    machine: str
    measure: str
    n: int
    training: float
    cross_validated: float
    standard_error: float
    trivial: float
    rows: tuple[PanelRow, ...]
    broken: tuple[str, ...]

    def __iter__(self) -> Iterator[PanelRow]:
        return iter(self.rows)

    def __getitem__(self, name: str) -> PanelRow:
        for row in self.rows:
            if row.name == name:
                return row
        raise KeyError(f"{name!r} is not among {', '.join(row.name for row in self.rows)}")

    def table(self) -> list[dict[str, Any]]:
        """Rows as dictionaries, for a data frame."""
        return [
            {
                "bound": row.name,
                "value": math.nan if row.bound is None else row.bound.value,
                "probability": None if row.bound is None else row.bound.holds_with_probability,
                "verdict": row.verdict,
            }
            for row in self.rows
        ]

    def _title(self) -> str:
        return f"{self.measure} of {self.machine}, {self.n} training points"

    def _footnotes(self) -> list[str]:
        lines = [
            f"A bound of {self.trivial:.4g} or more is vacuous: it says no more than what needs no learning."
        ]
        return lines + [f"Broken assumption: {text}." for text in self.broken]

    def _cells(self) -> list[tuple[str, str, str]]:
        estimates = [
            ("training error", f"{self.training:.4g}", "estimate, too small"),
            ("cross-validated", f"{self.cross_validated:.4g}", f"estimate, +- {self.standard_error:.2g}"),
        ]
        return estimates + [(r.name, f"{r.bound.value:.4g}" if r.bound else "-", _kind(r)) for r in self.rows]

    def __str__(self) -> str:
        cells = self._cells()
        width = max(len(name) for name, _, _ in cells)
        lines = [f"{name:<{width}}  {value:>9}  {kind}" for name, value, kind in cells]
        return "\n".join([self._title(), *lines, *self._footnotes()])

    def __repr__(self) -> str:
        return f"<bounds panel: {self._title()}>"

    def _repr_html_(self) -> str:
        rows = "".join(
            "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>"
            for row in self._cells()
        )
        notes = "".join(f"<p>{html.escape(line)}</p>" for line in self._footnotes())
        return f"<p>{html.escape(self._title())}</p><table>{rows}</table>{notes}"

    def explain(self) -> str:
        """Return the table and the full account of every bound."""
        accounts = [row.bound.explain() for row in self.rows if row.bound is not None]
        return "\n\n".join([str(self), *accounts])


def _kind(row: PanelRow) -> str:
    if row.bound is None:
        return row.verdict
    sure = row.bound.holds_with_probability
    kind = "bound in the mean over samples" if sure is None else f"bound with probability {sure:.4g}"
    return f"{kind}{', VACUOUS' if row.vacuous else ''}"


def panel(machine: Any, X: Any, y: Any, *, delta: float = 0.05, cv: int = 10) -> BoundsPanel:
    """Bounds on the risk of a machine from its training sample, beside its cross-validated error.

    A copy of the machine is fitted to X and y.  Each bound holds with probability 1 - delta on its own, under
    its assumptions, which :meth:`BoundsPanel.explain` lists; those that the machine breaks are named.  Most
    bounds are vacuous on small samples, and are shown all the same.

    ================  ==================================================================================
    margin            :func:`margin_bound` from the radius, for the best margin
    Rademacher        :func:`margin_bound` from the trace of the Gram matrix; :func:`ridge_bound`
    stability         :func:`stability_bound`
    leave-one-out     :func:`support_vector_bound`; of ridge regression the exact leave-one-out error
    PAC-Bayes         :func:`pac_bayes_bound`
    compression       :func:`compression_bound`
    ================  ==================================================================================

    An intercept counts as the weight of one more feature, the constant 1, where the theorem allows it.

    Parameters
    ----------
    machine : SVC, NuSVC or KernelLogistic for two classes, or KernelRidge
    X : points
    y : array of shape (n,)
    delta : float, default=0.05
        Probability of failure of each bound, in (0, 1).
    cv : int, default=10
        Number of folds, >= 2.

    Returns
    -------
    BoundsPanel

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Gaussian
    >>> from mercer.machines import SVC
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 2))
    >>> found = panel(SVC(Gaussian(2.0), C=1.0), X, X[:, 0] > 0)
    >>> print(found)
    probability of error of SVC, 400 training points
    training error      0.0125  estimate, too small
    cross-validated       0.02  estimate, +- 0.007
    margin               1.059  bound with probability 0.95, VACUOUS
    Rademacher           1.195  bound with probability 0.95, VACUOUS
    stability                -  none: the intercept is not penalised, and the theorem does not cover it
    leave-one-out       0.2475  bound in the mean over samples
    PAC-Bayes           0.6026  bound with probability 0.95, VACUOUS
    compression         0.5339  bound with probability 0.95, VACUOUS
    A bound of 0.5 or more is vacuous: it says no more than what needs no learning.
    """
    from sklearn.model_selection import KFold, StratifiedKFold, cross_val_predict

    delta, cv = probability("panel", "delta", delta), count("panel", "cv", cv, minimum=2)
    if not hasattr(machine, "_bound_facts"):
        raise InputError(
            "panel: `machine` must be SVC, NuSVC, KernelLogistic or KernelRidge. "
            f"Got a {type(machine).__name__}."
        )
    facts: MachineFacts = machine._bound_facts(X, y)
    folds = (StratifiedKFold if facts.is_classifier else KFold)(cv, shuffle=True, random_state=0)
    left_out = np.asarray(cross_val_predict(machine, X, y, cv=folds))
    losses = left_out != np.asarray(y) if facts.is_classifier else (left_out - facts.targets) ** 2
    losses = np.asarray(losses, dtype=np.float64)
    rows = _classifier_rows(facts, delta) if facts.is_classifier else _ridge_rows(facts, delta)
    trivial = 0.5 if facts.is_classifier else float(np.mean(facts.targets**2))
    training = facts.values <= 0 if facts.is_classifier else (facts.values - facts.targets) ** 2
    return BoundsPanel(
        machine=facts.name,
        measure="probability of error" if facts.is_classifier else "squared error",
        n=len(facts.values),
        training=float(np.mean(training)),
        cross_validated=float(np.mean(losses)),
        standard_error=float(np.std(losses, ddof=1) / math.sqrt(len(losses))),
        trivial=trivial,
        rows=tuple(
            PanelRow(name, None, found, False)
            if isinstance(found, str)
            else PanelRow(name, found, "", found.value >= trivial)
            for name, found in rows
        ),
        broken=facts.broken,
    )


# -- classifiers ------------------------------------------------------------------------------
def _classifier_rows(facts: MachineFacts, delta: float) -> list[tuple[str, Bound | str]]:
    m, free = len(facts.values), facts.intercept is not None
    norm = math.hypot(facts.norm, facts.intercept or 0.0)
    diagonal = facts.diagonal + (1.0 if free else 0.0)
    radius = math.sqrt(float(diagonal.max()) if facts.radius is None else facts.radius**2 + free)
    if norm == 0 or radius == 0:
        nothing = "the function is zero"
        kinds = ("margin", "Rademacher", "stability", "leave-one-out", "PAC-Bayes", "compression")
        return [(kind, nothing) for kind in kinds]
    scaled = facts.values / norm
    with np.errstate(divide="ignore", invalid="ignore"):
        cosines = np.where(diagonal > 0, scaled / np.sqrt(diagonal), 0.0)
    trace = float(diagonal.sum())
    if free:
        stability: Bound | str = _FREE_INTERCEPT
    elif facts.penalty is None:
        stability = "the machine minimises no mean loss with a squared norm"
    else:
        beta = kernel_stability(radius, penalty=facts.penalty, lipschitz=1.0, n=m)
        stability = stability_bound(margin_loss(facts.values, 1.0), beta, n=m, delta=delta)
    return [
        ("margin", _best_margin(scaled, radius, delta, radius=radius)),
        ("Rademacher", _best_margin(scaled, radius, delta, K=trace)),
        ("stability", stability),
        ("leave-one-out", _support(facts, lambda d, _: support_vector_bound(m, d))),
        ("PAC-Bayes", pac_bayes_bound(np.clip(cosines, -1.0, 1.0), delta=delta)),
        ("compression", _support(facts, lambda d, e: compression_bound(m, d, e, delta=delta))),
    ]


def _best_margin(scaled: NDArray[np.float64], largest: float, delta: float, **options: Any) -> Bound:
    """The margin bound for functions of norm 1, at the margin where it is least: it holds for all at once."""
    found = [
        margin_bound(scaled, rho, norm_bound=1.0, delta=delta, rho_max=largest, **options)
        for rho in (np.geomspace(1e-4, 1.0, 41) * largest).tolist()
    ]
    return min(found, key=float)


def _support(facts: MachineFacts, bound: Callable[[int, int], Bound]) -> Bound | str:
    if facts.support is None:
        return "a few points do not determine the machine"
    others = np.delete(facts.values, facts.support)
    return bound(len(facts.support), int((others <= 0).sum()))


# -- ridge regression -------------------------------------------------------------------------
def _ridge_rows(facts: MachineFacts, delta: float) -> list[tuple[str, Bound | str]]:
    rademacher: Bound | str = _FREE_INTERCEPT
    stability: Bound | str = _FREE_INTERCEPT
    if facts.intercept is None:
        assert facts.penalty is not None
        radius = math.sqrt(float(facts.diagonal.max())) if facts.radius is None else facts.radius
        numbers = {
            "radius": radius,
            "penalty": facts.penalty,
            "target_bound": float(np.abs(facts.targets).max()),
        }
        m, loss = len(facts.values), float(np.mean((facts.values - facts.targets) ** 2))
        rademacher = ridge_bound(loss, float(facts.diagonal.sum()), n=m, delta=delta, **numbers)
        known = ridge_range(**numbers)
        beta = kernel_stability(radius, penalty=facts.penalty, lipschitz=known.lipschitz, n=m)
        stability = stability_bound(loss, beta, n=m, loss_bound=known.loss, delta=delta)
    return [
        ("margin", "for classifiers"),
        ("Rademacher", rademacher),
        ("stability", stability),
        ("leave-one-out", _leave_one_out(facts)),
        ("PAC-Bayes", "for classifiers"),
        ("compression", "for classifiers"),
    ]


def _leave_one_out(facts: MachineFacts) -> Bound | str:
    if facts.loo_residuals is None:
        return "the errors of the models without one point are not known"
    value = float(np.mean(facts.loo_residuals**2))
    return Bound(
        value=value,
        name="expected squared error of m - 1 points, leave-one-out",
        formula="E R(f of m - 1 points) = E mean of (y_i - f_{-i}(x_i))^2",
        assumptions=(
            "the sample is independent and identically distributed, and so is the new point",
            "an equation of means over samples; the value is that of this sample",
        ),
        holds_with_probability=None,
        vacuous=False,
        terms={"leave-one-out error": value},
        inputs={"n": len(facts.values)},
    )
