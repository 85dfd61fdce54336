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
    if library == "hmmlearn" and name == "MultinomialHMM":
        release = tuple(int(part) for part in version("hmmlearn").split(".")[:3] if part.isdigit())
        name = "CategoricalHMM" if release < (0, 2, 8) else name
    #: What a fitted estimator has; parameters of hidden Markov models can also be set by hand, one by one.
    known = {
        ("sklearn", "GaussianMixture"): ("weights_", "means_", "covariances_"),
        ("hmmlearn", "GaussianHMM"): ("startprob_", "transmat_", "means_", "_covars_"),
        ("hmmlearn", "CategoricalHMM"): ("startprob_", "transmat_", "emissionprob_"),
    }
    if (library, name) not in known:
        names = ", ".join(f"{lib}'s {kind}" for lib, kind in known)
        raise ParameterError(
            f"as_model: `estimator` must be one of {names}. Got {library}'s {name}, whose distribution is "
            "none of mercer.models."
        )
    missing = [part for part in known[library, name] if not hasattr(estimator, part)]
    if missing:
        raise InputError(f"as_model: this {name} is not fitted: it has no {missing[0]}. Call its fit first.")
    e = estimator
    if name == "CategoricalHMM":
        return HMM(e.startprob_, e.transmat_, e.emissionprob_)
    # Not `covars_`: for spherical covariances hmmlearn makes too many matrices of it.
    covariances = e.covariances_ if name == "GaussianMixture" else e._covars_
    covariances = full_covariances(covariances, e.covariance_type, *e.means_.shape)
    normals = [Normal(m, S) for m, S in zip(e.means_, covariances, strict=True)]
    return Mixture(e.weights_, normals) if library == "sklearn" else HMM(e.startprob_, e.transmat_, normals)
