"""Similarities of fingerprints against sets, exact fractions and RDKit."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse
from rdkit import Chem, DataStructs
from rdkit.Chem import rdFingerprintGenerator

from mercer import refute
from mercer.errors import InputError
from mercer.kernels import DotTanimoto, Gaussian, Jaccard, MinMax, Tanimoto

RNG = np.random.default_rng(0)
BITS = (RNG.random((20, 130)) < RNG.random((20, 1))).astype(float)
BITS[3] = BITS[7] = 0
COUNTS = RNG.poisson(0.7, (20, 40)).astype(float)
COUNTS[5] = 0
SMILES = ["CCO", "OCC", "CCN", "c1ccccc1", "Cc1ccccc1O", "CC(=O)OC1=CC=CC=C1C(=O)O", "C", "[Na+].[Cl-]"]
MOLECULES = [Chem.MolFromSmiles(s) for s in SMILES]
GENERATOR = rdFingerprintGenerator.GetMorganGenerator(radius=2, fpSize=256)


def exact(shared, X):
    """s / (a + b - s) in rational arithmetic."""
    rows = [[Fraction(v) for v in row] for row in X.tolist()]
    K = np.ones((len(rows), len(rows)))
    for i, x in enumerate(rows):
        for j, y in enumerate(rows):
            s = sum(map(shared, x, y))
            union = sum(map(shared, x, x)) + sum(map(shared, y, y)) - s
            K[i, j] = float(s / union) if union else 1.0
    return K


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array, lambda X: X.astype(np.float32)])
def test_values_are_the_exact_ones(form):
    product, least = (lambda a, b: a * b), min
    np.testing.assert_allclose(Tanimoto().block(form(BITS)), exact(product, BITS), rtol=1e-6)
    np.testing.assert_allclose(MinMax().block(form(COUNTS)), exact(least, COUNTS), rtol=1e-6)
    np.testing.assert_allclose(DotTanimoto().block(form(COUNTS)), exact(product, COUNTS), rtol=1e-6)


def test_signed_vectors_have_inner_products():
    X = RNG.standard_normal((12, 3))
    X[4] = 0
    np.testing.assert_allclose(DotTanimoto().block(X), exact(lambda a, b: a * b, X), rtol=1e-12)
    assert DotTanimoto()([1.0], [-1.0]) == pytest.approx(-1 / 3)


def test_bits_are_sets_and_the_three_kernels_agree_on_them():
    sets = [frozenset(np.flatnonzero(row).tolist()) for row in BITS]
    K = Jaccard().block(sets)
    for k in (Tanimoto(), MinMax(), DotTanimoto()):
        np.testing.assert_array_equal(k.block(BITS), K)
        np.testing.assert_array_equal(k.block(BITS[:7], BITS[3:]), K[:7, 3:])


def test_what_rdkit_computes():
    bits = [GENERATOR.GetFingerprint(m) for m in MOLECULES]
    counts = [GENERATOR.GetCountFingerprint(m) for m in MOLECULES]
    long_bits = [GENERATOR.GetSparseFingerprint(m) for m in MOLECULES]
    long_counts = [GENERATOR.GetSparseCountFingerprint(m) for m in MOLECULES]
    for k, vectors in (
        (Tanimoto(), bits),
        (Tanimoto(), long_bits),
        (MinMax(), counts),
        (MinMax(), long_counts),
    ):
        peer = np.array([DataStructs.BulkTanimotoSimilarity(v, vectors) for v in vectors])
        np.testing.assert_array_equal(k.block(vectors), peer)
        assert k(vectors[0], vectors[4]) == peer[0, 4]


def test_rdkit_vectors_and_arrays_are_the_same_points():
    bits = [GENERATOR.GetFingerprint(m) for m in MOLECULES]
    dense = np.array([list(v) for v in bits])
    assert Tanimoto().domain.digests(bits) == Tanimoto().domain.digests(dense)
    np.testing.assert_array_equal(Tanimoto().block(bits, dense), Tanimoto().block(dense))
    both = Tanimoto() * Gaussian(3.0)
    assert both.certificate.verdict.name == "STRICT"
    np.testing.assert_array_equal(both.block(bits), both.block(dense))


def test_no_witness_is_found():
    for k in (Tanimoto(), MinMax(), DotTanimoto()):
        assert refute(k, random_state=0).witness is None
        assert np.linalg.eigvalsh(k.block(np.unique(BITS, axis=0))).min() > 0


def test_contributions_add_up():
    for k, X in ((Tanimoto(), BITS), (MinMax(), COUNTS), (DotTanimoto(), COUNTS)):
        for i, j in ((0, 1), (3, 7), (3, 4), (5, 5)):
            assert k.contributions(X[i], X[j]).total == pytest.approx(k(X[i], X[j]), abs=1e-12)
    assert [c.pattern for c in Tanimoto().contributions([1, 0, 1], [1, 1, 1])] == [0, 2]


@pytest.mark.parametrize(
    ("k", "X", "message"),
    [
        (Tanimoto(), [[1, 0, 2]], "entries 0 and 1. Got 2.0 in row 0, column 2. MinMax"),
        (Tanimoto(), scipy.sparse.csr_array([[0.0, 3.0]]), "Got 3.0 in row 0, column 1"),
        (MinMax(), [[1, -1]], "entries >= 0. Got -1.0 in row 0, column 1"),
        (Tanimoto(), [GENERATOR.GetFingerprint(MOLECULES[0]), "CCO"], r"X\[1\] must be a fingerprint"),
        (
            Tanimoto(),
            [
                GENERATOR.GetFingerprint(MOLECULES[0]),
                rdFingerprintGenerator.GetMorganGenerator(fpSize=64).GetFingerprint(MOLECULES[0]),
            ],
            r"of one length. Got 256 in X\[0\] and 64 in X\[1\]",
        ),
    ],
)
def test_bad_input(k, X, message):
    with pytest.raises(InputError, match=message):
        k.block(X)


def test_points_of_different_length():
    with pytest.raises(InputError, match="same"):
        Tanimoto().block([[1, 0]], [[1, 0, 1]])
