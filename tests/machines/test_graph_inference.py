"""Graph inference against its definition, on held-out edges, and in scikit-learn's contract."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse
from sklearn.metrics import roc_auc_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer.errors import DefinitenessError, InputError, MemoryLimitError, ParameterError
from mercer.kernels import Gaussian, Linear, Precomputed, SetIntersection, Sigmoid
from mercer.machines import IndefiniteKernelWarning, KernelGraphInference
from mercer.machines.graph_inference import laplacian_root

#: Checks of scikit-learn that cannot hold, by name, with the mathematical reason.  There are none.
EXPECTED_FAILED_CHECKS: dict[str, str] = {}


@parametrize_with_checks([KernelGraphInference()], expected_failed_checks=lambda _: EXPECTED_FAILED_CHECKS)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def random_graph(n, m, seed=0, weighted=False):
    rng = np.random.default_rng(seed)
    i, j = np.triu_indices(n, 1)
    chosen = rng.choice(len(i), m, replace=False)
    A = np.zeros((n, n))
    A[i[chosen], j[chosen]] = rng.uniform(0.5, 2, m) if weighted else 1.0
    return A + A.T


def laplacian(A):
    return np.diag(A.sum(axis=1)) - A


@pytest.fixture
def points():
    return np.random.default_rng(1).standard_normal((20, 3))


@pytest.mark.parametrize("m", [8, 40])
def test_the_root_is_one_of_the_laplacian(m):
    A = random_graph(12, m, weighted=True)
    R = laplacian_root(scipy.sparse.csr_array(A))
    np.testing.assert_allclose((R.T @ R).toarray() if m == 8 else R.T @ R, laplacian(A), atol=1e-12)
    assert R.shape == ((8, 12) if m == 8 else (12, 12))


@pytest.mark.parametrize("m", [15, 60])
def test_solves_the_generalised_eigenproblem_of_the_definition(points, m):
    A, lam = random_graph(20, m, weighted=True), 0.3
    model = KernelGraphInference(Gaussian(1.5), n_components=4, alpha=lam).fit(points, A)
    H = np.eye(20) - 1 / 20
    K = H @ Gaussian(1.5).block(points) @ H
    values, U = scipy.linalg.eigh(K)
    span = U[:, values > 1e-10]
    top = span.T @ (K @ laplacian(A) @ K + lam * K) @ span
    least = scipy.linalg.eigvalsh(top, span.T @ K @ K @ span)
    np.testing.assert_allclose(model.eigenvalues_, least[:4], rtol=1e-6)

    f = model.transform(points)
    np.testing.assert_allclose(f.mean(axis=0), 0.0, atol=1e-9)
    np.testing.assert_allclose(f.T @ f / 20, np.eye(4), atol=1e-7)  # orthogonal values of mean square 1
    a = model.dual_coef_
    np.testing.assert_allclose(a.sum(axis=0), 0.0, atol=1e-8)
    cost = np.diag(f.T @ laplacian(A) @ f) + lam * np.diag(a.T @ K @ a)
    np.testing.assert_allclose(cost / 20, model.eigenvalues_, rtol=1e-6)


def test_no_function_does_better(points):
    """Against random functions of mean zero: the first one has the least quotient."""
    A = random_graph(20, 30)
    model = KernelGraphInference(Gaussian(1.0), n_components=1, alpha=0.5).fit(points, A)
    K = Gaussian(1.0).block(points)
    rng = np.random.default_rng(2)
    for scale in (1e-3, 1e-1, 1e1):
        a = model.dual_coef_ + scale * rng.standard_normal((20, 100))
        f = K @ a
        f -= f.mean(axis=0)
        quotient = (np.einsum("ij,ij->j", f, laplacian(A) @ f) + 0.5 * np.einsum("ij,ij->j", a, K @ a)) / (
            f**2
        ).sum(axis=0)
        assert (quotient >= model.eigenvalues_[0] * (1 - 1e-9)).all()


def test_edges_of_new_objects_are_predicted():
    """Only two of eight features decide about edges; the known part of the graph says which."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (160, 8))
    distance = np.linalg.norm(X[:, None, :2] - X[None, :, :2], axis=2)
    graph = distance < 0.5
    np.fill_diagonal(graph, False)
    train, new = np.arange(110), np.arange(110, 160)
    model = KernelGraphInference(Gaussian(2.0), n_components=2, alpha=1.0)
    model.fit(X[train], graph[np.ix_(train, train)])

    i, j = np.triu_indices(50, 1)
    truth = graph[np.ix_(new, new)][i, j]
    learned = roc_auc_score(truth, model.edge_scores(X[new])[i, j])
    plain = roc_auc_score(truth, Gaussian(2.0).block(X[new])[i, j])
    assert learned > 0.85
    assert learned > plain + 0.15
    across = roc_auc_score(graph[np.ix_(new, train)].ravel(), model.edge_scores(X[new], X[train]).ravel())
    assert across > 0.85

    predicted = model.predict_edges(X[new])
    assert not np.diagonal(predicted).any()
    np.testing.assert_array_equal(predicted, predicted.T)
    assert (predicted[i, j] == truth).mean() > 0.85
    known = model.predict_edges(X[train])
    assert known.sum() == graph[np.ix_(train, train)].sum()  # the threshold gives as many edges


def test_scores_are_minus_squared_distances(points):
    model = KernelGraphInference(Gaussian(1.0)).fit(points, random_graph(20, 30))
    T = model.transform(points)
    expected = -((T[:, None] - T[None, :3]) ** 2).sum(axis=2)
    np.testing.assert_allclose(model.edge_scores(points, points[:3]), expected, atol=1e-10)
    assert model.predict_edges(points, points[:3]).shape == (20, 3)


def test_groups_are_a_graph(points):
    groups = np.array(["x", "y"] * 10)
    joined = (groups[:, None] == groups).astype(float)
    one = KernelGraphInference(Gaussian(1.0)).fit(points, groups)
    two = KernelGraphInference(Gaussian(1.0)).fit(points, joined - np.eye(20))
    np.testing.assert_allclose(one.transform(points), two.transform(points), atol=1e-8)


def test_sparse_graphs_and_the_diagonal(points):
    A = random_graph(20, 30)
    dense = KernelGraphInference(Gaussian(1.0)).fit(points, A)
    for other in (scipy.sparse.coo_array(A), scipy.sparse.csc_matrix(A), A + 5 * np.eye(20), A > 0):
        same = KernelGraphInference(Gaussian(1.0)).fit(points, other)
        np.testing.assert_allclose(same.transform(points), dense.transform(points), atol=1e-9)


def test_sets_and_precomputed_matrices():
    sets = [{1, 2}, {1}, {1, 3}, {7, 8}, {8}, {7, 9}]
    graph = np.kron(np.eye(2), np.ones((3, 3)))
    model = KernelGraphInference(SetIntersection(), n_components=1, alpha=0.1).fit(sets, graph)
    near, far = model.edge_scores([{2}], [{3}, {9}])[0]
    assert near > far
    K = SetIntersection().block(sets)
    given = KernelGraphInference(Precomputed(), n_components=1, alpha=0.1).fit(K, graph)
    np.testing.assert_allclose(given.transform(K), model.transform(sets), atol=1e-9)
    assert model.get_feature_names_out().tolist() == ["kernelgraphinference0"]


def test_more_components_than_there_are(points):
    A = random_graph(20, 30)
    with pytest.raises(ParameterError, match=r"`n_components` must be at most 3. Got 4"):
        KernelGraphInference(Linear(), n_components=4).fit(points, A)
    assert KernelGraphInference(Linear(), n_components=3).fit(points, A).transform(points).shape == (20, 3)


def test_equal_objects_are_said():
    with pytest.raises(InputError, match="must hold different objects"):
        KernelGraphInference(n_components=1).fit(np.ones((4, 1)), [1, 1, 2, 2])


def test_two_objects():
    model = KernelGraphInference(Gaussian(1.0), n_components=1).fit([[0.0], [1.0]], [[0, 1], [1, 0]])
    assert model.predict_edges([[0.0], [1.0]]).tolist() == [[False, True], [True, False]]


def test_without_penalty(points):
    path = np.diag(np.ones(19), 1) + np.diag(np.ones(19), -1)
    free = KernelGraphInference(Gaussian(0.5), alpha=0.0).fit(points, path)  # the spectrum of the graph
    np.testing.assert_allclose(free.eigenvalues_, 2 - 2 * np.cos(np.pi * np.array([1, 2]) / 20), rtol=1e-6)
    parts = np.kron(np.eye(2), np.ones((10, 10)))
    with pytest.raises(ParameterError, match=r"`alpha` must be larger.*constant on each connected part"):
        KernelGraphInference(Gaussian(0.5), alpha=0.0).fit(points, parts)


def test_indefinite_kernels_are_told_refused_or_repaired(points):
    A, bad = random_graph(20, 30), Sigmoid(1.0, -1.0)
    with (
        pytest.warns(IndefiniteKernelWarning),
        pytest.raises(DefinitenessError, match="not positive definite on these data"),
    ):
        KernelGraphInference(bad).fit(points, A)
    assert np.isfinite(KernelGraphInference(bad, indefinite="clip").fit(points, A).transform(points)).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda A: A[:, :5],
            r"`y` must be the 20 x 20 matrix of edges .* or their 20 groups. Got shape \(20, 5\)",
        ),
        (lambda A: -A, "`y` must have weights >= 0. Got -1"),
        (lambda A: np.triu(A), "`y` must be symmetric"),
        (lambda A: np.zeros_like(A), "`y` must have at least one edge"),
        (lambda A: np.eye(20), "`y` must have at least one edge"),
        (lambda A: scipy.sparse.csr_array(np.where(A > 0, np.nan, 0)), "y .*(NaN|nan|finite)"),
        (lambda A: scipy.sparse.csr_array(A[:5, :5]), "`y` must be the 20 x 20 matrix"),
    ],
    ids=["narrow", "negative", "asymmetric", "empty", "loops", "nan", "small"],
)
def test_bad_graphs_are_named(points, change, message):
    with pytest.raises(InputError, match=message):
        KernelGraphInference().fit(points, change(random_graph(20, 30)))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"alpha": -1.0}, "`alpha` must be a finite number >= 0"),
        ({"alpha": np.nan}, "`alpha` must be"),
        ({"n_components": 0}, "`n_components` must be an integer >= 1"),
        ({"kernel": None}, "`kernel` must be a mercer Kernel"),
    ],
)
def test_bad_parameters_are_named(points, parameters, message):
    with pytest.raises(ParameterError, match=message):
        KernelGraphInference(**parameters).fit(points, random_graph(20, 30))


def test_too_many_objects_for_the_memory_are_refused_at_once(monkeypatch):
    monkeypatch.setenv("MERCER_MEMORY", "1GiB")
    X = np.zeros((47_000, 1))
    with pytest.raises(MemoryLimitError, match=r"47000 points needs 131.67 GiB.*fewer points"):
        KernelGraphInference(Gaussian(1.0)).fit(X, np.arange(47_000) % 1000)
