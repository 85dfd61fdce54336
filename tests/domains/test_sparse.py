"""Sparse matrices whose indices lead out of them are refused before native code follows them."""

import numpy as np
import pytest
from scipy import sparse

from mercer import gram
from mercer.domains import check_sparse
from mercer.errors import InputError
from mercer.features import PolynomialMap
from mercer.kernels import Gaussian, Intersection, Laplacian, Linear, Polynomial
from mercer.machines import SVC, KernelGraphInference, KernelKMeans, KernelPCA, KernelRidge

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
