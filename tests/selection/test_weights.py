"""Learned weights of patterns: against the joint problem, machines on the learned kernel, planted motifs."""

import pickle
import re
from collections import Counter

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold, cross_val_score

import mercer
from mercer.errors import InputError, ParameterError
from mercer.kernels import Gaussian, NGram, Rational, RegexCount, Spectrum
from mercer.machines import SVC, KernelRidge
from mercer.selection import LearnedWeights, learn_weights
from mercer.show import plot_contributions

from ..solvers.mixture.joint import joint_minimum

CRITERIA = ("margin", "ridge", "alignment")


def random_strings(n, length, seed=0, letters="abc"):
    rng = np.random.default_rng(seed)
    return ["".join(rng.choice(list(letters), length)) for _ in range(n)]


def bigrams(X):
    """Counts by brute force, patterns in order of the alphabet."""
    found = [Counter(x[i : i + 2] for i in range(len(x) - 1)) for x in X]
    names = sorted(set().union(*found))
    return np.array([[float(row[z]) for z in names] for row in found]), names


X = random_strings(24, 9)
TWO = np.array(["yes" if "ab" in x or x[0] == "c" else "no" for x in X])
THREE = np.array([x[0] for x in X])
NUMBERS = np.array([x.count("bc") - 0.5 * x.count("aa") + 0.1 * i / len(X) for i, x in enumerate(X)])
F, NAMES = bigrams(X)


def one_against_rest(labels):
    classes = np.unique(labels)
    Y = np.where(labels[:, None] == classes, 1.0, -1.0)
    return Y[:, 1:] if len(classes) == 2 else Y


@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_margin_is_the_joint_minimum(y, C):
    learned = learn_weights(NGram(2), X, y, C=C, trace=30.0)
    least, mu, predictions = joint_minimum(F, one_against_rest(y), 30.0, C=C)
    assert learned.solution.converged
    assert learned.solution.stats["objective"] == pytest.approx(least, rel=2e-6)
    found = np.array([learned.weights.get(z, 0.0) for z in NAMES])
    np.testing.assert_allclose(found, mu, atol=2e-3 * mu.max())
    for y_c, f in zip(one_against_rest(y).T, predictions.T, strict=True):
        machine = SVC(kernel=learned.kernel, C=C, tol=1e-8).fit(X, y_c)
        np.testing.assert_allclose(machine.decision_function(X), f, atol=5e-3)


@pytest.mark.parametrize(
    ("y", "targets"),
    [(TWO, np.where(TWO == "yes", 1.0, -1.0)), (NUMBERS, NUMBERS)],
    ids=["classes", "numbers"],
)
def test_ridge_is_the_joint_minimum(y, targets):
    learned = learn_weights(NGram(2), X, y, criterion="ridge", alpha=0.3)
    least, mu, predictions = joint_minimum(F, targets[:, None], len(X), alpha=0.3)
    assert learned.solution.stats["objective"] == pytest.approx(least, rel=2e-6)
    found = np.array([learned.weights.get(z, 0.0) for z in NAMES])
    np.testing.assert_allclose(found, mu, atol=2e-3 * mu.max())
    machine = KernelRidge(learned.kernel, alpha=0.3, fit_intercept=True).fit(X, targets)
    np.testing.assert_allclose(machine.predict(X), predictions[:, 0], atol=5e-3)


@pytest.mark.parametrize("y", [TWO, THREE, NUMBERS], ids=["two", "three", "numbers"])
def test_alignment_is_that_of_the_gram_matrix_and_no_other_is_larger(y):
    learned = learn_weights(NGram(2), X, y, criterion="alignment")
    best = learned.solution.stats["objective"]
    assert mercer.gram(learned.kernel, X).alignment(y, centered=True) == pytest.approx(best, rel=1e-10)
    assert best > mercer.gram(NGram(2), X).alignment(y, centered=True)
    rng = np.random.default_rng(0)
    for _ in range(20):
        K = (F * rng.dirichlet(np.full(len(NAMES), 0.3))) @ F.T
        other = mercer.gram(mercer.kernels.Precomputed(), K).alignment(y, centered=True)
        assert other <= best + 1e-12


@pytest.mark.parametrize("criterion", CRITERIA)
def test_kernel_shares_and_weights_say_the_same(criterion):
    learned = learn_weights(NGram(2), X, TWO, criterion=criterion, trace=50.0)
    mu = np.array([learned.weights.get(z, 0.0) for z in NAMES])
    K = learned.kernel.block(X)
    np.testing.assert_allclose(K, (F * mu) @ F.T, rtol=1e-12, atol=1e-12)
    assert np.trace(K) == pytest.approx(50.0, rel=1e-12)
    assert learned.shares.total == pytest.approx(1.0, rel=1e-12)
    shares = [c.weight for c in learned.shares]
    assert shares == sorted(shares, reverse=True)
    assert [c.pattern for c in learned.shares] == list(learned.weights)
    squares = dict(zip(NAMES, (F**2).sum(axis=0), strict=True))
    for c in learned.shares:
        assert c.weight == pytest.approx(learned.weights[c.pattern] * squares[c.pattern] / 50.0, rel=1e-12)
    assert isinstance(learned.kernel, Rational)
    assert learned.kernel.certificate.is_psd
    assert learned.kernel(X[0], "zzz") == 0.0


@pytest.mark.parametrize("criterion", CRITERIA)
def test_the_kernel_alone_decides_not_its_scale(criterion):
    one, other = (learn_weights(k, X, TWO, criterion=criterion, tol=1e-9) for k in (NGram(2), 7.0 * NGram(2)))
    np.testing.assert_allclose(other.kernel.block(X), one.kernel.block(X), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize(
    "kernel",
    [Spectrum(4), Spectrum(4, weights=[1.0] * 4), RegexCount("[ACGT]A.A")],
    ids=["4", "1-4", "regex"],
)
def test_a_planted_motif_comes_first(kernel, criterion):
    Z = random_strings(60, 30, seed=1, letters="CGT")
    y = np.arange(60) % 2
    Z = [x[:i] + "GACA" + x[i + 4 :] if label else x for i, (x, label) in enumerate(zip(Z, y, strict=True))]
    Z = [x[:26] + "A" + x[27:] for x in Z]  # a letter that all have
    learned = learn_weights(kernel, Z, y, criterion=criterion)
    assert learned.shares[0].pattern == "GACA"


def test_learning_in_the_folds_is_not_worse_than_not_learning():
    rng = np.random.default_rng(3)
    Z = random_strings(80, 100, seed=2, letters="ACGT")
    y = np.arange(80) % 2
    for i in np.flatnonzero(y):
        place = int(rng.integers(0, 94))
        Z[i] = Z[i][:place] + "TATAAT" + Z[i][place + 6 :]
    Z, plain = np.array(Z), Spectrum(6)
    folds = StratifiedKFold(4, shuffle=True, random_state=0)
    before = cross_val_score(SVC(kernel=plain.normalized()), Z, y, cv=folds).mean()
    after = []
    for train, test in folds.split(Z, y):
        kernel = learn_weights(plain, Z[train], y[train]).kernel
        after.append(SVC(kernel=kernel).fit(Z[train], y[train]).score(Z[test], y[test]))
    assert np.mean(after) > before
    assert np.mean(after) >= 0.95


@pytest.mark.parametrize("criterion", CRITERIA)
def test_patterns_that_go_together_share_evenly(criterion):
    Z = ["abcx", "xabc", "abczz", "cx", "xcc", "czz", "xc", "ccc"]  # "bc" is there wherever "ab" is
    learned = learn_weights(NGram(2), Z, [1, 1, 1, 0, 0, 0, 0, 0], criterion=criterion)
    shares = {c.pattern: c.weight for c in learned.shares}
    assert shares["ab"] == shares["bc"] > 0
    assert learned.weights["ab"] == learned.weights["bc"]
    only = learn_weights(RegexCount("ab"), Z, [1, 1, 1, 0, 0, 0, 0, 0], criterion=criterion)
    assert {c.pattern: c.weight for c in only.shares} == {"ab": 1.0}


def test_table():
    learned = learn_weights(NGram(2), X, TWO)
    assert isinstance(learned, LearnedWeights)
    head, *rows = str(learned).splitlines()
    assert head.startswith(f"{len(learned.shares)} of {len(NAMES)} patterns; converged")
    assert rows[0].split() == ["weight", "pattern"]
    assert rows[1].endswith(repr(learned.shares[0].pattern))
    page = learned._repr_html_()
    assert page.startswith("<p>")
    assert repr(learned.shares[0].pattern).strip("'") in page
    ax = plot_contributions(learned.shares, 3)
    assert ax.get_yticklabels()[0].get_text() == repr(learned.shares[0].pattern)
    again = pickle.loads(pickle.dumps(learned))
    assert again.weights == learned.weights
    assert again.kernel == learned.kernel


def test_limits():
    with pytest.warns(
        ConvergenceWarning, match="learn_weights: stopped because 2 Newton steps are the limit"
    ):
        short = learn_weights(NGram(2), X, TWO, max_iter=2)
    assert not short.solution.converged
    assert short.solution.gap > 1e-6
    assert np.trace(short.kernel.block(X)) == pytest.approx(len(X))
    with pytest.warns(ConvergenceWarning, match="a callback asked to stop"):
        learn_weights(NGram(2), X, TWO, callbacks=[lambda progress: progress.iteration == 1])
    with pytest.warns(ConvergenceWarning, match="time budget was used up"):
        learn_weights(NGram(2), X, TWO, time_budget=1e-9)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"y": ["a"] * 24}, InputError, "`y` must have two different values at least. Got ['a']"),
        ({"y": [1.5] * 24, "criterion": "ridge"}, InputError, "`y` must have two different values"),
        ({"y": TWO[:-1]}, InputError, "`y` must have one label per string (24). Got shape (23,)"),
        ({"y": TWO[:-1], "criterion": "alignment"}, InputError, "learn_weights: `y` must have one entry"),
        ({"y": NUMBERS}, InputError, "`y` must hold labels for criterion='margin'"),
        ({"y": [np.nan] * 24, "criterion": "ridge"}, InputError, "learn_weights: `y` must be finite"),
        ({"X": "abc"}, InputError, "X must be a sequence of strings"),
        ({"X": ["a"] * 24}, InputError, "`X` must have strings that differ"),
        ({"X": ["abab"] * 24}, InputError, "24 strings with 2 patterns, each equally often"),
        ({"X": [], "y": []}, InputError, "`y` must have two different values"),
        ({"kernel": Gaussian(1.0)}, ParameterError, "`kernel` must be one on strings that lists"),
        (
            {"criterion": "accuracy"},
            ParameterError,
            "`criterion` must be one of 'margin', 'ridge', 'alignment'",
        ),
        ({"C": 0.0}, ParameterError, "`C` must be a positive finite number. Got 0.0"),
        ({"C": 1.0, "criterion": "ridge"}, ParameterError, "`C` belongs to criterion='margin'"),
        ({"alpha": 1.0}, ParameterError, "`alpha` belongs to criterion='ridge'"),
        ({"alpha": -1, "criterion": "ridge"}, ParameterError, "`alpha` must be a positive finite number"),
        ({"trace": 0}, ParameterError, "`trace` must be a positive finite number. Got 0"),
        ({"trace": np.inf}, ParameterError, "`trace` must be a positive finite number. Got inf"),
        ({"tol": "small"}, ParameterError, "`tol` must be a positive finite number. Got 'small'"),
        ({"max_iter": 1.5}, ParameterError, "`max_iter` must be an integer >= 1. Got 1.5"),
        ({"max_iter": True}, ParameterError, "`max_iter` must be an integer >= 1. Got True"),
        ({"time_budget": -1}, ParameterError, "`time_budget` must be a number of seconds > 0, or None"),
        ({"callbacks": [3]}, ParameterError, "`callbacks` must be a sequence of callables. Got [3]"),
    ],
    ids=lambda value: " ".join(value)[:30] if isinstance(value, dict) else "",
)
def test_bad_input(arguments, error, message):
    given = {"kernel": NGram(2), "X": X, "y": TWO, **arguments}
    with pytest.raises(error, match=re.escape(message)):
        learn_weights(given.pop("kernel"), given.pop("X"), given.pop("y"), **given)


def test_targets_that_no_pattern_goes_with():
    with pytest.raises(InputError, match="`y` must go with some pattern"):
        learn_weights(NGram(2), ["ab", "ba", "ab", "ba"], [1, 1, 0, 0], criterion="alignment")
