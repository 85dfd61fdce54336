"""The windows and their witnesses."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse

from mercer.certificate import Verdict
from mercer.errors import ParameterError
from mercer.kernels.windows import BoxWindow, Epanechnikov

TOL = 1e-13


@pytest.mark.parametrize("h", [1e-9, 0.3, 1.0, 7.0, 1e12])
def test_epanechnikov_at_three_points(h: float) -> None:
    k = Epanechnikov(h)
    least = np.linalg.eigvalsh(k.block([[0.0], [h / 2], [h]]))[0]
    assert least == pytest.approx(0.75 * (1 - 0.75 * math.sqrt(2)), rel=1e-12)
    assert least == pytest.approx(-0.0455, abs=5e-5)
    witness = k.certificate.witness
    assert k.certificate.verdict is Verdict.REFUTED
    assert witness is not None
    assert witness.value == pytest.approx(least, rel=1e-9)


@pytest.mark.parametrize("h", [1e-9, 0.3, 1.0, 7.0, 1e12])
def test_box_at_three_points(h: float) -> None:
    witness = BoxWindow(h).certificate.witness
    assert BoxWindow(h).certificate.verdict is Verdict.REFUTED
    assert witness is not None
    assert witness.value == pytest.approx(1 - math.sqrt(2), rel=1e-9)


def test_values_by_definition() -> None:
    X = np.random.default_rng(0).standard_normal((8, 2))
    X[0] = 0.0
    d = np.linalg.norm(X[:, None] - X[None], axis=2)
    want = 0.75 * np.maximum(0, 1 - d**2 / 1.69)
    for data in (X, scipy.sparse.csr_array(X)):
        np.testing.assert_allclose(Epanechnikov(1.3).block(data), want, atol=TOL)
        np.testing.assert_array_equal(BoxWindow(1.3).block(data), d <= 1.3)
        assert Epanechnikov(1.3).diagonal(data).tolist() == [0.75] * 8
    single = Epanechnikov(1.3)._block(X.astype(np.float32), None)
    assert single.dtype == np.float32


def test_the_edge_belongs_to_the_box() -> None:
    assert BoxWindow(1.0).block([[0.0]], [[1.0], [math.nextafter(1.0, 2.0)]]).tolist() == [[1.0, 0.0]]


def test_gradient() -> None:
    X = np.array([[0.0], [0.2], [0.9], [5.0]])
    step = 1e-6
    up, down = (Epanechnikov(1.3 * math.exp(s)).block(X) for s in (step, -step))
    np.testing.assert_allclose(Epanechnikov(1.3).gradient(X)["h"], (up - down) / (2 * step), atol=1e-9)


@pytest.mark.parametrize("make", [Epanechnikov, BoxWindow])
def test_bad_width(make: type[Epanechnikov]) -> None:
    with pytest.raises(ParameterError, match=f"{make.__name__}: `h` must be"):
        make(0.0)
