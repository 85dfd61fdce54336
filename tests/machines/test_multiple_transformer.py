"""The weighted sum of kernels as a transformer, and the picture of its weights."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import KernelPCA
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC as SklearnSVC

from mercer.errors import ParameterError
from mercer.kernels import Gaussian, Linear, Spectrum, columns
from mercer.machines import (
    SVC,
    KernelHierarchy,
    MultipleKernelOneClass,
    MultipleKernelRidge,
    MultipleKernelSVC,
    MultipleKernelTransformer,
)
from mercer.show import kernel_weights

mpl.use("Agg")

RNG = np.random.default_rng(0)
TABLE = pd.DataFrame({"a": RNG.standard_normal(60), "b": RNG.standard_normal(60)})
TABLE["word"] = ["ab" if x > 0 else "ba" for x in RNG.standard_normal(60)]
Y = np.where(TABLE["a"] ** 2 > 0.5, "far", "near")
KERNELS = columns({"a": Gaussian(1.0), "b": Gaussian(1.0), "word": Spectrum(1)})
MACHINE = MultipleKernelSVC(KERNELS, C=10.0)


def test_values_are_those_of_the_combined_kernel():
    found = MultipleKernelTransformer(MACHINE)
    K = found.fit_transform(TABLE, Y)
    model = MultipleKernelSVC(KERNELS, C=10.0).fit(TABLE, Y)
    np.testing.assert_array_equal(found.weights_, model.weights_)
    parts = [
        w / s * k.block(TABLE) for w, s, k in zip(model.weights_, model.scales_, model.kernels_, strict=True)
    ]
    np.testing.assert_allclose(K, sum(parts), atol=1e-14)
    np.testing.assert_allclose(found.transform(TABLE[:7]), K[:7], atol=1e-14)
    assert list(found.kernel_weights()) == list(model.kernel_weights())
    assert list(found.get_feature_names_out())[:1] == ["multiplekerneltransformer0"]


def test_a_pipeline_is_the_machine():
    pipeline = make_pipeline(MultipleKernelTransformer(MACHINE), SklearnSVC(kernel="precomputed", C=10.0))
    pipeline.fit(TABLE, Y)
    model = MultipleKernelSVC(KERNELS, C=10.0).fit(TABLE, Y)
    np.testing.assert_array_equal(pipeline.predict(TABLE), model.predict(TABLE))
    ours = SVC(pipeline[0].kernel_, C=10.0).fit(TABLE, Y)
    np.testing.assert_array_equal(ours.predict(TABLE), model.predict(TABLE))
    assert cross_val_score(pipeline, TABLE, Y, cv=3).mean() > 0.8


def test_parameters_of_the_machine_can_be_searched():
    search = GridSearchCV(
        make_pipeline(MultipleKernelTransformer(MACHINE), SklearnSVC(kernel="precomputed")),
        {"multiplekerneltransformer__machine__weights": ["average", "alignment", "learn"]},
        cv=3,
    ).fit(TABLE, Y)
    scores = search.cv_results_["mean_test_score"]
    assert scores[2] >= scores[0]


def test_without_targets():
    K = MultipleKernelTransformer(MultipleKernelOneClass(KERNELS)).fit_transform(TABLE)
    assert KernelPCA(2, kernel="precomputed").fit_transform(K).shape == (60, 2)


def test_a_store_serves_the_values(tmp_path):
    plain = MultipleKernelTransformer(MultipleKernelRidge([Gaussian(1.0), Linear()])).fit(
        TABLE[["a", "b"]], TABLE["a"]
    )
    machine = MultipleKernelRidge([Gaussian(1.0), Linear()], store=tmp_path)
    stored = MultipleKernelTransformer(machine).fit(TABLE[["a", "b"]], TABLE["a"])
    X = TABLE[["a", "b"]][:5]
    np.testing.assert_allclose(stored.transform(X), plain.transform(X), atol=1e-12)


@pytest.mark.parametrize("machine", [None, SVC(Gaussian(1.0)), Gaussian(1.0)], ids=["none", "SVC", "kernel"])
def test_other_machines_are_refused(machine):
    with pytest.raises(ParameterError, match="`machine` must be a machine with several kernels"):
        MultipleKernelTransformer(machine).fit(TABLE, Y)


# -- pictures ---------------------------------------------------------------------------------------
def test_weights_are_drawn():
    names = [f"x{j}" for j in range(30)]
    table = pd.DataFrame(RNG.standard_normal((50, 30)), columns=names)
    y = table["x3"] + 0.5 * table["x4"]
    model = MultipleKernelRidge(columns({name: Linear() for name in names}), alpha=0.1, norm=2.0)
    ax = kernel_weights(model.fit(table, y), n=4)
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert labels[:2] == ["x3", "x4"]
    assert labels[4:] == ["26 more"]
    np.testing.assert_allclose(sum(bar.get_width() for bar in ax.patches), model.weights_.sum())
    sparse = MultipleKernelTransformer(model.set_params(norm=1.0)).fit(table, y)
    used = np.count_nonzero(sparse.weights_)
    assert kernel_weights(sparse).get_xlabel() == f"weight\n{30 - used} of 30 kernels have none"


def test_what_cannot_be_drawn():
    with pytest.raises(ParameterError, match="`model` must be a fitted machine with several kernels"):
        kernel_weights(SVC(Gaussian(1.0)))
    model = MultipleKernelSVC(KERNELS).fit(TABLE, Y)
    with pytest.raises(ParameterError, match="`n` must be an integer >= 1"):
        kernel_weights(model, n=0)


def test_a_hierarchy_is_transformed_too():
    hierarchy = KernelHierarchy.products(KERNELS, degree=2)
    found = MultipleKernelTransformer(MultipleKernelSVC(hierarchy, C=10.0)).fit(TABLE, Y)
    assert found.transform(TABLE[:2]).shape == (2, 60)
