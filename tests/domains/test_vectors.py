"""What vectors and real numbers may be given as, and what is said about the rest."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse

from mercer.arithmetic import multiprecision
from mercer.domains import (
    NONNEGATIVE,
    POSITIVE,
    Box,
    Objects,
    Reals,
    Sets,
    Vectors,
    items,
    meet,
    size,
    take,
    to_float,
)
from mercer.errors import DomainError, InputError
from mercer.kernels import Gaussian, Linear

X = np.array([[1.0, 2.0, 0.0], [0.0, -3.0, 4.5], [7.0, 0.0, 0.0], [7.0, 0.0, 0.0]])


# -- accepted forms -----------------------------------------------------------------------------
FORMS: dict[str, Any] = {
    "C order": np.ascontiguousarray(X),
    "F order": np.asfortranarray(X),
    "strided": np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3],
    "reversed": X[::-1, ::-1].copy()[::-1, ::-1],
    "big endian": X.astype(">f8"),
    "list": X.tolist(),
    "tuple of arrays": tuple(X),
    "object": X.astype(object),
    "long double": X.astype(np.longdouble),
    "csr": scipy.sparse.csr_array(X),
    "csc": scipy.sparse.csc_array(X),
    "coo matrix": scipy.sparse.coo_matrix(X),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_block(form: str) -> None:
    for k in (Linear(), Gaussian(2.0)):
        np.testing.assert_allclose(k.block(FORMS[form]), k.block(X), rtol=1e-14, atol=1e-14)
        np.testing.assert_allclose(k.block(FORMS[form], X[:2]), k.block(X)[:, :2], rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (np.float64, np.float64),
        (np.float32, np.float32),
        (np.float16, np.float32),
        (np.int64, np.float64),
        (np.int8, np.float64),
        (np.uint8, np.float64),
        (bool, np.float64),
    ],
)
def test_types_of_numbers(given: type, kept: type) -> None:
    rows = np.array([[0, 1], [1, 1]]).astype(given)
    forms = [rows] if given is np.float16 else [rows, scipy.sparse.csr_array(rows)]  # SciPy has no float16
    for form in forms:
        assert Vectors().validate(form).dtype == kept
        np.testing.assert_array_equal(Linear().block(form), [[1, 1], [1, 2]])


def test_nothing_is_copied_without_need() -> None:
    for rows in (X, np.asfortranarray(X), X.astype(np.float32), X[::2]):
        assert np.shares_memory(Vectors().validate(rows), rows)
    sparse = scipy.sparse.csr_array(X)
    assert np.shares_memory(Vectors().validate(sparse).data, sparse.data)


def test_read_only_and_memory_mapped_input(tmp_path: Path) -> None:
    frozen = X.copy()
    frozen.flags.writeable = False
    path = tmp_path / "rows.npy"
    np.save(path, X)
    mapped = np.load(path, mmap_mode="r")
    for rows in (frozen, mapped):
        np.testing.assert_array_equal(Gaussian(1.0).block(rows), Gaussian(1.0).block(X))
        np.testing.assert_array_equal(Gaussian(1.0).block(rows, rows), Gaussian(1.0).block(X))
        np.testing.assert_array_equal(Linear().diagonal(rows), Linear().diagonal(X))


def test_single_rows_equal_rows_of_the_batch() -> None:
    K = Gaussian(1.0).block(X)
    for i in range(len(X)):
        np.testing.assert_array_equal(Gaussian(1.0).block(X[[i]], X)[0], K[i])
        np.testing.assert_array_equal(Gaussian(1.0).block(scipy.sparse.csr_array(X[[i]]), X)[0], K[i])


# -- sparse matrices mean what SciPy says -------------------------------------------------------
def _shuffled() -> Any:
    """The matrix X in CSR form with unsorted indices, a split entry and an explicit zero."""
    indptr = np.array([0, 4, 7, 8, 9])
    indices = np.array([1, 0, 2, 1, 2, 1, 0, 0, 0])
    data = np.array([1.5, 1.0, 0.0, 0.5, 4.5, -3.0, 0.0, 7.0, 7.0])
    return scipy.sparse.csr_array((data, indices, indptr), shape=X.shape)


def test_unsorted_indices_duplicates_and_explicit_zeros() -> None:
    S = _shuffled()
    np.testing.assert_array_equal(S.toarray(), X)
    before = (S.data.copy(), S.indices.copy(), S.indptr.copy())
    for k in (Linear(), Gaussian(2.0)):
        np.testing.assert_allclose(k.block(S), k.block(X), rtol=1e-14, atol=1e-14)
        np.testing.assert_allclose(k.block(_shuffled(), X), k.block(X), rtol=1e-14, atol=1e-14)
    for a, b in zip(before, (S.data, S.indices, S.indptr), strict=True):
        np.testing.assert_array_equal(a, b)  # the caller's matrix is left as it is


def test_duplicates_that_sum_to_a_forbidden_or_an_allowed_value() -> None:
    def csr(parts: list[float]) -> Any:
        data, zeros = np.array(parts), np.zeros(len(parts), dtype=int)
        return scipy.sparse.csr_array((data, zeros, np.array([0, len(parts)])), shape=(1, 2))

    positive = Vectors(region=NONNEGATIVE)
    assert positive.validate(csr([-1.0, 3.0])).toarray().tolist() == [[2.0, 0.0]]
    with pytest.raises(InputError, match=r"Got -2.0 in row 0, column 0"):
        positive.validate(csr([1.0, -3.0]))


def test_implicit_zeros_count_for_open_regions() -> None:
    with pytest.raises(InputError, match=r"entries > 0. Got 0.0 in row 0, column 2"):
        Vectors(region=POSITIVE).validate(scipy.sparse.csr_array(X[:1]))


def test_sixty_four_bit_indices() -> None:
    S = scipy.sparse.csr_array(X)
    S.indices, S.indptr = S.indices.astype(np.int64), S.indptr.astype(np.int64)
    np.testing.assert_allclose(Gaussian(1.0).block(S), Gaussian(1.0).block(X), rtol=1e-14)


# -- refused forms ------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            np.ones(3),
            r"X must be a 2-D array .* Got 1-D of shape \(3,\). Reshape your data: X.reshape\(-1, 1\)",
        ),
        (np.ones((2, 2, 2)), r"Got 3-D of shape \(2, 2, 2\)"),
        (5.0, "Got 0-D"),
        (np.array([[1.0, np.nan]]), "X must be finite. Got NaN in row 0, column 1"),
        (np.array([[1.0, 2.0], [-np.inf, 0.0]]), "X must be finite. Got infinity in row 1, column 0"),
        (np.array([[1.0, None]], dtype=object), "NaN in row 0, column 1"),
        (scipy.sparse.csr_array([[0.0, 1.0], [0.0, np.nan]]), "NaN in row 1, column 1"),
        (np.array([[1 + 2j]]), "X must be real. Got complex numbers"),
        (scipy.sparse.csr_array([[1 + 2j]]), "X must be real. Got a sparse matrix of complex numbers"),
        (np.array([["a", "b"]]), "X must be an array of real numbers"),
        ([["a", "b"]], "X must be an array of real numbers"),
        (np.array([[1.0, "a"]], dtype=object), "X must be an array of real numbers"),
        (np.array([[np.datetime64("2020-01-01")]]), "X must hold numbers. Got an array of type datetime64"),
        ([[1.0, 2.0], [3.0]], "X must be an array of real numbers"),
        ("abc", "X must be an array of real numbers"),
        (None, "0-D|real numbers"),
        ({"a": 1}, "real numbers|0-D"),
    ],
)
def test_what_is_not_an_array_of_vectors(rows: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Gaussian(1.0).block(rows)
    with pytest.raises(ValueError):  # every input error is a ValueError, too
        Gaussian(1.0).block(rows)


def test_errors_about_y_name_y() -> None:
    with pytest.raises(InputError, match=r"Y must be finite. Got NaN in row 0, column 0"):
        Gaussian(1.0).block(X, [[np.nan, 0.0, 0.0]])


def test_dimensions_must_agree() -> None:
    with pytest.raises(InputError, match=r"same number of columns. Got 3 and 2"):
        Gaussian(1.0).block(X, X[:, :2])
    with pytest.raises(InputError, match=r"same length. Got 3 and 2"):
        Gaussian(1.0)(X[0], X[0, :2])
    with pytest.raises(InputError, match=r"must have 2 column\(s\). Got 3"):
        Gaussian([1.0, 2.0]).block(X)


@pytest.mark.parametrize("k", [Linear(), Gaussian(1.0)])
def test_empty_input(k: Any) -> None:
    assert k.block(np.empty((0, 3))).shape == (0, 0)
    assert k.block(np.empty((0, 3)), X).shape == (0, 4)
    assert k.block(X, np.empty((0, 3))).shape == (4, 0)
    assert k.block([]).shape == (0, 0)
    assert k.diagonal(np.empty((0, 3))).shape == (0,)
    assert k.block(scipy.sparse.csr_array((0, 3))).shape == (0, 0)


def test_no_features_at_all() -> None:
    assert Linear().block(np.empty((2, 0))).tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert Gaussian(1.0).block(np.empty((2, 0))).tolist() == [[1.0, 1.0], [1.0, 1.0]]


# -- failure modes 1 and 2: numerics at the edge ------------------------------------------------
@pytest.mark.parametrize("offset", [1e4, 1e6, -1e7])
def test_single_precision_far_from_the_origin(offset: float) -> None:
    a, b = np.array([[offset]], dtype=np.float32), np.array([[offset + 1]], dtype=np.float32)
    assert Gaussian(1.0).block(a, b)[0, 0] == np.float32(np.exp(-0.5))


# -- one point ----------------------------------------------------------------------------------
def test_points_are_vectors_numbers_or_one_sparse_row() -> None:
    domain = Vectors()
    assert domain.point([1, 2]).tolist() == [1.0, 2.0]
    assert domain.point(3).tolist() == [3.0]
    assert domain.point(scipy.sparse.csr_array([[0.0, 2.0]])).tolist() == [0.0, 2.0]
    with pytest.raises(InputError, match="x must be one vector"):
        domain.point([[1.0], [2.0]])


def test_to_arithmetic_is_exact_and_to_float_inverts_it() -> None:
    m = multiprecision(40)
    converted = Vectors().to_arithmetic(np.array([0.1, 2.0]), m)
    assert converted[0] - m.real(0.1) == 0
    assert to_float(converted).tolist() == [0.1, 2.0]


# -- real numbers -------------------------------------------------------------------------------
def test_reals_come_in_one_or_two_dimensions() -> None:
    domain = Reals()
    for rows in ([1.0, 2.0], np.array([[1.0], [2.0]]), scipy.sparse.csr_array([[1.0], [2.0]])):
        validated = domain.validate(rows)
        assert validated.shape == (2, 1)
    assert domain.validate([]).shape == (0, 1)
    with pytest.raises(InputError, match=r"must have 1 column\(s\). Got 2"):
        domain.validate([[1.0, 2.0]])


# -- the lattice of domains ---------------------------------------------------------------------
def test_meet_of_vector_domains() -> None:
    both = meet(Vectors(dim=2), Vectors(region=NONNEGATIVE))
    assert both == Vectors(dim=2, region=NONNEGATIVE)
    assert meet(Vectors(), Reals(region=Box(0.0, 1.0))) == Reals(region=Box(0.0, 1.0))
    assert meet(Objects(), Vectors(dim=3)) == Vectors(dim=3)
    for other in (Vectors(dim=3), Sets()):
        with pytest.raises(DomainError, match="have no common points"):
            meet(Vectors(dim=2), other)


def test_size_take_and_items_agree_on_all_storage() -> None:
    dense, sparse = Vectors().validate(X), Vectors().validate(scipy.sparse.csr_array(X))
    for data in (dense, sparse, list(X)):
        assert size(data) == 4
        for index in (slice(1, 3), np.array([3, 0])):
            part = take(data, index)
            np.testing.assert_array_equal(np.array(list(items(part))), X[index])


@pytest.mark.parametrize(
    "domain", [Vectors(), Vectors(dim=2, region=NONNEGATIVE), Reals(region=Box(0.0, 1.0))]
)
def test_samples_belong_to_the_domain(domain: Vectors) -> None:
    points = domain.sample(20, np.random.default_rng(0))
    assert len(points) == 20
    domain.validate(np.array(points))


def test_dense_domains_take_sparse_rows_as_arrays():
    rows = scipy.sparse.csr_array(np.array([[0.0, 2.0], [1.0, 0.0]]))
    assert isinstance(Vectors(dense=True).validate(rows), np.ndarray)
    assert scipy.sparse.issparse(Vectors().validate(rows))
    both = meet(Vectors(), Vectors(dim=2, dense=True))
    assert both == Vectors(dim=2, dense=True)
