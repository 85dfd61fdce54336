"""Fitted models of scikit-learn and hmmlearn as models of this package."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from ..errors import InputError, ParameterError
from .base import Model
from .hmm import HMM
from .normal import Mixture, Normal, full_covariances

__all__ = ["as_model"]


def as_model(estimator: Any) -> Model:
    """The same model as a fitted one of scikit-learn or hmmlearn.

    =====================================  =================================================================
    ``sklearn.mixture.GaussianMixture``    :class:`Mixture`; all types of covariance
    ``hmmlearn.hmm.GaussianHMM``           :class:`HMM` of vectors; all types of covariance
    ``hmmlearn.hmm.CategoricalHMM``        :class:`HMM` of the symbols 0, 1, ...
    ``hmmlearn.hmm.MultinomialHMM``        the same, if hmmlearn is older than 0.2.8, where it has this name
    =====================================  =================================================================

    Parameters
    ----------
    estimator : fitted estimator

    Raises
    ------
    InputError
        If the estimator is not fitted.
    ParameterError
        If it is no model that this package has.

    Examples
    --------
    >>> from sklearn.mixture import GaussianMixture
    >>> model = as_model(GaussianMixture(1).fit([[0.0], [2.0]]))
    >>> model.normals[0].mean.round(6).tolist()
    [1.0]
    """
    if isinstance(estimator, Model):
        return estimator
    if isinstance(estimator, type):
        raise ParameterError(
            f"as_model: `estimator` must be a fitted estimator. Got the class {estimator.__name__}."
        )
    library, name = type(estimator).__module__.partition(".")[0], type(estimator).__name__
    if library == "hmmlearn" and name == "MultinomialHMM" and _hmmlearn() < (0, 2, 8):
        name = "CategoricalHMM"
    convert = _CONVERSIONS.get((library, name))
    if convert is None:
        known = ", ".join(f"{lib}'s {kind}" for lib, kind in _CONVERSIONS)
        raise ParameterError(
            f"as_model: `estimator` must be one of {known}. Got {library}'s {name}, whose distribution is "
            "none of mercer.models."
        )
    missing = [part for part in _FITTED[name] if not hasattr(estimator, part)]
    if missing:
        raise InputError(f"as_model: this {name} is not fitted: it has no {missing[0]}. Call its fit first.")
    return convert(estimator)


def _mixture(e: Any) -> Mixture:
    shape = (len(e.weights_), e.means_.shape[1])
    covariances = full_covariances(e.covariances_, e.covariance_type, *shape)
    return Mixture(e.weights_, [Normal(m, S) for m, S in zip(e.means_, covariances, strict=True)])


def _gaussian_hmm(e: Any) -> HMM:
    # Not `covars_`: for spherical covariances hmmlearn makes too many matrices of it.
    covariances = full_covariances(e._covars_, e.covariance_type, *e.means_.shape)
    normals = [Normal(m, S) for m, S in zip(e.means_, covariances, strict=True)]
    return HMM(e.startprob_, e.transmat_, normals)


def _categorical_hmm(e: Any) -> HMM:
    return HMM(e.startprob_, e.transmat_, e.emissionprob_)


def _hmmlearn() -> tuple[int, ...]:
    return tuple(int(part) for part in version("hmmlearn").split(".")[:3] if part.isdigit())


_CONVERSIONS = {
    ("sklearn", "GaussianMixture"): _mixture,
    ("hmmlearn", "GaussianHMM"): _gaussian_hmm,
    ("hmmlearn", "CategoricalHMM"): _categorical_hmm,
}

#: What a fitted estimator has; parameters of hidden Markov models can also be set by hand, one by one.
_FITTED = {
    "GaussianMixture": ("weights_", "means_", "covariances_"),
    "GaussianHMM": ("startprob_", "transmat_", "means_", "_covars_"),
    "CategoricalHMM": ("startprob_", "transmat_", "emissionprob_"),
}
