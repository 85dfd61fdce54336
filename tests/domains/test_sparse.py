"""Sparse matrices whose indices lead out of them are refused before native code follows them."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import Ridge

from mercer import columns, gram
from mercer.batches import Batches
from mercer.domains import Adjacency, check_sparse
from mercer.errors import InputError
from mercer.features import PolynomialMap, RandomFourier
from mercer.graphs import as_graph, components, eigenbasis, laplacian, smoothness
from mercer.kernels import (
    Diffusion,
    Gaussian,
    Graphlets,
    Intersection,
    Laplacian,
    LaplacianKernel,
    Linear,
    PathKernel,
    Polynomial,
    Precomputed,
    RandomWalk,
    Regularized,
    ShortestPath,
    VertexHistogram,
    WeisfeilerLehman,
)
from mercer.machines import (
    SVC,
    Conformal,
    KernelGraphInference,
    KernelKMeans,
    KernelPCA,
    KernelRidge,
    SmoothingSpline,
)
from mercer.selection import KernelSearchCV, discover, learn_metric, rank_kernels, tune

SOUND = sparse.random_array((8, 6), density=0.4, rng=np.random.default_rng(0), format="csr")
LABELS = np.arange(8) % 2


def changed(attribute, position, value, kind="csr"):
    """A matrix one of whose arrays has another entry."""
    matrix = SOUND.asformat(kind).copy()
    array = getattr(matrix, attribute)
    if position is None:
        setattr(matrix, attribute, array[:value])
    else:
        array[position] = value
    return matrix


def coo():
    matrix = SOUND.tocoo()
    return sparse.coo_array((matrix.data.copy(), (matrix.row.copy(), matrix.col.copy())), matrix.shape)


def lil():
    matrix = SOUND.tolil()
    matrix.rows[2] = [*matrix.rows[2][:-1], 10**6] if matrix.rows[2] else matrix.rows[2]
    return matrix


def dok():
    matrix = SOUND.todok()
    matrix._dict[10**6, 3] = 1.0
    return matrix


def dia():
    matrix = SOUND.todia()
    matrix.offsets = matrix.offsets[:2]
    return matrix


def broken_coo(axis, value):
    matrix = coo()
    matrix.coords[axis][3] = value
    return matrix


BROKEN = {
    "column too large": lambda: changed("indices", 3, 6),
    "column far too large": lambda: changed("indices", 3, 2**31 - 1),
    "negative column": lambda: changed("indices", 3, -1),
    "negative pointer": lambda: changed("indptr", 3, -5),
    "falling pointers": lambda: changed("indptr", 3, 10**9),
    "first pointer": lambda: changed("indptr", 0, 1),
    "last pointer": lambda: changed("indptr", -1, 10**6),
    "few pointers": lambda: changed("indptr", None, 4),
    "few data": lambda: changed("data", None, 4),
    "few indices": lambda: changed("indices", None, 4),
    "csc": lambda: changed("indices", 3, 8, "csc"),
    "bsr": lambda: changed("indices", 0, 77, "bsr"),
    "coo row": lambda: broken_coo(0, 10**6),
    "coo column": lambda: broken_coo(1, -2),
    "lil": lil,
    "dok": dok,
    "dia": dia,
}

broken = pytest.mark.parametrize("make", BROKEN.values(), ids=BROKEN)


@broken
@pytest.mark.parametrize(
    "kernel", [Linear(), Gaussian(1.0), Laplacian(1.0), Polynomial(2), Intersection()], ids=repr
)
def test_kernels(make, kernel):
    for use in (
        kernel.block,
        kernel.diagonal,
        lambda X: gram(kernel, X).dense(),
        lambda X: kernel.block(SOUND, X),
    ):
        with pytest.raises(InputError, match="must be a valid sparse matrix"):
            use(make())
    with pytest.raises(InputError, match="must be a valid sparse matrix"):
        PolynomialMap(2).fit_transform(make())


@broken
@pytest.mark.parametrize("machine", [SVC(), KernelRidge(), KernelPCA(), KernelKMeans(n_clusters=2)], ids=repr)
def test_machines(make, machine):
    with pytest.raises(InputError, match=f"{type(machine).__name__}: `X` must be a valid sparse matrix"):
        machine.fit(make(), LABELS)
    model = machine.fit(SOUND, LABELS)
    use = model.predict if hasattr(model, "predict") else model.transform
    with pytest.raises(InputError, match="must be a valid sparse matrix"):
        use(make())


@broken
def test_searches(make):
    """Rows are taken for the folds before a machine sees them."""
    searches = [
        KernelSearchCV(SVC(), {"C": [1.0, 2.0]}, cv=2),
        KernelSearchCV(KernelRidge(), {"alpha": [1.0, 2.0]}, cv="loo"),
        KernelSearchCV(KernelRidge(approximation=RandomFourier(Gaussian(1.0), 5)), {"alpha": [1.0]}, cv=2),
        Conformal(Ridge(), method="split"),
    ]
    for search in searches:
        name = type(search).__name__
        with pytest.raises(InputError, match=f"{name}: `X` must be a valid sparse matrix"):
            search.fit(make(), LABELS)
    with pytest.raises(InputError, match="must be a valid sparse matrix"):
        searches[0].fit(SOUND, LABELS).predict(make())
    for choose in (
        lambda X: rank_kernels([Gaussian(1.0)], X, LABELS),
        lambda X: discover(X, np.arange(8.0)),
        lambda X: learn_metric(X, LABELS),
        lambda X: tune(KernelRidge(Gaussian(1.0)), X, np.arange(8.0), criterion="loo"),
        lambda X: Batches.from_arrays(X, LABELS),
        lambda X: KernelRidge(approximation=RandomFourier(Gaussian(1.0), 5)).fit(Batches([(X, LABELS)])),
    ):
        with pytest.raises(InputError, match="must be a valid sparse matrix"):
            choose(make())


@pytest.mark.parametrize(
    "fit",
    [
        lambda y: SVC().fit(np.eye(8), y),
        lambda y: KernelRidge().fit(np.eye(8), y),
        lambda y: KernelRidge().fit(np.eye(8), LABELS, y),
        lambda y: KernelSearchCV(KernelRidge(), {"alpha": [1.0]}, cv=2).fit(np.eye(8), y),
        lambda y: KernelSearchCV(SVC(), {"C": [1.0]}, cv=2).fit(np.eye(8), LABELS, y),
        lambda y: SmoothingSpline().fit(np.arange(8.0), y),
        lambda y: SVC(Precomputed()).fit(y, LABELS),
    ],
)
def test_targets_weights_and_precomputed_matrices_are_dense(fit):
    for make in BROKEN.values():
        with pytest.raises(InputError, match="must be a valid sparse matrix"):
            fit(make())
    with pytest.raises(InputError, match=r"must be dense\. Got a sparse matrix of shape \(8, 6\)"):
        fit(SOUND)


def test_numbers_are_real():
    objects = SOUND.copy()
    objects.data = objects.data.astype(object)
    for matrix, kind in ((SOUND * 1j, "complex numbers"), (objects, "type object")):
        for form in (matrix, matrix.tocoo()) if matrix.dtype.kind == "c" else (matrix,):
            for use in (Gaussian(1.0).block, lambda X: SVC().fit(X, LABELS), lambda X: check_sparse(X, "X")):
                with pytest.raises(InputError, match=f"must be real. Got a sparse matrix of {kind}"):
                    use(form)


def test_searches_take_every_format():
    expected = KernelSearchCV(SVC(), {"C": [1.0, 2.0]}, cv=2).fit(SOUND.toarray(), LABELS)
    for kind in ("csc", "bsr", "coo", "lil", "dok", "dia"):
        search = KernelSearchCV(SVC(), {"C": [1.0, 2.0]}, cv=2).fit(SOUND.asformat(kind), LABELS)
        scores = (s.cv_results_["mean_test_score"] for s in (search, expected))
        np.testing.assert_array_equal(*scores)


def test_graphs_of_edges():
    edges = sparse.csr_array(np.ones((8, 8)) - np.eye(8))
    edges.indices[3] = 99
    with pytest.raises(InputError, match="`y` must be a valid sparse matrix"):
        KernelGraphInference().fit(np.eye(8), edges)
    with pytest.raises(InputError, match="`penalty` must be a valid sparse matrix"):
        Gaussian(1.0).warped(np.eye(8), edges)


@pytest.mark.parametrize("kind", ["csr", "csc", "bsr", "coo", "lil", "dok", "dia"])
def test_sound_matrices_pass(kind):
    matrix = SOUND.asformat(kind)
    check_sparse(matrix, "X")
    np.testing.assert_allclose(Gaussian(1.0).block(matrix), Gaussian(1.0).block(SOUND.toarray()))


def test_unsorted_indices_and_duplicates_are_sound():
    rows, columns = np.array([0, 0, 0, 1, 1]), np.array([2, 0, 2, 1, 0])
    matrix = sparse.csr_array((np.arange(1.0, 6.0), columns, [0, 3, 5]), shape=(2, 3))
    dense = np.zeros((2, 3))
    np.add.at(dense, (rows, columns), np.arange(1.0, 6.0))
    for kernel in (Linear(), Gaussian(1.0)):
        np.testing.assert_allclose(kernel.block(matrix), kernel.block(dense))
    matrix.has_canonical_format = True  # which it has not
    np.testing.assert_allclose(Linear().block(matrix), Linear().block(dense))


SQUARE = sparse.csr_array(np.ones((6, 6)) - np.eye(6))


def changed_square(attribute, position, value, kind="csr"):
    matrix = SQUARE.asformat(kind).copy()
    if kind == "coo":
        matrix.coords[attribute][position] = value
    elif kind == "dok":
        matrix._dict[value, position] = 1.0
    else:
        getattr(matrix, attribute)[position] = value
    return matrix


BROKEN_GRAPHS = {
    "column too large": lambda: changed_square("indices", 3, 6),
    "column far too large": lambda: changed_square("indices", 3, 2**31 - 1),
    "negative column": lambda: changed_square("indices", 3, -1),
    "negative pointer": lambda: changed_square("indptr", 3, -5),
    "falling pointers": lambda: changed_square("indptr", 3, 10**9),
    "csc": lambda: changed_square("indices", 3, 10**6, "csc"),
    "bsr": lambda: changed_square("indices", 0, 10**6, "bsr"),
    "coo row": lambda: changed_square(0, 3, 10**6, "coo"),
    "coo column": lambda: changed_square(1, 3, -2, "coo"),
    "dok": lambda: changed_square(None, 3, 99, "dok"),
}


@pytest.mark.parametrize("make", BROKEN_GRAPHS.values(), ids=BROKEN_GRAPHS)
def test_graphs(make):
    label_kernels = (WeisfeilerLehman(1), RandomWalk(0.01), ShortestPath(), Graphlets(3), VertexHistogram())
    uses = [
        *(lambda A, k=k: k.block([SQUARE, A]) for k in label_kernels),
        lambda A: VertexHistogram()(A, A),
        lambda A: VertexHistogram().block([(A, "abcdef")]),
        lambda A: SVC(VertexHistogram()).fit([SQUARE, A], [0, 1]),
        lambda A: columns({"g": VertexHistogram()}).block({"g": [SQUARE, A]}),
        lambda A: as_graph(A, directed=True),
        laplacian,
        lambda A: smoothness(A, np.arange(6.0)),
        components,
        lambda A: eigenbasis(A, 2),
        Adjacency.of,
        lambda A: Diffusion(A, 0.5),
        lambda A: PathKernel(A, 2),
        lambda A: LaplacianKernel(A, Regularized(1.0)),
    ]
    for use in uses:
        with pytest.raises(InputError, match="must be a valid sparse matrix"):
            use(make())


@pytest.mark.parametrize("kind", ["csr", "csc", "bsr", "coo", "lil", "dok", "dia"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int8, bool])
def test_sound_graphs_have_the_values_of_their_dense_matrices(kind, dtype):
    dense = (np.abs(np.subtract.outer(range(6), range(6))) == 1).astype(dtype)
    f, numbers = np.arange(6.0) ** 2, dense.astype(float)
    L = np.diag(numbers.sum(axis=1)) - numbers
    for constructor in (getattr(sparse, f"{kind}_array"), getattr(sparse, f"{kind}_matrix")):
        A = constructor(dense)
        np.testing.assert_array_equal(laplacian(A).toarray(), L)
        assert smoothness(A, f) == f @ L @ f
        assert components(A)[0] == 1
        np.testing.assert_allclose(eigenbasis(A, 2).values, eigenbasis(numbers, 2).values, atol=1e-12)
        assert Diffusion(A, 0.5) == Diffusion(numbers, 0.5)
        assert as_graph(A) == as_graph(dense)
