"""Kernels in the order of their alignment: against the definition."""

import numpy as np
import pytest

from mercer.errors import InputError, ParameterError
from mercer.kernels import Gaussian, Linear, NGram, Polynomial
from mercer.selection import rank_kernels

RNG = np.random.default_rng(0)
X = RNG.standard_normal((40, 2))


def by_definition(kernel, y):
    K = np.array([[kernel(a, b) for b in X] for a in X])
    H = np.eye(40) - 1 / 40
    K, Z = H @ K @ H, H @ np.outer(y, y) @ H
    return (K * Z).sum() / (np.linalg.norm(K) * np.linalg.norm(Z))


def test_alignments_by_definition():
    signs = np.where(X[:, 0] * X[:, 1] > 0, 1.0, -1.0)
    ranking = rank_kernels({"line": Linear(), "square": Polynomial(2), "bell": Gaussian("median")}, X, signs)
    assert [row.name for row in ranking] == ["square", "bell", "line"]
    for row in ranking:
        assert row.alignment == pytest.approx(by_definition(row.kernel, signs), rel=1e-6)
    assert ranking.best == Polynomial(2)
    assert str(ranking).splitlines()[1].endswith("square")
    assert repr(ranking).startswith("<ranking of 3 kernels; best: square, alignment 0.")
    assert "<td>square</td>" in ranking._repr_html_()


def test_strings_of_several_classes():
    strings = ["".join(RNG.choice(list("ab"), 12)) for _ in range(20)]
    labels = [s[:2] for s in strings]
    ranking = rank_kernels([NGram(1).normalized(), NGram(2).normalized()], strings, labels)
    assert len(ranking) == 2
    assert ranking[0].alignment >= ranking[1].alignment > 0


def test_bad_input_is_named():
    with pytest.raises(ParameterError, match="must be a list or a dict of kernels"):
        rank_kernels(Linear(), X, X[:, 0])
    with pytest.raises(ParameterError, match="must hold kernels only"):
        rank_kernels([Linear(), "rbf"], X, X[:, 0])
    with pytest.raises(ParameterError, match="one kernel at least"):
        rank_kernels([], X, X[:, 0])
    with pytest.raises(InputError, match="two different values"):
        rank_kernels([Linear()], X, np.ones(40))
    with pytest.raises(InputError, match="one entry or one row per point"):
        rank_kernels([Linear()], X, np.ones(3))
