"""Probability products of models against quadrature and enumeration of all sequences."""

import itertools

import numpy as np
import pytest
from sklearn.mixture import GaussianMixture

from mercer.errors import GradientError, InputError, ParameterError
from mercer.gram import gram
from mercer.kernels import GaussianProduct, Linear, ProbabilityProduct
from mercer.machines import SVC, KernelRidge
from mercer.models import HMM, MarkovChain, Mixture, Multinomial, Normal

RNG = np.random.default_rng(0)
LINE = [Normal([0.3], [[0.5]]), Normal([-1.0], [[2.0]]), Normal([0.0], [[1.0]])]
MIXTURES = [
    Mixture([0.3, 0.7], LINE[:2]),
    Mixture([1.0], LINE[2:]),
    Mixture([0.2, 0.3, 0.5], [LINE[1], LINE[2], LINE[0]]),
]
CHAINS = [
    MarkovChain([0.6, 0.4], [[0.7, 0.3], [0.2, 0.8]], "ab"),
    MarkovChain([0.5, 0.5], [[0.1, 0.9], [0.6, 0.4]], "ba"),
    MarkovChain([0.2, 0.3, 0.5], [[0.2, 0.3, 0.5], [0.1, 0.1, 0.8], [0.4, 0.6, 0.0]], "cab"),
]
HIDDEN = [
    HMM([0.6, 0.4], [[0.7, 0.3], [0.2, 0.8]], [[0.9, 0.1], [0.3, 0.7]], "ab"),
    HMM([1.0], [[1.0]], [[0.5, 0.2, 0.3]], "bca"),
    HMM([0.2, 0.3, 0.5], [[0.2, 0.3, 0.5]] * 3, [[0.5, 0.5], [0.1, 0.9], [1.0, 0.0]], "ba"),
]


#: Nodes of the trapezoidal rule, which converges fast for densities that vanish at its ends.
GRID, STEP = np.linspace(-30, 30, 601, retstep=True)


def integrals(models, X, power):
    """Sums over the nodes of products of densities, for all pairs."""
    values = np.exp(power * np.array([model.log_likelihoods(X) for model in models]))
    return values @ values.T


def summed(p, q, power, length, alphabet="abc"):
    """Sum over all sequences of a length; symbols that a model does not know have probability 0."""
    total = 0.0
    for x in itertools.product(alphabet, repeat=length):
        if set(x) <= set(p.alphabet) & set(q.alphabet):
            total += np.exp(power * (p.log_likelihood(x) + q.log_likelihood(x)))
    return total


@pytest.mark.parametrize("power", [0.3, 0.5, 1.0, 1.7])
def test_normal_distributions_by_quadrature(power):
    K = ProbabilityProduct(power).block(LINE)
    np.testing.assert_allclose(K, integrals(LINE, GRID[:, None], power) * STEP, rtol=1e-9)
    pairs = [(g.mean, g.covariance) for g in LINE]
    np.testing.assert_allclose(K, GaussianProduct(power).block(pairs), rtol=1e-14)


def test_the_bhattacharyya_affinity_of_normal_distributions():
    p = Normal([1.0, 0.0], [[1.0, 0.3], [0.3, 2.0]])
    q = Normal([0.0, 0.5], [[2.0, -0.1], [-0.1, 0.5]])
    middle, delta = (p.covariance + q.covariance) / 2, p.mean - q.mean
    distance = delta @ np.linalg.solve(middle, delta) / 8 + 0.5 * np.log(
        np.linalg.det(middle) / np.sqrt(np.linalg.det(p.covariance) * np.linalg.det(q.covariance))
    )
    assert ProbabilityProduct()(p, q) == pytest.approx(np.exp(-distance), rel=1e-12)
    assert ProbabilityProduct()(p, p) == pytest.approx(1, rel=1e-12)


def test_mixtures_by_quadrature():
    K = ProbabilityProduct(1.0).block(MIXTURES)
    np.testing.assert_allclose(K, integrals(MIXTURES, GRID[:, None], 1.0) * STEP, rtol=1e-9)


def test_multinomials_are_histograms():
    models = [Multinomial([0.5, 0.2, 0.3]), Multinomial([0.0, 1.0, 0.0])]
    rows = np.array([model.p for model in models])
    for power in (0.3, 1.0):
        k = ProbabilityProduct(power)
        np.testing.assert_array_equal(k.block(models), k.block(rows))
        assert k(*models) == pytest.approx(float((rows[0] ** power) @ (rows[1] ** power)))


@pytest.mark.parametrize("length", [0, 1, 4])
@pytest.mark.parametrize("power", [0.5, 1.0])
def test_markov_chains_by_enumeration(power, length):
    k = ProbabilityProduct(power, length=length)
    expected = [[summed(p, q, power, length) for q in CHAINS] for p in CHAINS]
    np.testing.assert_allclose(k.block(CHAINS), expected, rtol=1e-12)
    np.testing.assert_allclose([[k(p, q) for q in CHAINS] for p in CHAINS], expected, rtol=1e-12)


@pytest.mark.parametrize("length", [0, 1, 5])
def test_hidden_chains_by_enumeration(length):
    k = ProbabilityProduct(1.0, length=length)
    expected = [[summed(p, q, 1.0, length) for q in HIDDEN] for p in HIDDEN]
    np.testing.assert_allclose(k.block(HIDDEN), expected, rtol=1e-12)
    np.testing.assert_allclose(k.block(HIDDEN[:2], HIDDEN[1:]), np.array(expected)[:2, 1:], rtol=1e-12)
    np.testing.assert_allclose([[k(p, q) for q in HIDDEN] for p in HIDDEN], expected, rtol=1e-12)


def test_a_distribution_of_lengths_is_part_of_the_model():
    lengths = np.array([0.1, 0.4, 0.0, 0.3, 0.2])
    for models in (CHAINS, HIDDEN):
        k = ProbabilityProduct(1.0, length=lengths)
        expected = [
            [sum(w**2 * summed(p, q, 1.0, t) for t, w in enumerate(lengths)) for q in models] for p in models
        ]
        np.testing.assert_allclose(k.block(models), expected, rtol=1e-12)
    half = ProbabilityProduct(0.5, length=lengths)
    np.testing.assert_allclose(
        half.diagonal(CHAINS), 1, rtol=1e-12
    )  # each model adds up to 1 over all sequences


def test_hidden_chains_of_vectors_by_quadrature():
    p = HMM([0.6, 0.4], [[0.7, 0.3], [0.2, 0.8]], LINE[:2])
    q = HMM([1.0], [[1.0]], LINE[2:])
    grid = GRID[np.abs(GRID) < 10][::2]
    series = np.array(list(itertools.product(grid, repeat=2)))[:, :, None]
    expected = integrals([p, q], list(series), 1.0) * (2 * STEP) ** 2
    k = ProbabilityProduct(1.0, length=2)
    np.testing.assert_allclose(k.block([p, q]), expected, rtol=1e-9)
    np.testing.assert_allclose(k.block([p, q]), [[k(a, b) for b in (p, q)] for a in (p, q)], rtol=1e-12)


def test_long_sequences_do_not_underflow():
    k = ProbabilityProduct(1.0, length=10_000)
    logs = k.log_block(HIDDEN)
    assert (logs < -1000).all()
    # the growth of the logarithm per step is that of the largest eigenvalue of the moves of pairs of states
    p, q = HIDDEN[0], HIDDEN[2]
    shown = (p.emissions @ q.emissions[:, ::-1].T).ravel()
    top = np.abs(np.linalg.eigvals(np.kron(p.transitions, q.transitions) * shown)).max()
    step = (k.replace(length=10_000).log_block([p], [q]) - k.replace(length=9_000).log_block([p], [q]))[0, 0]
    assert step / 1000 == pytest.approx(np.log(top), rel=1e-9)
    K = k.normalized().block(HIDDEN)
    np.testing.assert_array_equal(np.diag(K), 1)
    expected = np.exp(logs - (np.diag(logs)[:, None] + np.diag(logs)) / 2)
    np.testing.assert_allclose(K, expected, rtol=1e-9, atol=1e-300)
    short = ProbabilityProduct(1.0, length=1_500).normalized()
    twin = HMM(HIDDEN[0].start, HIDDEN[0].transitions, [[0.9001, 0.0999], [0.3, 0.7]], "ab")
    value = short(HIDDEN[0], twin)  # by many digits
    assert value == pytest.approx(short.block([HIDDEN[0], twin])[0, 1], rel=1e-9)
    assert 0.5 < value < 1


def test_kernels_between_data_sets():
    slow = HMM([0.5, 0.5], [[0.95, 0.05], [0.05, 0.95]], [[0.9, 0.1], [0.1, 0.9]], "ab")
    fast = HMM([0.5, 0.5], [[0.6, 0.4], [0.4, 0.6]], [[0.9, 0.1], [0.1, 0.9]], "ab")
    fits = [
        MarkovChain.fit(model.sample_sequences([30] * 4, random_state=i), alphabet="ab", pseudocount=0.5)
        for i, model in enumerate([slow, fast] * 8)
    ]
    y = np.array([0, 1] * 8)
    k = ProbabilityProduct(1.0, length=20).normalized()
    assert SVC(k).fit(fits[:8], y[:8]).score(fits[8:], y[8:]) == 1
    normals = [Normal.fit(RNG.normal(i, 1, (20, 1))) for i in range(6)]
    ridge = KernelRidge(ProbabilityProduct(), alpha=1e-3).fit(normals, np.arange(6.0))
    assert ridge.predict(normals[2:3])[0] == pytest.approx(2, abs=0.2)
    np.testing.assert_allclose(gram(k, fits[:3]).dense(), k.block(fits[:3]))


def test_histograms_keep_their_place_in_expressions():
    rows = RNG.uniform(0, 1, (4, 3))
    for k in (ProbabilityProduct() + Linear(), Linear() + ProbabilityProduct()):
        np.testing.assert_allclose(k.block(rows), np.sqrt(rows) @ np.sqrt(rows).T + rows @ rows.T)
        with pytest.raises(InputError):
            k.block(LINE)
    both = ProbabilityProduct(1.0) * ProbabilityProduct(0.5)
    np.testing.assert_allclose(
        both.block(LINE), ProbabilityProduct(1.0).block(LINE) * ProbabilityProduct().block(LINE)
    )
    centred = ProbabilityProduct().centered(LINE)
    np.testing.assert_allclose(centred.block(LINE).sum(), 0, atol=1e-12)


@pytest.mark.parametrize(
    ("k", "points", "message"),
    [
        (ProbabilityProduct(1.0), HIDDEN, "`length` must be given for models of sequences"),
        (
            ProbabilityProduct(length=3),
            LINE,
            "`length` belongs to models of sequences. Leave it out for Normal",
        ),
        (ProbabilityProduct(length=3), [[0.5, 0.5]], "Leave it out for histograms"),
        (ProbabilityProduct(length=3), HIDDEN, "`power` must be 1 for a HMM. Got 0.5. .*no closed form"),
        (ProbabilityProduct(), MIXTURES, "`power` must be 1 for a Mixture"),
    ],
)
def test_parameters_that_do_not_fit_the_models(k, points, message):
    for run in (k.block, lambda points: k(points[0], points[0]), k.normalized().block):
        with pytest.raises(ParameterError, match=message):
            run(points)


@pytest.mark.parametrize("length", [-1, 1.5, True, "ten", 10**9, [0.5, 0.6], [-1.0, 2.0], [np.nan, 1.0], []])
def test_bad_lengths(length):
    with pytest.raises(ParameterError, match="ProbabilityProduct: `length`"):
        ProbabilityProduct(1.0, length=length)


def test_bad_points():
    k = ProbabilityProduct(1.0)
    plane = Normal([0.0, 0.0], np.eye(2))
    series = HMM([1.0], [[1.0]], LINE[:1])
    with pytest.raises(
        InputError, match=r"models of one class. Got a Normal in X\[0\] and a Mixture in X\[1\]"
    ):
        k.block([LINE[0], MIXTURES[0]])
    with pytest.raises(InputError, match="Normal and Mixture"):
        k.block(LINE, MIXTURES)
    with pytest.raises(InputError, match="histograms and Normal"):
        k.block([[0.5, 0.5]], LINE)
    with pytest.raises(InputError, match="one class"):
        k(LINE[0], MIXTURES[0])
    with pytest.raises(InputError, match=r"X\[0\] and X\[1\] must be models of the same observations"):
        k.block([LINE[0], plane])
    with pytest.raises(InputError, match="same observations"):
        ProbabilityProduct(1.0, length=2)(series, HIDDEN[0])
    with pytest.raises(InputError, match=r"as many outcomes. Got 2 in X\[0\] and 3 in X\[1\]"):
        k.block([Multinomial([0.5, 0.5]), Multinomial([0.5, 0.5, 0.0])])
    with pytest.raises(InputError):
        k.block([3, LINE[0]])
    with pytest.raises(InputError, match=r"Got a GaussianMixture in X\[0\]: .* converted by mercer.models"):
        k.block([GaussianMixture(1)])
    with pytest.raises(GradientError, match="no closed-form gradient for models such as Normal"):
        k.gradient(LINE)
