"""Kernels on maximum-likelihood parameters."""

import numpy as np
import pytest

from mercer.errors import InputError, ParameterError
from mercer.kernels import DTW, Gaussian, Linear, ParameterKernel, ProbabilityProduct
from mercer.machines import SVC
from mercer.models import HMM, MarkovChain, Mixture, Multinomial, Normal

RNG = np.random.default_rng(0)
STRINGS = ["abab", "abba", "bbbb", "aab", "a"]


def chain(x):
    return MarkovChain.fit([x], alphabet="ab", pseudocount=0.5)


def test_parameters_are_in_the_order_of_scores():
    normal = Normal([1.0, 2.0], [[3.0, 0.5], [0.5, 4.0]])
    assert normal.parameters.tolist() == [1, 2, 3, 0.5, 4]
    assert Multinomial([0.25, 0.75]).parameters.tolist() == [0.25, 0.75]
    mixture = Mixture([0.25, 0.75], [Normal([1.0], [[2.0]]), Normal([3.0], [[4.0]])])
    assert mixture.parameters.tolist() == [0.25, 0.75, 1, 2, 3, 4]
    hidden = HMM([0.6, 0.4], [[0.7, 0.3], [0.2, 0.8]], [[0.5, 0.3, 0.2], [0.1, 0.2, 0.7]], "abc")
    assert hidden.parameters.tolist() == [0.6, 0.4, 0.7, 0.3, 0.2, 0.8, 0.5, 0.3, 0.2, 0.1, 0.2, 0.7]
    vectors = HMM([1.0], [[1.0]], [normal])
    assert vectors.parameters.tolist() == [1, 1, 1, 2, 3, 0.5, 4]
    for model, x in ((normal, [0.0, 0.0]), (mixture, [0.0]), (hidden, "abc"), (vectors, [[0.0, 0.0]])):
        assert len(model.parameters) == len(model.score(x))


def test_chains_of_single_sequences():
    k = ParameterKernel(chain, Gaussian(0.7))
    theta = np.array([chain(x).parameters for x in STRINGS])
    np.testing.assert_allclose(k.block(STRINGS), Gaussian(0.7).block(theta), rtol=1e-12)
    assert k.certificate.is_psd
    assert not ParameterKernel(chain, Linear() - 2 * Gaussian(1.0)).certificate.is_psd


def test_models_of_data_sets_under_a_kernel_on_models():
    sets = [RNG.normal(i % 2, 1, (30, 2)) for i in range(12)]
    k = ParameterKernel(Normal.fit, ProbabilityProduct())
    expected = ProbabilityProduct().block([Normal.fit(X) for X in sets])
    np.testing.assert_allclose(k.block(sets), expected, rtol=1e-12)
    y = np.arange(12) % 2
    assert SVC(k).fit(sets[:8], y[:8]).score(sets[8:], y[8:]) == 1
    hidden = ParameterKernel(
        lambda x: HMM.fit([x], 2, alphabet="ab", max_iter=3, random_state=0),
        ProbabilityProduct(1.0, length=5).normalized(),
    )
    K = hidden.block(STRINGS)
    assert np.linalg.eigvalsh(K).min() > -1e-12
    np.testing.assert_allclose(np.diag(K), 1)


def test_bad_fits():
    with pytest.raises(ParameterError, match="`fit` must be a function"):
        ParameterKernel(3, Linear())
    with pytest.raises(ParameterError, match="`k` must be a kernel"):
        ParameterKernel(chain, 3)
    with pytest.raises(InputError, match="`fit` must return a model"):
        ParameterKernel(lambda x: [1.0], Linear()).block(STRINGS)
    with pytest.raises(InputError):
        ParameterKernel(chain, DTW()).block(STRINGS)
    with pytest.raises(InputError, match="'c'"):
        ParameterKernel(chain, Linear()).block(["abc"])
