"""What a fitted support vector machine shows: documented, as in scikit-learn, and of the last fit only."""

import re
from dataclasses import dataclass

import numpy as np
import pytest
import sklearn.svm
from scipy import sparse
from sklearn.base import clone

from mercer.domains import Vectors
from mercer.errors import InputError
from mercer.kernel import Kernel
from mercer.kernels import Linear, SetIntersection
from mercer.machines import SVC, SVR, EnclosingBall, NuSVC, NuSVR, OneClassSVM

rng = np.random.default_rng(0)
X = rng.standard_normal((90, 4))
CLASSES = np.digitize(X[:, 0] + 0.2 * rng.standard_normal(90), [-0.5, 0.5])

machines = pytest.mark.parametrize(
    "machine",
    [SVC(probability=True), NuSVC(nu=0.2, probability=True), SVR(), NuSVR(), OneClassSVM(), EnclosingBall()],
    ids=lambda m: type(m).__name__,
)


@machines
def test_every_parameter_and_attribute_is_documented(machine):
    model = clone(machine).fit(X, CLASSES > 0)
    described = set(re.findall(r"\w+", type(machine).__doc__))
    attributes = {name for name in vars(model) if name.endswith("_") and not name.startswith("_")}
    assert attributes | set(model.get_params(deep=False)) <= described


@machines
def test_nothing_is_left_of_an_earlier_fit(machine):
    model = clone(machine).fit(X, CLASSES > 0).compress(1e-3)
    model.set_params(kernel=SetIntersection() + 1.0)
    sets = [{i % 7, i % 5 + 10, i % 2 + 20} for i in range(40)]
    model.fit(sets, np.arange(40) % 2)
    assert not hasattr(model, "support_vectors_")
    assert not hasattr(model, "compression_")
    assert model.shape_fit_ == (40,)


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("multiclass", ["ovo", "ovr"])
def test_weights_of_the_features(count, multiclass, convert):
    y = np.minimum(CLASSES, count - 1)
    model = SVC(
        kernel=Linear(), multiclass=multiclass, decision_function_shape="ovo", break_ties=False, tol=1e-6
    ).fit(convert(X), y)
    values = model.decision_function(X).reshape(90, -1)
    np.testing.assert_allclose(X @ model.coef_.T + model.intercept_, values, atol=1e-10)
    if multiclass == "ovo":
        peer = sklearn.svm.SVC(kernel="linear", decision_function_shape="ovo", tol=1e-6).fit(X, y)
        np.testing.assert_allclose(model.coef_, peer.coef_, atol=1e-4)


def test_weights_of_the_features_of_other_machines():
    for machine in (SVR(kernel=Linear()), NuSVR(kernel=Linear())):
        model = machine.fit(X, X[:, 1])
        np.testing.assert_allclose(X @ model.coef_[0] + model.intercept_, model.predict(X), atol=1e-10)
    half_space = OneClassSVM(Linear()).fit(X)
    np.testing.assert_allclose(X @ half_space.coef_[0], half_space.score_samples(X), atol=1e-10)
    ball = EnclosingBall(Linear()).fit(X)
    np.testing.assert_allclose(np.linalg.norm(X - ball.coef_, axis=1), ball.distance(X), atol=1e-10)
    with pytest.raises(AttributeError, match="linear kernel"):
        _ = SVC().fit(X, CLASSES).coef_


def test_points_are_validated_once_for_a_fit_and_once_for_a_prediction():
    seen = []

    @dataclass(frozen=True)
    class Watched(Vectors):
        def validate(self, X, name="X"):
            seen.append(len(X))
            return super().validate(X, name)

    class Product(Kernel):
        @property
        def domain(self):
            return Watched()

        def __call__(self, x, y):
            return float(x @ y)

        def _block(self, X, Y):
            return X @ (X if Y is None else Y).T

    model = SVC(Product().assume("PSD")).fit(X, CLASSES > 0)
    assert seen == [90]
    model.predict(X[:7])
    assert seen == [90, 7]


@pytest.mark.parametrize(
    "make", [np.asarray, np.float32, np.asfortranarray, np.ndarray.tolist, sparse.csr_array]
)
def test_arrays_of_every_kind_are_checked_alike(make):
    model = SVC().fit(make(X), CLASSES > 0)
    assert model.n_features_in_ == 4
    with pytest.raises(InputError, match="has 3 features, but SVC is expecting 4 features"):
        model.predict(make(X[:, :3]))
    with pytest.raises(InputError, match=r"[Ff]ound array with 0 feature"):
        SVC().fit(make(X[:, :0]), CLASSES > 0)
    if make is not np.ndarray.tolist:  # an empty list has no columns
        with pytest.raises(InputError, match="0 sample"):
            model.predict(make(X[:0]))
    Z = X.copy()
    Z[3, 1] = np.nan
    with pytest.raises(InputError, match="Got NaN in row 3, column 1"):
        model.predict(make(Z))
