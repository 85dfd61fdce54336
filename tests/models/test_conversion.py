"""Models of scikit-learn and hmmlearn: the same log-likelihoods after conversion."""

import numpy as np
import pytest
from sklearn.mixture import BayesianGaussianMixture, GaussianMixture
from sklearn.naive_bayes import MultinomialNB

from mercer.errors import InputError, ParameterError
from mercer.models import Multinomial, as_model, conversion

RNG = np.random.default_rng(0)
POINTS = np.vstack([RNG.normal(0, 1, (40, 2)), RNG.normal(4, 0.5, (40, 2))])
TYPES = ["full", "tied", "diag", "spherical"]


@pytest.mark.parametrize("kind", TYPES)
def test_mixtures_of_scikit_learn(kind):
    peer = GaussianMixture(2, covariance_type=kind, random_state=0).fit(POINTS)
    model = as_model(peer)
    np.testing.assert_allclose(model.log_likelihoods(POINTS), peer.score_samples(POINTS), rtol=1e-10)
    np.testing.assert_allclose(model.responsibilities(POINTS), peer.predict_proba(POINTS), atol=1e-10)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", TYPES)
def test_vector_chains_of_hmmlearn(kind):
    hmm = pytest.importorskip("hmmlearn.hmm")
    peer = hmm.GaussianHMM(2, kind, random_state=0, n_iter=5).fit(POINTS, [30, 50])
    model = as_model(peer)
    series = [POINTS[:30], POINTS[30:]]
    expected = [peer.score(x) for x in series]
    np.testing.assert_allclose(model.log_likelihoods(series), expected, rtol=1e-9)
    np.testing.assert_allclose(
        model.expected(series[:1]).posteriors, peer.predict_proba(series[0]), atol=1e-9
    )


@pytest.mark.filterwarnings("ignore")
def test_symbol_chains_of_hmmlearn(monkeypatch):
    hmm = pytest.importorskip("hmmlearn.hmm")
    symbols = RNG.integers(0, 3, (60, 1))
    peer = hmm.CategoricalHMM(2, random_state=0, n_iter=5).fit(symbols)
    model = as_model(peer)
    assert model.log_likelihood(symbols.ravel().tolist()) == pytest.approx(peer.score(symbols), rel=1e-10)
    # today's MultinomialHMM draws several symbols at a step; before 0.2.8 it was the one above
    old = hmm.MultinomialHMM(2)
    old.startprob_, old.transmat_, old.emissionprob_ = peer.startprob_, peer.transmat_, peer.emissionprob_
    with pytest.raises(ParameterError, match="hmmlearn's MultinomialHMM, whose distribution is none"):
        as_model(old)
    monkeypatch.setattr(conversion, "version", lambda name: "0.2.7")
    assert as_model(old) == model
    monkeypatch.setattr(conversion, "version", lambda name: "0.2.8.post31+gabc")
    with pytest.raises(ParameterError, match="MultinomialHMM"):
        as_model(old)


def test_models_that_are_not_fitted_or_not_ours():
    hmm = pytest.importorskip("hmmlearn.hmm")
    for estimator in (GaussianMixture(2), hmm.GaussianHMM(2), hmm.CategoricalHMM(2)):
        with pytest.raises(InputError, match=f"this {type(estimator).__name__} is not fitted"):
            as_model(estimator)
    for estimator in (BayesianGaussianMixture(), MultinomialNB(), 3):
        with pytest.raises(ParameterError, match=f"Got .*'s {type(estimator).__name__}"):
            as_model(estimator)
    model = Multinomial([0.5, 0.5])
    assert as_model(model) is model


def test_models_that_are_set_by_half_are_not_fitted():
    hmm = pytest.importorskip("hmmlearn.hmm")
    peer = hmm.GaussianHMM(2)
    peer.startprob_ = np.array([0.5, 0.5])
    with pytest.raises(InputError, match="not fitted: it has no transmat_"):
        as_model(peer)
    with pytest.raises(ParameterError, match="Got the class GaussianMixture"):
        as_model(GaussianMixture)
