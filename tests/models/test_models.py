"""Models against enumeration, finite differences, scikit-learn and hmmlearn's definitions."""

import itertools
import pickle

import numpy as np
import pytest
import scipy.special
import scipy.stats

from mercer.errors import InputError, MemoryLimitError, ParameterError
from mercer.models import HMM, Dirichlet, MarkovChain, Mixture, Multinomial, Normal

pytestmark = pytest.mark.native

RNG = np.random.default_rng(0)
P = np.array([0.5, 0.2, 0.3])
START, MOVES = np.array([0.6, 0.4]), np.array([[0.7, 0.3], [0.2, 0.8]])
SHOWN = np.array([[0.5, 0.3, 0.2], [0.1, 0.2, 0.7]])
HIDDEN = HMM(START, MOVES, SHOWN, "abc")
NORMALS = [Normal([0.0, 1.0], [[1.0, 0.3], [0.3, 2.0]]), Normal([2.0, -1.0], [[0.5, 0.0], [0.0, 0.7]])]
VECTOR_HMM = HMM(START, MOVES, NORMALS)
MIXTURE = Mixture([0.3, 0.7], NORMALS)


def likelihood_by_enumeration(model, x):
    """Sum over hidden paths, with what the posterior expects of symbols and transitions."""
    S = len(model.start)
    total, counts, moves = 0.0, np.zeros((S, 3)), np.zeros((S, S))
    codes = ["abc".index(c) for c in x]
    for path in itertools.product(range(S), repeat=len(x)):
        p = model.start[path[0]] * np.prod([model.emissions[s, c] for s, c in zip(path, codes, strict=True)])
        p *= np.prod([model.transitions[a, b] for a, b in itertools.pairwise(path)])
        total += p
        for s, c in zip(path, codes, strict=True):
            counts[s, c] += p
        for a, b in itertools.pairwise(path):
            moves[a, b] += p
    return total, counts / total, moves / total


@pytest.mark.parametrize("x", ["a", "ab", "cabbc", "aaaaaaa"])
def test_hidden_paths_are_summed(x):
    total, counts, moves = likelihood_by_enumeration(HIDDEN, x)
    assert HIDDEN.log_likelihood(x) == pytest.approx(np.log(total), rel=1e-13)
    np.testing.assert_allclose(HIDDEN.symbol_counts([x])[0], counts, rtol=1e-12)
    np.testing.assert_allclose(HIDDEN.expected([x]).moves[0], moves, rtol=1e-12, atol=1e-15)


def test_batches_slices_and_threads_agree():
    X = ["cab", "", "a", "bbbcc", "abcabc"]
    all_of = HIDDEN.scores(X)
    for i, x in enumerate(X):
        np.testing.assert_array_equal(HIDDEN.scores([x])[0], all_of[i])
    part = HIDDEN.domain.validate(X).take(slice(2, 5))
    np.testing.assert_array_equal(HIDDEN.scores(part), all_of[2:])
    np.testing.assert_array_equal(HIDDEN.log_likelihoods(part), HIDDEN.log_likelihoods(X)[2:])


def test_long_sequences_do_not_underflow():
    x = "".join(RNG.choice(list("abc"), 100_000))
    short = HIDDEN.log_likelihood(x[:1000])
    value = HIDDEN.log_likelihood(x)
    assert np.isfinite(value)
    assert value / 100_000 == pytest.approx(short / 1000, rel=0.05)
    # exactly: the product of the matrices, in exponents and mantissas
    a, exponent = START * SHOWN[:, "abc".index(x[0])], 0
    for c in x[1:]:
        a = (a @ MOVES) * SHOWN[:, "abc".index(c)]
        if a.sum() < 2.0**-300:
            a, exponent = a * 2.0**300, exponent - 300
    assert value == pytest.approx(np.log(a.sum()) + exponent * np.log(2), rel=1e-12)
    posteriors = HIDDEN.expected([x]).posteriors
    np.testing.assert_allclose(posteriors.sum(axis=1), 1, rtol=1e-9)


def softmax_model(kind, theta):
    """The model whose probabilities are softmax of blocks of logits, and whose other parameters are theta."""
    if kind == "multinomial":
        return Multinomial(scipy.special.softmax(theta))
    if kind == "markov":
        return MarkovChain(
            scipy.special.softmax(theta[:2]), scipy.special.softmax(theta[2:].reshape(2, 2), axis=1), "ab"
        )
    if kind == "hmm":
        return HMM(
            scipy.special.softmax(theta[:2]),
            scipy.special.softmax(theta[2:6].reshape(2, 2), axis=1),
            scipy.special.softmax(theta[6:].reshape(2, 3), axis=1),
            "abc",
        )
    if kind == "normal":
        return normal_of(theta)
    if kind == "mixture":
        return Mixture(scipy.special.softmax(theta[:2]), [normal_of(theta[2:7]), normal_of(theta[7:])])
    return HMM(
        scipy.special.softmax(theta[:2]),
        scipy.special.softmax(theta[2:6].reshape(2, 2), axis=1),
        [normal_of(theta[6:11]), normal_of(theta[11:])],
    )


def normal_of(theta):
    a, b, c = theta[2:]
    return Normal(theta[:2], [[a, b], [b, c]])


def lower(model):
    return [*model.mean, *model.covariance[np.tril_indices(len(model.mean))]]


CASES = {
    "multinomial": (np.log(P), [[3, 1, 0], [0, 0, 2]]),
    "markov": (np.log([0.6, 0.4, 0.7, 0.3, 0.2, 0.8]), ["abba", "b", ""]),
    "hmm": (np.log([*START, *MOVES.ravel(), *SHOWN.ravel()]), ["abca", "c"]),
    "normal": (np.array(lower(NORMALS[0])), RNG.standard_normal((2, 2))),
    "mixture": (
        np.array([*np.log([0.3, 0.7]), *lower(NORMALS[0]), *lower(NORMALS[1])]),
        RNG.standard_normal((3, 2)),
    ),
    "vector_hmm": (
        np.array([*np.log([*START, *MOVES.ravel()]), *lower(NORMALS[0]), *lower(NORMALS[1])]),
        [RNG.standard_normal((5, 2)), RNG.standard_normal((1, 2))],
    ),
}


@pytest.mark.parametrize("kind", CASES)
def test_scores_are_derivatives(kind):
    theta, X = CASES[kind]
    model = softmax_model(kind, theta)
    h = 1e-6
    steps = np.eye(len(theta)) * h
    numeric = np.array(
        [
            (
                softmax_model(kind, theta + s).log_likelihoods(X)
                - softmax_model(kind, theta - s).log_likelihoods(X)
            )
            / (2 * h)
            for s in steps
        ]
    ).T
    np.testing.assert_allclose(model.scores(X), numeric, rtol=1e-6, atol=1e-6)


def test_raw_and_tangent_scores():
    model = Multinomial(P)
    np.testing.assert_allclose(model.score([1, 2, 0], "raw"), [2, 10, 0])
    tangent = model.score([1, 2, 0], "tangent")
    assert tangent.sum() == pytest.approx(0)
    np.testing.assert_allclose(tangent, np.array([2, 10, 0]) - 4)


@pytest.mark.parametrize("parametrization", ["softmax", "tangent", "raw"])
def test_the_information_is_the_covariance_of_scores(parametrization):
    scores = Multinomial(P).scores(np.eye(3), parametrization)
    exact = sum(p * np.outer(s, s) for p, s in zip(P, scores, strict=True))
    np.testing.assert_allclose(Multinomial(P).information(parametrization), exact, atol=1e-14)


def test_the_information_of_a_normal_by_quadrature():
    model = Normal([0.5, -1.0], [[1.0, 0.3], [0.3, 2.0]])
    nodes, weights = np.polynomial.hermite_e.hermegauss(12)
    grid = np.array(list(itertools.product(nodes, repeat=2)))
    w = np.array([a * b for a, b in itertools.product(weights, repeat=2)]) / (2 * np.pi)
    X = model.mean + grid @ np.linalg.cholesky(model.covariance).T
    U = model.scores(X)
    np.testing.assert_allclose(model.information(), U.T @ (w[:, None] * U), atol=1e-12)


def test_likelihoods_are_those_of_scipy():
    X = RNG.standard_normal((4, 2))
    for g in NORMALS:
        peer = scipy.stats.multivariate_normal(g.mean, g.covariance).logpdf(X)
        np.testing.assert_allclose(g.log_likelihoods(X), peer)
    density = sum(w * np.exp(g.log_likelihoods(X)) for w, g in zip([0.3, 0.7], NORMALS, strict=True))
    np.testing.assert_allclose(MIXTURE.log_likelihoods(X), np.log(density))
    assert Multinomial(P).log_likelihood([3, 1, 2]) == pytest.approx(
        scipy.stats.multinomial(6, P).logpmf([3, 1, 2])
    )


def test_fits_are_maxima():
    counts = RNG.poisson(3, (20, 3))
    model = Multinomial.fit(counts)
    np.testing.assert_allclose(model.scores(counts).sum(axis=0), 0, atol=1e-10)
    X = RNG.standard_normal((50, 2))
    np.testing.assert_allclose(Normal.fit(X).scores(X).sum(axis=0), 0, atol=1e-9)
    strings = MarkovChain(START, MOVES, "ab").sample_sequences([20] * 30, random_state=0)
    chain = MarkovChain.fit(strings, alphabet="ab")
    np.testing.assert_allclose(chain.scores(strings).sum(axis=0), 0, atol=1e-10)


def test_baum_welch_raises_the_likelihood_and_finds_the_model():
    X = HIDDEN.sample_sequences([60] * 40, random_state=1)
    one = HMM.fit(X, 2, alphabet="abc", max_iter=1, random_state=0)
    many = HMM.fit(X, 2, alphabet="abc", max_iter=200, tol=1e-7, random_state=0)
    assert many.log_likelihoods(X).sum() > one.log_likelihoods(X).sum()
    assert many.log_likelihoods(X).sum() > HIDDEN.log_likelihoods(X).sum() - 1
    assert np.abs(many.scores(X).sum(axis=0)).max() < 0.2
    series = VECTOR_HMM.sample_sequences([50] * 20, random_state=2)
    fitted = HMM.fit(series, 2, random_state=0)
    assert not fitted.is_discrete
    assert fitted.log_likelihoods(series).sum() > VECTOR_HMM.log_likelihoods(series).sum() - 20


def test_samples_have_the_probabilities():
    X = MIXTURE.sample(20_000, random_state=0)
    np.testing.assert_allclose(X.mean(axis=0), 0.3 * NORMALS[0].mean + 0.7 * NORMALS[1].mean, atol=0.05)
    draws = Multinomial(P).sample(20_000, random_state=0)
    np.testing.assert_allclose(draws.mean(axis=0), P, atol=0.02)
    assert Multinomial(P).sample(5, 3).tolist() == Multinomial(P).sample(5, 3).tolist()


def test_models_are_values():
    for model in (Multinomial(P), NORMALS[0], MIXTURE, MarkovChain(START, MOVES), HIDDEN, VECTOR_HMM):
        names = {
            "HMM": HMM,
            "MarkovChain": MarkovChain,
            "Mixture": Mixture,
            "Multinomial": Multinomial,
            "Normal": Normal,
        }
        assert eval(repr(model), names) == model
        assert pickle.loads(pickle.dumps(model)) == model
        assert hash(model) == hash(pickle.loads(pickle.dumps(model)))
    assert Multinomial(P) != Multinomial(P[::-1])
    with pytest.raises(ValueError, match="read-only"):
        Multinomial(P).p[0] = 1


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Multinomial([0.5, 0.6]), "`p` must be numbers >= 0 that add up to 1. Got the sum 1.1"),
        (lambda: Multinomial([]), "`p` must be a vector of probabilities"),
        (lambda: Normal([0, 0], [[1, 2], [2, 1]]), "`covariance` must be positive definite"),
        (lambda: Normal([0, 0], [[1, 1], [1, 1]]), "singular"),
        (lambda: Normal([0], [[1, 0], [0, 1]]), "`covariance` must be a symmetric matrix of shape"),
        (lambda: Mixture([1.0], NORMALS), "`normals` must be 1 Normal"),
        (lambda: HMM(START, MOVES, SHOWN, "ab"), "`alphabet` must have 3 different symbols"),
        (lambda: HMM(START, MOVES[:1], SHOWN), "`transitions` must have shape"),
        (lambda: HMM(START, MOVES, SHOWN[:1]), "a row for each of the 2 states"),
        (lambda: HMM(START, MOVES, NORMALS[:1]), "`emissions` must be 2 Normal"),
        (lambda: HMM.fit(["ab"], 0), "`n_states` must be an integer >= 1"),
        (lambda: Multinomial(P).scores([[1, 0, 0]], "logit"), "`parametrization` must be one of"),
    ],
)
def test_bad_parameters(make, message):
    with pytest.raises(ParameterError, match=message):
        make()


def test_bad_observations():
    with pytest.raises(InputError, match="'d'"):
        HIDDEN.log_likelihood("abd")
    sure = Multinomial([1.0, 0.0])
    assert sure.log_likelihood([0, 1]) == -np.inf
    with pytest.raises(InputError, match="observation 1 has probability 0"):
        sure.scores([[1, 0], [0, 1]])
    never = HMM([1.0, 0.0], [[1.0, 0.0], [0.5, 0.5]], [[1.0, 0.0], [0.0, 1.0]], "ab")
    assert never.log_likelihood("ab") == -np.inf
    assert never.log_likelihood("") == 0
    with pytest.raises(InputError, match="probability 0"):
        never.scores(["aa", "ab"])
    with pytest.raises(InputError, match="entries >= 0"):
        Multinomial(P).log_likelihood([1, -1, 0])
    with pytest.raises(InputError, match="no counts"):
        Multinomial.fit(np.zeros((2, 3)))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Normal([np.nan], [[1.0]]), "Normal: `mean` must be finite numbers"),
        (lambda: Normal([0.0], [[np.inf]]), "Normal: `covariance` must be finite numbers"),
        (lambda: Normal("a", [[1.0]]), "Normal: `mean` must be numbers"),
        (lambda: Normal.fit([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]]), "singular"),
        (lambda: Normal.fit([[1.0], [2.0]], ridge=-1), "Normal.fit: `ridge` must be a finite number >= 0"),
        (lambda: Multinomial([np.nan, 1.0]), "Multinomial: `p` must be finite numbers"),
        (lambda: Multinomial.fit([[1, 2]], pseudocount=np.nan), "`pseudocount` must be a finite number >= 0"),
        (lambda: Mixture([1.0], 3), "`normals` must be 1 Normal, one for each weight. Got 3"),
        (lambda: Mixture.fit([[0.0], [1.0]], 1, covariance_type="none"), "`covariance_type` must be one of"),
        (lambda: Mixture.fit([[0.0], [1.0]], 0), "`n_components` must be an integer >= 1"),
        (lambda: MarkovChain.fit(["ab"], pseudocount=-1), "MarkovChain.fit: `pseudocount` must be"),
        (lambda: HMM.fit(["ab"], 2, pseudocount=-1), "HMM.fit: `pseudocount` must be"),
        (lambda: HMM.fit(["ab"], 2, tol="x"), "HMM.fit: `tol` must be"),
        (lambda: HMM.fit(["ab"], 2, max_iter=-3), "HMM.fit: `max_iter` must be an integer >= 0"),
        (lambda: HMM(START, MOVES, [NORMALS[0], 3]), "`emissions` must be 2 Normal .* Got Normal, int"),
        (lambda: NORMALS[0].sample(-1), "Normal.sample: `n` must be an integer >= 0"),
        (lambda: HIDDEN.sample_sequences([3, -1]), "sample_sequences: `lengths` must be an integer >= 0"),
        (lambda: HIDDEN.sample_sequences(5), "`lengths` must be a sequence of integers. Got 5"),
        (
            lambda: HMM(START, MOVES, SHOWN, 3),
            "HMM: `alphabet` must be a sequence of hashable symbols. Got 3",
        ),
        (lambda: HMM(START, MOVES, SHOWN, [[1], [2], [3]]), "HMM: `alphabet` must be a sequence of hashable"),
        (lambda: MarkovChain.fit(["ab"], alphabet=2), "MarkovChain.fit: `alphabet` must be a sequence"),
        (lambda: HMM.fit(["ab"], 2, alphabet=2), "HMM.fit: `alphabet` must be a sequence"),
        (lambda: HMM.fit(["ab"], 2, random_state="x"), "`random_state` must be None, an integer >= 0 or"),
        (lambda: Dirichlet("ab"), "Dirichlet: `alpha` must be numbers. Got 'ab'"),
    ],
)
def test_bad_arguments_are_named(make, message):
    with pytest.raises(ParameterError, match=message):
        make()


def test_bad_data_are_named():
    with pytest.raises(InputError, match="at least 3 rows for 3 component"):
        Mixture.fit([[0.0], [1.0]], 3)
    with pytest.raises(InputError, match="NaN in row 1, column 0"):
        Mixture.fit([[0.0], [np.nan]], 1)
    with pytest.raises(InputError, match="NaN at step 0"):
        HMM.fit([[[np.nan], [1.0]]], 2)
    with pytest.raises(InputError, match=r"X\[0\]\[1\] must be one of 'a'. Got 'b'"):
        MarkovChain.fit(["ab"], alphabet="a")
    with pytest.raises(InputError, match="no symbols"):
        HMM.fit([], 2)
    for X in (None, 5):
        with pytest.raises(InputError, match="X must be a sequence of strings or of sequences"):
            HMM.fit(X, 2)
    with pytest.raises(InputError, match="variances larger than any float"):
        Normal.fit([[1e200], [-1e200]])
    far = [[1e200, 0.0]]  # the density is smaller than any float
    assert MIXTURE.log_likelihoods(far)[0] == -np.inf
    with pytest.raises(InputError, match="observation 0 has probability 0"):
        MIXTURE.scores(far)
    with pytest.raises(InputError, match="observation 1 has probability 0"):
        MIXTURE.responsibilities([[0.0, 0.0], *far])
    with pytest.raises(InputError, match="Normal: observation 0 has probability 0"):
        NORMALS[0].scores(far)
    assert [x.shape for x in VECTOR_HMM.sample_sequences([0, 2], random_state=0)] == [(0, 2), (2, 2)]


def test_a_step_far_from_all_states_leaves_other_sequences_alone():
    model = HMM([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], [Normal([0.0], [[1.0]]), Normal([3.0], [[1.0]])])
    near = [[[0.0]], [[1.0], [2.0]]]
    alone = model.log_likelihoods(near)
    together = model.log_likelihoods([[[1e140]], *near])
    np.testing.assert_array_equal(together[1:], alone)
    assert together[0] < -1e279


def test_steps_beyond_all_logarithms_are_impossible():
    narrow = [Normal([0.0], [[1e-200]]), Normal([3.0], [[1e-200]])]
    model = HMM([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], narrow)
    X = [[[0.0], [1e140], [3.0]], [[0.0], [3.0]]]
    assert np.isneginf(model.log_likelihoods(X)).tolist() == [True, False]
    with pytest.raises(InputError, match="HMM: observation 0 has probability 0"):
        model.scores(X)


def test_a_component_far_away_adds_nothing():
    wide = Normal([0.0], [[1e280]])
    model = Mixture([0.5, 0.5], [Normal([0.0], [[1e-200]]), wide])
    scores = model.scores([[1e140]])[0]
    np.testing.assert_array_equal(scores[2:4], 0.0)
    np.testing.assert_allclose(scores[4:], wide.scores([[1e140]])[0])


def test_iterators_are_data_as_lists_are():
    X = ["ab", "ba", "abab"]
    assert MarkovChain.fit(iter(X)) == MarkovChain.fit(X)
    assert HMM.fit(iter(X), 2, random_state=0) == HMM.fit(X, 2, random_state=0)
    series = [np.array([[0.0], [1.0]]), np.array([[2.0]])]
    assert HMM.fit(iter(series), 2, random_state=0) == HMM.fit(series, 2, random_state=0)


def test_mixtures_are_fitted_with_generators():
    X = np.random.default_rng(0).standard_normal((30, 2))
    one, two = (Mixture.fit(X, 2, random_state=np.random.default_rng(5)) for _ in range(2))
    assert one == two


def test_scores_state_their_memory_first(monkeypatch):
    monkeypatch.setenv("MERCER_MEMORY", "1KiB")
    assert HIDDEN.scores(["ab"] * 10).shape == (10, 12)
    with pytest.raises(MemoryLimitError, match="scores of 11 observations, 12 parameters each"):
        HIDDEN.scores(["ab"] * 11)


def test_sequences_of_one_length_are_drawn():
    chain = MarkovChain([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], "ab")
    hidden = HMM([1.0], [[1.0]], Normal([2.0], [[1.0]]))
    assert [len(x) for x in chain.sample(3, 0, length=5)] == [5] * 3
    assert chain.sample(3, 0, length=5) == chain.sample_sequences([5] * 3, 0)
    assert [x.shape for x in hidden.sample(2, 0, length=4)] == [(4, 1)] * 2
    with pytest.raises(ParameterError, match="sample: `length` must be an integer"):
        hidden.sample(2)
    with pytest.raises(ParameterError, match="sample: `length`"):
        chain.sample(2, length=-1)


def test_sequences_do_not_depend_on_their_company():
    rng = np.random.default_rng(3)
    A = np.array([[0.0, 1.0, 0.0], [0.5, 0.0, 0.5], [0.2, 0.3, 0.5]])
    model = HMM([1.0, 0.0, 0.0], A, [[1.0, 0.0], [0.3, 0.7], [0.5, 0.5]], alphabet="ab")
    lengths = [
        0,
        1,
        2,
        3,
        5,
        40,
        7,
        3000,
        200,
        1,
        6000,
    ]  # 3 x 3000 and 3 x 6000 are too many to go side by side
    X = [*model.sample_sequences(lengths, rng), "ba", "b" * 50]  # two that are impossible
    together = model._path_sums(model.domain.validate(X), shown=True)
    posteriors = model.expected(X).posteriors
    starts = np.cumsum([0, *map(len, X)])
    for i, x in enumerate(X):
        alone = model._path_sums(model.domain.validate([x]), shown=True)
        for one, many in zip(alone, together, strict=True):
            np.testing.assert_array_equal(many[i], one[0])
        np.testing.assert_array_equal(posteriors[starts[i] : starts[i + 1]], model.expected([x]).posteriors)
        if i < len(lengths):
            shown = [model.alphabet.index(c) for c in x]
            counts = np.array(
                [[p[np.equal(shown, k)].sum() for k in (0, 1)] for p in model.expected([x]).posteriors.T]
            )
            np.testing.assert_allclose(together[3][i], counts, rtol=1e-11, atol=1e-13)
            np.testing.assert_allclose(together[2][i].sum(), max(len(x) - 1, 0), rtol=1e-10)
        else:
            assert together[0][i] == -np.inf
            assert not together[3][i].any()
            assert not together[2][i].any()


SCALES = [1e-12, 1e-8, 1.0, 1e12]


@pytest.mark.parametrize("covariance_type", ["full", "tied", "diag", "spherical"])
@pytest.mark.parametrize("scale", SCALES)
def test_a_mixture_of_scaled_data_is_the_scaled_mixture(scale: float, covariance_type: str) -> None:
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(0, 1, (60, 2)), rng.normal(5, 2, (40, 2))])
    own, other = (Mixture.fit(Z, 2, covariance_type=covariance_type, random_state=0) for Z in (X, scale * X))
    np.testing.assert_allclose(other.weights, own.weights, rtol=1e-6)
    np.testing.assert_allclose(other.responsibilities(scale * X), own.responsibilities(X), atol=1e-6)
    for g, h in zip(other.normals, own.normals, strict=True):
        np.testing.assert_allclose(g.mean, scale * h.mean, rtol=1e-6)
        np.testing.assert_allclose(g.covariance, scale**2 * h.covariance, rtol=1e-6)
    one = Mixture.fit(scale * X, 1).normals[0].covariance
    np.testing.assert_allclose(one, scale**2 * np.cov(X.T, bias=True), rtol=1e-5)


@pytest.mark.parametrize("scale", SCALES)
def test_a_hidden_markov_model_of_scaled_series_is_the_scaled_model(scale: float) -> None:
    rng = np.random.default_rng(0)
    series = [np.concatenate([rng.normal(0, 1, (20, 1)), rng.normal(6, 1, (20, 1))]) for _ in range(3)]
    own = HMM.fit(series, 2, random_state=0)
    other = HMM.fit([scale * x for x in series], 2, random_state=0)
    np.testing.assert_allclose(other.transitions, own.transitions, rtol=1e-6)
    for g, h in zip(other.emissions, own.emissions, strict=True):
        np.testing.assert_allclose(g.mean, scale * h.mean, rtol=1e-6)
        np.testing.assert_allclose(g.covariance, scale**2 * h.covariance, rtol=1e-6)
    one = HMM.fit([scale * x for x in series], 1, random_state=0).emissions[0].covariance
    np.testing.assert_allclose(one, 1.001 * scale**2 * np.var(np.concatenate(series)), rtol=1e-6)


def test_data_without_a_spread_are_an_error() -> None:
    for fit in (lambda: Mixture.fit(np.ones((5, 2)), 1), lambda: HMM.fit([np.ones((5, 2))], 1)):
        with pytest.raises(InputError, match="X must have rows that differ"):
            fit()
