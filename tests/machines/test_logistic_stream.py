"""Logistic regression on batches, against the fit on all rows at once."""

import os
import signal
import subprocess
import sys
import textwrap
import tracemalloc

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from mercer import Batches, memory
from mercer.errors import InputError, ParameterError
from mercer.features import Explicit, Nystrom, RandomFourier
from mercer.kernels import Gaussian, NGram
from mercer.machines import SVC, SVR, KernelLogistic, KernelPCA, KernelRidge

K = Gaussian(1.0)


def data(n=600, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    y = np.clip(np.floor(X[:, 0] * X[:, 1] * 2 + rng.normal(0, 0.3, n)) + 1, 0, classes - 1).astype(int)
    return X, np.array(["one", "two", "three"])[y]


def fitted_map(X, r=30):
    return Nystrom(K, r, random_state=0).fit(X)


def split(X, y, *more, size=170):
    return [tuple(c[i : i + size] for c in (X, y, *more)) for i in range(0, len(y), size)]


@pytest.mark.parametrize("intercept", [True, False], ids=["intercept", "none"])
@pytest.mark.parametrize("classes", [2, 3])
def test_the_same_as_logistic_regression_on_all_features(classes, intercept):
    X, y = data(classes=classes)
    map = fitted_map(X)
    model = KernelLogistic(alpha=0.5, approximation=map, fit_intercept=intercept).fit(Batches(split(X, y)))
    peer = LogisticRegression(C=2.0, fit_intercept=intercept, tol=1e-10, max_iter=5000)
    peer.fit(map.transform(X), y)
    np.testing.assert_allclose(
        model.predict_proba(X), peer.predict_proba(map.transform(X)), rtol=0, atol=2e-5
    )
    assert model.solution_.converged
    assert model.solution_.gap < 1e-15
    assert model.n_samples_seen_ == len(X)
    assert (model.classes_ == peer.classes_).all()
    assert "pass(es)" in model.solution_.status


def test_weights_and_factors_of_classes_count():
    X, y = data(300)
    weight = np.random.default_rng(1).integers(0, 3, len(X)).astype(float)
    options = {"alpha": 0.5, "approximation": fitted_map(X), "class_weight": {"one": 2.0}}
    batches = KernelLogistic(**options).fit(Batches(split(X, y, weight)))
    factors = np.where(y == "one", 2.0, 1.0) * weight
    peer = LogisticRegression(C=2.0, tol=1e-10, max_iter=5000)
    F = fitted_map(X).transform(X)
    peer.fit(F, y, factors)
    np.testing.assert_allclose(batches.predict_proba(X), peer.predict_proba(F), rtol=0, atol=2e-5)
    balanced = KernelLogistic(**{**options, "class_weight": "balanced"}).fit(Batches(split(X, y)))
    peer = LogisticRegression(C=2.0, tol=1e-10, max_iter=5000, class_weight="balanced").fit(F, y)
    np.testing.assert_allclose(balanced.predict_proba(X), peer.predict_proba(F), rtol=0, atol=2e-5)


def test_the_map_is_fitted_to_a_sample_of_the_stream():
    X, y = data()
    map = Nystrom(Gaussian("median"), 20, random_state=0)
    models = [
        KernelLogistic(approximation=map, random_state=3).fit(Batches(split(X, y, size=size), sample=100))
        for size in (37, 600)
    ]
    np.testing.assert_allclose(models[0].predict_proba(X), models[1].predict_proba(X), rtol=1e-6)
    assert "fitted to 100" in models[0].solution_.status
    assert models[0].score(X, y) > 0.7


def test_strings_by_their_patterns():
    words = ["banana", "ananas", "cab", "cabbage", "bandana", "back"] * 5
    y = ["a" if word.count("a") > 1 else "b" for word in words]
    model = KernelLogistic(approximation=Explicit(NGram(2)), alpha=0.1)
    assert model.fit(Batches(split(words, y, size=7))).score(words, y) == 1.0


def test_features_that_do_not_fit_are_computed_again(monkeypatch):
    X, y = data(500)
    map = Nystrom(K, 40, landmarks="uniform", random_state=0)
    held = KernelLogistic(approximation=map, alpha=0.5, class_weight="balanced").fit(X, y)
    monkeypatch.setattr(memory, "can_hold", lambda count: count < 1e5)
    passes = KernelLogistic(approximation=Nystrom(K, landmarks=held.approximation_.landmarks_), alpha=0.5)
    passes.set_params(class_weight="balanced", approximation__n_components=40).fit(X, y)
    assert "pass(es)" in passes.solution_.status
    np.testing.assert_allclose(passes.predict_proba(X), held.predict_proba(X), atol=1e-6)


def test_memory_does_not_grow_with_the_stream():
    def peak(count):
        def read():
            for seed in range(count):
                yield data(2000, seed=seed)

        tracemalloc.start()
        try:
            map = RandomFourier(K, 40).fit(np.zeros((2, 2)))
            KernelLogistic(approximation=map).fit(Batches(read, sample=1000))
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(2)
    assert peak(16) < 1.2 * peak(5)


@pytest.mark.skipif(os.name != "posix", reason="kills a process")
def test_a_killed_run_goes_on_from_its_checkpoint(tmp_path):
    code = f"""
        import os, signal, numpy as np
        from mercer import Batches
        from mercer.features import RandomFourier
        from mercer.kernels import Gaussian
        from mercer.machines import KernelLogistic
        rng = np.random.default_rng(0)
        X = rng.standard_normal((400, 2)); y = X[:, 0] > X[:, 1] ** 2
        passes = 0
        def read():
            global passes
            passes += 1
            if passes == 5:
                os.kill(os.getpid(), signal.SIGKILL)
            yield X, y
        map = RandomFourier(Gaussian(1.0), 40)
        model = KernelLogistic(approximation=map, checkpoint={str(tmp_path / "c")!r}, random_state=0)
        model.fit(Batches(read))
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert (tmp_path / "c").exists()
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 2))
    y = X[:, 0] > X[:, 1] ** 2
    options = {"approximation": RandomFourier(Gaussian(1.0), 40), "random_state": 0}
    with pytest.raises(InputError, match="another problem"):
        KernelLogistic(**options, alpha=2.0, checkpoint=tmp_path / "c").fit(Batches([(X, y)]))
    resumed = KernelLogistic(**options, checkpoint=tmp_path / "c").fit(Batches([(X, y)]))
    whole = KernelLogistic(**options).fit(Batches([(X, y)]))
    assert resumed.n_iter_ < whole.n_iter_
    np.testing.assert_allclose(resumed.predict_proba(X), whole.predict_proba(X), atol=1e-7)
    assert not (tmp_path / "c").exists()


def test_a_stopped_run_says_so():
    X, y = data()
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        model = KernelLogistic(approximation=fitted_map(X), max_iter=2, alpha=1e-3).fit(Batches(split(X, y)))
    assert not model.solution_.converged
    assert model.predict(X[:3]).shape == (3,)


X_BAD = np.array([[0.0, 0.0], [np.nan, 1.0]])


@pytest.mark.parametrize(
    ("batches", "message"),
    [
        ([(np.ones((3, 2)), list("aab")), (X_BAD, list("ab"))], "batch 1 is not valid.*row 1, column 0"),
        ([(np.ones((3, 2)), list("aab")), (np.ones((2, 3)), list("ab"))], "batch 1 is not valid.*3 features"),
        ([(np.ones((3, 2)), list("aaa"))], "at least two classes"),
        ([(np.ones((3, 2)), list("aab")), (np.ones((2, 2)), [1, 2])], "labels of one kind"),
        ([(np.ones((3, 2)), [0.5, 1.5, 2.0])], "[Uu]nknown label type"),
        ([(np.ones((3, 2)), list("ab"))], "batch 0 is not valid"),
        ([(np.ones((0, 2)), [])], "stream is empty"),
        ([np.ones((3, 2))], "must be .X, y."),
    ],
    ids=["nan", "width", "one class", "kinds", "numbers", "length", "empty", "no labels"],
)
def test_bad_batches_are_named(batches, message):
    with pytest.raises((InputError, ValueError), match=message):
        KernelLogistic(approximation=Nystrom(K, 2)).fit(Batches(batches))


def test_what_cannot_be_streamed_is_refused():
    X, y = data(50)
    batches = Batches(split(X, y))
    for machine in (SVC(approximation=Nystrom(K, 5)), SVR(), KernelPCA()):
        with pytest.raises(InputError, match="KernelRidge and KernelLogistic read"):
            machine.fit(batches)
    with pytest.raises(ParameterError, match="`approximation` must be a feature map"):
        KernelLogistic().fit(batches)
    with pytest.raises(InputError, match="must be in the batches"):
        KernelLogistic(approximation=Nystrom(K, 5)).fit(batches, y)
    with pytest.raises(InputError, match="one at a time"):
        KernelLogistic(approximation=Nystrom(K, 5)).fit(X, y).predict(batches)


def test_batches_without_rows_are_left_out():
    X = np.random.default_rng(0).standard_normal((60, 2))
    y = X[:, 0]
    some = [(X[:0], y[:0]), (X[:30], y[:30]), (X[:0], y[:0]), (X[30:], y[30:])]
    model = KernelRidge(approximation=RandomFourier(K, 20), random_state=0)
    np.testing.assert_allclose(
        model.fit(Batches(some)).predict(X), model.fit(Batches([(X, y)])).predict(X), atol=1e-10
    )
