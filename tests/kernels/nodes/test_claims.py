"""What is proved, refuted and refused for kernels on nodes, and machines on them."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mercer import gram
from mercer.domains import Graph
from mercer.errors import DigestError, DomainError, InputError, ParameterError
from mercer.graphs import similarity_graph
from mercer.kernels import (
    Cutoff,
    Diffusion,
    ExponentialDiffusion,
    Gaussian,
    GraphMatern,
    Heat,
    InverseCosine,
    LaplacianKernel,
    OneStep,
    PathKernel,
    Regularized,
    SeriesKernel,
    Steps,
    TruncatedSpectrum,
    VonNeumann,
    columns,
)
from mercer.machines import (
    SVC,
    KernelRidge,
    LabelPropagation,
    LabelSpreading,
    LaplacianRLSClassifier,
    LaplacianSVC,
    SpectralClustering,
)
from mercer.testing import check_kernel

FULL = "combinatorial"
P3, P4 = (3, [(0, 1), (1, 2)]), (4, [(0, 1), (1, 2), (2, 3)])
K3 = (3, [(0, 1), (1, 2), (0, 2)])
TWO_CLIQUES = [(i, j) for a in (0, 5) for i in range(a, a + 5) for j in range(i) if j >= a] + [(4, 5)]
BARBELL = (10, TWO_CLIQUES)


def test_odd_powers_are_refuted_with_a_witness() -> None:
    for length in (1, 3, 5):
        certificate = PathKernel(P4, length).certificate
        assert certificate.positive.refuted
        assert certificate.witness is not None
        assert certificate.witness.value < 0
    for length in (2, 4):
        assert PathKernel(P4, length).certificate.is_psd


def test_a_witness_may_need_all_nodes() -> None:
    loops = [(i, i, 1.0) for i in range(5)]  # 1 + 2 cos(2 pi i / 5): two eigenvalues are negative
    ring = (5, [*loops, *((i, (i + 1) % 5) for i in range(5))])
    certificate = PathKernel(ring, 1).certificate
    assert certificate.positive.refuted
    assert certificate.witness is not None
    assert len(certificate.witness.points) == 5


def test_odd_powers_of_definite_weights_are_definite() -> None:
    assert PathKernel([[3.0, 1.0], [1.0, 3.0]], 3).certificate.is_psd


def test_one_and_two_steps_depend_on_the_graph() -> None:
    # The textbook says that B + B^2 is not positive definite; on the path of three nodes it is.
    assert SeriesKernel(P4, [0, 1, 1]).certificate.positive.refuted
    path = SeriesKernel(P3, [0, 1, 1])
    assert path.certificate.is_psd
    assert np.linalg.eigvalsh(path.block(range(3))).min() > -1e-12


def test_singular_matrices_of_few_nodes_are_decided_in_fractions() -> None:
    edge, tenths = (2, [(0, 1)]), [[0.1, 0.1], [0.1, 0.1]]
    for k in (SeriesKernel(edge, [1, 1]), SeriesKernel(edge, [1, -1]), SeriesKernel(tenths, [0, 1, 0, 1])):
        assert k.certificate.is_psd
        assert not k.certificate.positive.strict
    assert SeriesKernel((3, []), [0, 1]).certificate.is_psd
    below = SeriesKernel([[1.0, 1.0], [1.0, np.nextafter(1.0, 0)]], [0, 1])  # an eigenvalue of -6e-17
    assert not below.certificate.is_psd
    ring = SeriesKernel((40, [(i, (i + 1) % 40) for i in range(40)]), [2, 1])
    assert ring.certificate.verdict.name == "UNKNOWN"


def test_functions_of_the_spectrum_are_positive_definite() -> None:
    for k in (Diffusion(P4, 1.0), ExponentialDiffusion(P4, -2.0), VonNeumann(P4, 0.5)):
        assert k.certificate.positive.proved
        assert k.certificate.positive.strict
    for r in (OneStep(2.0), Cutoff(1.0), InverseCosine(), lambda x: x):
        assert LaplacianKernel(P4, r).certificate.is_psd


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: VonNeumann(K3, 0.5), "below 0.5 in absolute value"),
        (lambda: VonNeumann(K3, -0.5), "below 0.5 in absolute value"),
        (lambda: ExponentialDiffusion(K3, 400.0), "at most 350"),
        (lambda: LaplacianKernel(K3, OneStep(2.0), laplacian=FULL), "largest of this Laplacian is 3"),
        (lambda: LaplacianKernel(K3, Steps(2.9, 2), laplacian=FULL), "largest of this Laplacian is 3"),
        (lambda: LaplacianKernel(K3, InverseCosine(), laplacian=FULL), "largest of this Laplacian is 3"),
        (lambda: LaplacianKernel(P4, OneStep(1.5)), "OneStep.a=1.5. is meant for eigenvalues of at most 1.5"),
        (lambda: LaplacianKernel(P4, lambda x: 1 - x), "must be >= 0 on the spectrum. It is -0.5"),
        (lambda: LaplacianKernel(P4, lambda x: 1.0), "a real number for each eigenvalue"),
        (lambda: LaplacianKernel(P4, 3.0), "must be a function"),
        (lambda: Regularized(0.0), "Regularized: `eps` must be a finite number > 0. Got 0"),
        (lambda: Heat(-1.0), "Heat: `t`"),
        (lambda: Steps(2.0, 1.5), "Steps: `p` must be an integer"),
        (lambda: GraphMatern(0.0), "GraphMatern: `nu`"),
        (lambda: Diffusion(P4, -1.0), "Diffusion: `t`"),
        (lambda: Diffusion(P4, 1.0, laplacian="other"), "Diffusion: `laplacian` must be one of"),
        (lambda: PathKernel(P4, 0), "PathKernel: `length`"),
        (lambda: TruncatedSpectrum(P4, 3), "`k` must be at most 2, the number of positive eigenvalues"),
        (lambda: TruncatedSpectrum((4, [(0, 1), (2, 3)]), 1), "those number 1 to 2 are 1. Got 1; use 2"),
    ],
)  # fmt: skip
def test_conditions_name_the_bound(make: Callable[[], Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        make()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Diffusion(Graph(2, [(0, 1)], directed=True), 1.0), "Diffusion: `graph` must be undirected"),
        (lambda: VonNeumann([[0, 1], [0, 0]], 0.1), "VonNeumann: `graph` must be undirected"),
        (lambda: Diffusion((3, [(0, 1), (1, 2, -0.5)]), 1.0), "nodes 1 and 2 has the weight -0.5"),
        (lambda: Diffusion("graph", 1.0), "Diffusion: `graph` must be a Graph"),
        (lambda: Diffusion(P4, 1.0).block([0, 9]), r"X\[1\] is 9, which is no node"),
    ],
)
def test_wrong_graphs_and_nodes_are_named(make: Callable[[], Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        make()


def test_the_bound_itself_is_allowed() -> None:
    k = LaplacianKernel(K3, OneStep(3.0), laplacian=FULL)
    np.testing.assert_allclose(k.block(range(3)), np.ones((3, 3)), atol=1e-12)


@pytest.mark.parametrize("make", [OneStep, lambda a: Steps(a, 3)])
def test_no_more_is_cut_off_than_rounding(make: Callable[[float], Any]) -> None:
    """The triangle has the eigenvalues 0, 3, 3."""
    with pytest.raises(ParameterError, match="largest of this Laplacian is 3"):
        LaplacianKernel(K3, make(3 * (1 - 5e-10)), laplacian=FULL)
    assert LaplacianKernel(K3, make(3 * (1 - 1e-15)), laplacian=FULL).certificate.is_psd


def test_a_users_function_is_proved_up_to_the_rounding_of_eigenvalues() -> None:
    certificate = LaplacianKernel(K3, lambda x: (x - 1) ** 2).certificate  # eigenvalues 0, 1.5, 1.5
    assert certificate.is_psd
    assert "within" in certificate.conditions[0]
    steep = LaplacianKernel(P3, lambda x: np.where(abs(x - 1) < 0.1, 1 + 1e14 * (1 - x), 1.0))
    assert not steep.certificate.is_psd


def test_the_spectrum_is_computed_once_for_a_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    from mercer.graphs import operators

    calls = []
    eigh = operators.eigh
    monkeypatch.setattr(operators, "eigh", lambda *a, **k: (calls.append(1), eigh(*a, **k))[1])
    k = Diffusion(BARBELL, 1.0)
    for t in (0.5, 1.0, 2.0):
        k.replace(t=t).block(range(10))
        LaplacianKernel(k.graph, Heat(t), laplacian=FULL).block(range(10))
    assert len(calls) == 1


def test_kernels_on_nodes_digest_pickle_and_compose() -> None:
    a, b = Diffusion(P4, 1.0), Diffusion(np.diag(np.ones(3), 1) + np.diag(np.ones(3), -1), 1.0)
    assert a == b
    assert a.digest() == b.digest()
    assert a.digest() != Diffusion(P3, 1.0).digest()
    assert pickle.loads(pickle.dumps(a)) == a
    total = 2 * a + LaplacianKernel(P4, Heat(1.0))
    assert total.certificate.is_psd
    assert a.normalized().block([0, 3])[0, 0] == 1.0
    with pytest.raises(DomainError, match="no common points"):
        a + Diffusion(P3, 1.0)
    with pytest.raises(DigestError, match="version"):
        LaplacianKernel(P4, np.exp).digest()
    assert LaplacianKernel(P4, np.exp, version="1").digest()


def test_nodes_stand_in_a_column_of_a_frame() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"node": [0, 3, 9], "x": [0.0, 1.0, 2.0]})
    K = columns(node=Diffusion(BARBELL, 1.0), x=Gaussian(1.0)).block(frame)
    np.testing.assert_allclose(
        K, Diffusion(BARBELL, 1.0).block([0, 3, 9]) + Gaussian(1.0).block(frame[["x"]]), atol=1e-13
    )


SIDE = np.repeat([0, 1], 5)
PARTIAL = np.where(np.isin(np.arange(10), [0, 9]), SIDE, -1)


@pytest.mark.parametrize("k", [PathKernel(BARBELL, 1), Diffusion(BARBELL, 1.0), VonNeumann(BARBELL, 0.1)])
def test_labels_propagate_over_nodes(k: Any) -> None:
    for machine in (LabelPropagation(k), LabelSpreading(k, alpha=0.5)):
        np.testing.assert_array_equal(machine.fit(range(10), PARTIAL).transduction_, SIDE)


def test_machines_take_nodes() -> None:
    k = LaplacianKernel(BARBELL, Regularized(0.1))
    nodes = np.arange(10)
    for machine in (
        LaplacianSVC(k, C=10.0, graph_kernel=PathKernel(BARBELL, 1)),
        LaplacianRLSClassifier(k, graph_kernel=PathKernel(BARBELL, 1)),
    ):
        np.testing.assert_array_equal(machine.fit(nodes, PARTIAL).predict(nodes), SIDE)
    model = SVC(k).fit([0, 1, 8, 9], [0, 0, 1, 1])
    np.testing.assert_array_equal(model.predict(nodes), SIDE)
    with pytest.raises(InputError, match=r"\[1\] is 10, which is no node of the graph"):
        model.predict([0, 10])
    ridge = KernelRidge(Diffusion(BARBELL, 1.0), alpha=1e-3).fit(nodes, SIDE)
    assert np.abs(ridge.predict(nodes) - SIDE).max() < 0.1
    clusters = SpectralClustering(PathKernel(BARBELL, 1), n_clusters=2).fit_predict(nodes)
    assert len(set(clusters[:5])) == len(set(clusters[5:])) == 1
    assert clusters[0] != clusters[9]


def test_labels_propagate_over_a_similarity_graph() -> None:
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.standard_normal((5, 2)), 6 + rng.standard_normal((5, 2))])
    graph = similarity_graph(X, Gaussian(2.0), k=3)
    for k in (PathKernel(graph, 1), Diffusion(graph, 5.0)):
        np.testing.assert_array_equal(LabelSpreading(k).fit(range(10), PARTIAL).transduction_, SIDE)


def test_a_kernel_on_a_large_graph_obeys_the_laws() -> None:
    ring = (60, [(i, (i + 1) % 60) for i in range(60)])
    report = check_kernel(LaplacianKernel(ring, lambda x: np.exp(-x)), range(10))
    assert "representation" in report.skipped
    k = LaplacianKernel(ring, Heat(1.0))
    assert repr(k).startswith("LaplacianKernel(graph=<graph of 60 nodes and 60 edges, ")
    assert (
        "representation" in check_kernel(k, range(10), laws=["representation", "pickling", "block"]).skipped
    )


def test_a_lazy_matrix_of_nodes_is_a_matrix() -> None:
    K = gram(Diffusion(BARBELL, 1.0), range(10))
    np.testing.assert_allclose(K.spectrum(2), np.sort(np.linalg.eigvalsh(K.dense()))[::-1][:2])
