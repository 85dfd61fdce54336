"""Ridge regression restricted to features, against the normal equations."""

import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV

from mercer.errors import InputError, MercerError, ParameterError
from mercer.features import EmpiricalMap, Explicit, IncompleteCholesky, Nystrom, PolynomialMap
from mercer.kernels import Gaussian, Linear, NGram
from mercer.machines import KernelRidge
from mercer.solvers.ridge import restricted

K = Gaussian(1.5)


def data(n=600, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] + 2 + 0.1 * rng.standard_normal(n)


def by_normal_equations(F, y, alpha, weight, intercept):
    """Fitted values, by the dense system."""
    P = np.column_stack([F, np.ones(len(F))]) if intercept else F
    D = np.diag([alpha] * F.shape[1] + [0.0] * intercept)
    return P @ np.linalg.solve(P.T @ (weight[:, None] * P) + D, P.T @ (weight * y))


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("few", [2000, 5], ids=["all rows", "sample"])
@pytest.mark.parametrize("held", [True, False])
def test_the_normal_equations(monkeypatch, intercept, few, held):
    monkeypatch.setattr(restricted, "FEW_FEATURES", few)
    if not held:
        monkeypatch.setattr(restricted.memory, "can_hold", lambda count: False)
        monkeypatch.setattr(restricted, "BAND", 2000)
    X, y = data()
    weight = np.random.default_rng(1).uniform(0.5, 2, len(y))
    map = Nystrom(K, 40, random_state=0)
    model = KernelRidge(alpha=0.1, fit_intercept=intercept, approximation=map, tol=1e-10)
    model.fit(X, y, weight)
    F = clone(map).fit_transform(X)
    expected = by_normal_equations(F, y, 0.1, weight, intercept)
    np.testing.assert_allclose(model.predict(X), expected, atol=1e-6)
    assert model.solution_.converged
    assert model.solution_.stats["held"] is held
    if few == 2000:
        assert model.n_iter_ <= 2  # the preconditioner is the matrix itself


def test_all_landmarks_give_the_full_solution():
    X, y = data(150)
    full = KernelRidge(K, alpha=0.1, fit_intercept=True).fit(X, y)
    restricted_model = KernelRidge(
        K, alpha=0.1, fit_intercept=True, approximation=Nystrom(K, 150, random_state=0)
    ).fit(X, y)
    new = data(50, seed=1)[0]
    np.testing.assert_allclose(restricted_model.predict(new), full.predict(new), atol=1e-5)
    assert restricted_model.approximation_error_ < 1e-10


@pytest.mark.parametrize(
    "map",
    [PolynomialMap(2), EmpiricalMap(K), IncompleteCholesky(K, 20)],
    ids=["explicit", "empirical", "greedy"],
)
def test_any_map(map):
    X, y = data(80)
    Y = np.column_stack([y, -y])
    model = KernelRidge(alpha=0.5, approximation=map, tol=1e-10).fit(X, Y)
    F = clone(map).fit(X).transform(X)
    expected = by_normal_equations(F, y, 0.5, np.ones(80), False)
    np.testing.assert_allclose(model.predict(X), np.column_stack([expected, -expected]), atol=1e-6)
    assert type(map).__name__ in model.solution_.status


def test_strings():
    words = ["banana", "bandana", "ananas", "cabana", "canna", "nab"] * 3
    model = KernelRidge(alpha=0.1, approximation=Nystrom(NGram(2), 5, random_state=0))
    model.fit(words, np.arange(18.0) % 6)
    assert model.predict(["bananas"]).shape == (1,)
    assert model.kernel_ == NGram(2)
    assert len(model.dual_coef_) == model.approximation_.dim
    explicit = KernelRidge(alpha=0.1, approximation=Explicit(NGram(2)), tol=1e-10)  # sparse and exact
    full = KernelRidge(NGram(2), alpha=0.1).fit(words, np.arange(18.0) % 6)
    explicit.fit(words, np.arange(18.0) % 6)
    assert explicit.approximation_error_ < 1e-12
    np.testing.assert_allclose(explicit.predict(words), full.predict(words), atol=1e-7)


def test_parameters_of_the_map_are_parameters_of_the_machine():
    X, y = data(100)
    machine = KernelRidge(alpha=0.1, approximation=Nystrom(K, 5, random_state=0))
    search = GridSearchCV(
        machine, {"approximation__n_components": [2, 30], "approximation__kernel__sigma": [1.0]}, cv=2
    )
    assert search.fit(X, y).best_params_["approximation__n_components"] == 30


def test_a_stopped_fit_is_usable_and_goes_on(monkeypatch, tmp_path):
    monkeypatch.setattr(restricted, "FEW_FEATURES", 5)
    X, y = data()
    path = tmp_path / "state"
    map = Nystrom(K, 60, random_state=0)
    fresh = KernelRidge(alpha=1e-3, approximation=map, tol=1e-7).fit(X, y)
    # Stopped late: directions of before are forgotten, so that after three steps rounding decides which run
    # is shorter.  (Of tol, 1e-9 is where the residual of this system is rounding.)
    machine = clone(fresh).set_params(max_iter=fresh.n_iter_ - 5, checkpoint=path)
    with pytest.warns(ConvergenceWarning, match=f"max_iter={machine.max_iter}"):
        machine.fit(X, y)
    assert np.isfinite(machine.predict(X)).all()
    assert path.exists()
    machine.set_params(max_iter=500).fit(X, y)
    assert machine.n_iter_ < 0.75 * fresh.n_iter_
    np.testing.assert_allclose(machine.predict(X), fresh.predict(X), atol=1e-5)
    assert not path.exists()


def test_a_second_fit_forgets_the_map():
    X, y = data(60)
    machine = KernelRidge(alpha=0.1, approximation=PolynomialMap(2)).fit(X, y)
    machine.set_params(approximation=None, kernel=K).fit(X, y)
    expected = KernelRidge(K, alpha=0.1).fit(X, y)
    np.testing.assert_array_equal(machine.predict(X), expected.predict(X))
    assert machine.predict(X, return_std=True)[1].shape == (60,)


def test_bad_input():
    X, y = data(30)
    map = Nystrom(K, 5, random_state=0)
    for options, match in (
        ({"approximation": "nystrom"}, "`approximation` must be a feature map"),
        ({"approximation": map, "kernel": Gaussian(9.0)}, "`kernel` must be left out"),
        ({"approximation": map, "alpha": 0}, "`alpha` must be one positive number"),
        ({"approximation": map, "alpha": "loo"}, "`alpha` must be one positive number"),
        ({"approximation": map, "solver": "cg"}, "`solver` must be 'auto'"),
        ({"approximation": map, "tune": "evidence"}, "`tune` must be None"),
    ):
        with pytest.raises(ParameterError, match=match):
            KernelRidge(**options).fit(X, y)
    model = KernelRidge(approximation=map).fit(X, y)
    for method in (
        model.loo_residuals,
        lambda: model.predict(X, return_std=True),
        model.log_marginal_likelihood,
    ):
        with pytest.raises(ParameterError, match="no `approximation`"):
            method()
    with pytest.raises(InputError, match=r"NaN|nan"):
        model.fit(np.full((30, 2), np.nan), y)


def test_the_page_on_scale_is_true(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = Path(__file__).parents[2] / "docs" / "scale.md"
    for block in re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), flags=re.S | re.M):
        exec(compile(block, str(page), "exec"), {})
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["True", "1"]
    assert lines.pop(2) == "solved by the normal equations of 28 known features"
    assert "on 100 features of Nystrom, whose relative error is" in lines[2]
    assert lines[3:5] == ["(1, 100) True", "(3000, 2)"]
    assert lines[5].startswith("converged in 1 pass(es)")
    assert lines[6:9] == ["True True", "22 True", "20000"]
    assert lines[9].startswith("normal equations of 20000 rows in 10 batch(es): converged")
    assert lines[10].startswith("converged in ")
    assert "over 5000 rows" in lines[10]
    assert lines[11] == "[[0.19 0.81]]"


@pytest.mark.parametrize("scale", [1e-200, 1e100, 1e150, 1e160])
def test_numbers_of_any_size_give_a_finite_model_or_an_error(scale):
    X, y = data(20)
    try:
        model = KernelRidge(approximation=Nystrom(Linear(), 2, random_state=0)).fit(scale * X, y)
    except MercerError:
        return
    assert np.isfinite(model.predict(scale * X)).all()
