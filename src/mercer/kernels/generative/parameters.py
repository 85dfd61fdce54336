"""Kernels on maximum-likelihood parameters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ...domains import Domain, Vectors
from ...errors import InputError, ParameterError
from ...kernel import Kernel
from ...models import Distributions, Model

__all__ = ["ParameterKernel"]


@dataclass(frozen=True)
class Fitted:
    """The map from a point to the model that is fitted to it, or to its parameters."""

    fit: Callable[[Any], Any]
    flat: bool

    def __call__(self, x: Any) -> Any:
        model = self.fit(x)
        if not isinstance(model, Model):
            raise InputError(
                f"ParameterKernel: `fit` must return a model of mercer.models. Got {model!r}. Fitted models "
                "of scikit-learn and hmmlearn are converted by mercer.models.as_model."
            )
        return model.parameters if self.flat else model


def ParameterKernel(
    fit: Callable[[Any], Any], k: Kernel, *, domain: Domain | None = None, version: str | None = None
) -> Kernel:
    r"""Kernel on maximum-likelihood parameters: each point is replaced by the model that fits it best.

    .. math:: (x, y) \mapsto k(\hat\theta(x), \hat\theta(y))

    A point may be a sequence or a whole data set.  A kernel on vectors compares the flat vectors
    :attr:`~mercer.models.Model.parameters`; a kernel on models, such as :class:`ProbabilityProduct`, or on
    any objects, compares the models.  It is ``k.on(...)``, and positive definite if k is.  Cost: one fit for
    each point.

    The transitions of Markov chains are such parameters.  Those of hidden Markov models depend on the order
    of the states, which differs from fit to fit: compare the models by :class:`ProbabilityProduct`, which
    does not.

    Parameters
    ----------
    fit : function of one point
        Returns a model of :mod:`mercer.models`.
    k : Kernel
        On vectors, or on models.
    domain : Domain, optional
        The points that ``fit`` accepts; any objects by default.
    version : str, optional
        A name for what ``fit`` does, for :meth:`~mercer.Kernel.digest`.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> from mercer.models import MarkovChain
    >>> k = ParameterKernel(lambda x: MarkovChain.fit([x], alphabet="ab"), Linear())
    >>> k("abab", "abba")  # start (1, 0) and rows (0, 1), (1, 0) against (1, 0), (0, 1), (1/2, 1/2)
    2.5
    """
    if not callable(fit):
        raise ParameterError(f"ParameterKernel: `fit` must be a function of one point. Got {fit!r}.")
    if not isinstance(k, Kernel):
        raise ParameterError(f"ParameterKernel: `k` must be a kernel. Got {k!r}.")
    flat = isinstance(k.domain, Vectors) and not isinstance(k.domain, Distributions)
    return k.on(Fitted(fit, flat), domain=domain, version=version)
