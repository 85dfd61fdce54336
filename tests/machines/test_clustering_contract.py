"""scikit-learn's contract for clustering, label propagation and the Laplacian machines."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer.kernels import Gaussian, Linear
from mercer.machines import (
    KernelKMeans,
    LabelPropagation,
    LabelSpreading,
    LaplacianRLS,
    LaplacianRLSClassifier,
    LaplacianSVC,
    SpectralClustering,
)

def expected_to_fail(estimator):
    return {}


@parametrize_with_checks(
    [
        KernelKMeans(n_init=3),
        KernelKMeans(n_init=2, kernel=Linear(), algorithm="lloyd"),
        SpectralClustering(n_init=3),
        SpectralClustering(n_neighbors=6),
        LabelPropagation(),
        LabelSpreading(n_neighbors=8),
        LaplacianRLS(),
        LaplacianRLS(Gaussian("median"), normalized=False, n_neighbors=5, fit_intercept=True),
        LaplacianRLSClassifier(),
        LaplacianSVC(),
        LaplacianSVC(smoothness=0.1, n_neighbors=7, normalized=False),
    ],
    expected_failed_checks=expected_to_fail,
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)
