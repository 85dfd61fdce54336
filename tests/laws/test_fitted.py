"""A fitted model is a value: pickled, copied or loaded in another process it predicts the same bits."""

from __future__ import annotations

import copy
import io
import pickle
import subprocess
import sys
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import cloudpickle
import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_validate

import mercer
from mercer.gram import GramStore
from mercer.gram.kernel_gram import KernelGram
from mercer.kernels import Gaussian, Spectrum
from mercer.machines import SVC, KernelRidge

from .fitted_cases import CASES, KINDS, MACHINES, predictions, shared_letters, targets
from .registry import cases


def fit(model: Any, X: Any, y: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X) if y is None else model.fit(X, y)


@cache
def fitted(machine: str, kind: str) -> tuple[Any, Any, list[np.ndarray]]:
    """A fitted model, new points, and what it predicts for them."""
    make, what, methods = MACHINES[machine]
    X, new = KINDS[kind].draw()
    model = fit(make(KINDS[kind].kernel), X, targets(what))
    return model, new, predictions(model, methods, new)


def assert_predicts(model: Any, machine: str, new: Any, expected: list[np.ndarray]) -> None:
    for a, b in zip(predictions(model, MACHINES[machine][2], new), expected, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(("machine", "kind"), CASES)
def test_copies_predict_the_same(machine: str, kind: str) -> None:
    model, new, expected = fitted(machine, kind)
    file = io.BytesIO()
    joblib.dump(model, file)
    file.seek(0)
    for again in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), joblib.load(file)):
        assert_predicts(again, machine, new, expected)


@pytest.mark.parametrize("kind", ["vectors", "strings", "decorated"])
@pytest.mark.parametrize("machine", MACHINES)
def test_a_clone_of_a_copy_is_fitted_alike(machine: str, kind: str) -> None:
    model, new, expected = fitted(machine, kind)
    again = clone(pickle.loads(pickle.dumps(model)))
    other = {"KernelCCA": "kernel_x", "Cells": "machine__kernel", "Conformal": "machine__kernel"}
    params = again.get_params()
    kernel = params["kernels"][0] if "kernels" in params else params[other.get(machine, "kernel")]
    assert kernel == KINDS[kind].kernel
    fit(again, KINDS[kind].draw()[0], targets(MACHINES[machine][1]))
    assert_predicts(again, machine, new, expected)


LOAD = """
import pickle, sys
import numpy as np
with open(sys.argv[1], "rb") as file:
    for name, model, methods, new, expected in pickle.load(file):
        for method, values in zip(methods, expected, strict=True):
            assert np.array_equal(np.asarray(getattr(model, method)(new)), values), name
print("same")
"""

#: Kinds whose kernels are importable by another process: those of the package.
ELSEWHERE = [k for k in KINDS if k not in ("decorated", "subclass", "objects")]


def test_another_process_loads_them(tmp_path: Path) -> None:
    machines = ("SVC", "KernelRidge", "KernelPCA", "KernelKMeans")
    found = [(m, k) for m in machines for k in ELSEWHERE if (m, k) in CASES]
    models = []
    for machine, kind in found:
        model, new, expected = fitted(machine, kind)
        models.append((f"{machine} on {kind}", model, MACHINES[machine][2], new, expected))
    path = tmp_path / "models.pickle"
    path.write_bytes(pickle.dumps(models))
    done = subprocess.run([sys.executable, "-c", LOAD, path], capture_output=True, text=True, check=False)
    assert done.stdout == "same\n", done.stderr


def test_workers_of_scikit_learn_return_fitted_models() -> None:
    X, _ = KINDS["strings"].draw()
    y = np.arange(len(X)) % 2
    found = cross_validate(SVC(kernel=Spectrum(2)), X, y, cv=2, n_jobs=2, return_estimator=True)
    alone = cross_validate(SVC(kernel=Spectrum(2)), X, y, cv=2, return_estimator=True)
    for a, b in zip(found["estimator"], alone["estimator"], strict=True):
        np.testing.assert_array_equal(a.decision_function(X), b.decision_function(X))


# -- kernels of one's own -----------------------------------------------------------------------
def test_a_local_function_is_named_by_the_error_and_cloudpickle_takes_it() -> None:
    @mercer.kernel(assume="PSD")
    def local_overlap(x: str, y: str) -> float:
        return len(set(x) & set(y))

    X, new = KINDS["decorated"].draw()
    model = KernelRidge(local_overlap).fit(X, np.arange(len(X)))
    with pytest.raises((pickle.PicklingError, AttributeError), match="local_overlap"):
        pickle.dumps(model)
    again = cloudpickle.loads(cloudpickle.dumps(model))
    np.testing.assert_array_equal(again.predict(new), model.predict(new))


def test_a_decorated_function_is_pickled_by_name() -> None:
    assert pickle.loads(pickle.dumps(shared_letters)) == shared_letters


# -- sizes --------------------------------------------------------------------------------------
@pytest.mark.parametrize("machine", MACHINES)
def test_a_file_holds_the_points_and_a_few_numbers_for_each(machine: str) -> None:
    """No Gram matrix, no factor of one, no prepared data: 8 n^2 bytes would be 960 for each point."""
    n, (make, what, methods) = 120, MACHINES[machine]
    X = np.random.default_rng(0).standard_normal((n, 3))
    model = fit(make(Gaussian(1.0)), X, targets(what, n))
    predictions(model, methods, X)
    assert len(pickle.dumps(model)) < 8000 + 500 * n


# -- Gram matrices ------------------------------------------------------------------------------
@pytest.mark.parametrize("case", cases(), ids=repr)
def test_gram_matrices_are_copied_without_prepared_data(case: Any) -> None:
    K = mercer.gram(case.kernel, case.points)
    again = pickle.loads(cloudpickle.dumps(K))
    np.testing.assert_array_equal(again.dense(), K.dense())
    assert (again.kernel, again.dtype, again.shape) == (K.kernel, K.dtype, K.shape)


def test_rectangular_gram_matrices_are_copied() -> None:
    X, new = KINDS["strings"].draw()
    K = mercer.gram(Spectrum(2), new, X)
    for again in (pickle.loads(pickle.dumps(K)), copy.deepcopy(K)):
        np.testing.assert_array_equal(again.dense(), K.dense())
        np.testing.assert_array_equal(again.cross(new).dense(), K.dense())


def test_a_model_with_a_store_is_copied_without_it(tmp_path: Path) -> None:
    X, new = KINDS["vectors"].draw()
    model = SVC(kernel=Gaussian(1.0), store=GramStore(tmp_path)).fit(X, np.arange(len(X)) % 2)
    for again in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert type(again.expansion_) is KernelGram
        np.testing.assert_allclose(again.decision_function(new), model.decision_function(new), rtol=1e-12)
