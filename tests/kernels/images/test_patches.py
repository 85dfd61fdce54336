"""Kernels on sets of patches."""

import numpy as np
import pytest

from mercer import Verdict
from mercer.errors import InputError, ParameterError
from mercer.images import patches
from mercer.kernels import Gaussian, Linear, Patches, Polynomial, Sigmoid
from mercer.kernels.images import patches as module
from mercer.machines import SVC

RNG = np.random.default_rng(0)
IMAGES = [RNG.random((6 + i, 9)) for i in range(4)]


@pytest.mark.parametrize("mean", [True, False])
@pytest.mark.parametrize("base", [Gaussian(0.8), Linear(), Polynomial(2)], ids=repr)
def test_it_is_the_mean_or_sum_over_pairs(base: object, mean: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_PATCHES", 7)  # parts of images
    k = Patches(base, 4, 2, mean=mean)
    reduce = np.mean if mean else np.sum
    oracle = [[reduce(base.block(patches(x, 4, 2), patches(y, 4, 2))) for y in IMAGES] for x in IMAGES]
    np.testing.assert_allclose(k.block(IMAGES), oracle, rtol=1e-13)
    np.testing.assert_allclose(k.block(IMAGES, IMAGES[1:]), np.array(oracle)[:, 1:], rtol=1e-13)
    np.testing.assert_allclose(k.diagonal(IMAGES), np.diag(oracle), rtol=1e-13)


def test_the_linear_kernel_has_mean_patches_as_features() -> None:
    k = Patches(Linear(), 3, 3)
    F = k.features(IMAGES).toarray()
    np.testing.assert_allclose(F, [patches(x, 3, 3).mean(axis=0) for x in IMAGES], rtol=1e-14)
    np.testing.assert_allclose(k.block(IMAGES), F @ F.T, rtol=1e-14)


def test_gradients_are_differences() -> None:
    k, h = Patches(Gaussian(0.8), 4, 2), 1e-5
    up, down = (k.replace(base__sigma=0.8 * np.exp(s)).block(IMAGES) for s in (h, -h))
    np.testing.assert_allclose(k.gradient(IMAGES)["base__sigma"], (up - down) / (2 * h), atol=1e-8)


def test_rules_are_resolved_on_patches() -> None:
    pool = np.concatenate([patches(x, 4, 4) for x in IMAGES])
    assert Patches(Gaussian("median"), 4).resolve(IMAGES).base == Gaussian("median").resolve(pool)


def test_what_patches_add(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_PATCHES", 5)
    k = Patches(Gaussian(0.8), 4, 2)
    x, y = IMAGES[0], IMAGES[2]
    found = k.contributions(x, y)
    assert found.total == pytest.approx(k(x, y), rel=1e-13)
    for c in found:
        top, left, bottom, right = c.pattern
        part = np.mean([Gaussian(0.8)(x[top:bottom, left:right].ravel(), q) for q in patches(y, 4, 2)])
        assert c.weight == pytest.approx(part / len(found), rel=1e-12)


def test_machines_explain_their_decisions_by_patches() -> None:
    """A bright square is what tells two classes apart, and where it is."""
    X = RNG.random((20, 12, 12)) * 0.3
    y = np.repeat([0, 1], 10)
    for image in X[10:]:
        r, c = RNG.integers(0, 3, 2) * 4
        image[r : r + 4, c : c + 4] = 1.0
    model = SVC(Patches(Gaussian(1.0), 4, 4), C=100.0).fit(X, y)
    test = RNG.random((12, 12)) * 0.3
    test[4:8, 8:12] = 1.0
    found = model.explain(test)
    assert found.total == pytest.approx(model.decision_function([test])[0], rel=1e-8)
    best = max((c for c in found if isinstance(c.pattern, tuple)), key=lambda c: c.weight)
    assert best.pattern == (4, 8, 8, 12)


def test_certificates() -> None:
    assert Patches(Gaussian(1.0)).certificate.verdict is Verdict.PSD
    assert Patches(Sigmoid()).certificate.verdict is Verdict.UNKNOWN


def test_wrong_arguments() -> None:
    with pytest.raises(InputError, match=r"X\[1\] must have at least 8 x 8 pixels. Got 7 x 9"):
        Patches(Gaussian(1.0)).block([np.zeros((8, 8)), np.zeros((7, 9))])
    with pytest.raises(InputError, match=r"X\[1\] must be grey as X\[0\] is"):
        Patches(Gaussian(1.0), 2).block([np.zeros((4, 4)), np.zeros((4, 4, 3))])
    with pytest.raises(ParameterError, match=r"Patches: `size` must be an integer >= 1"):
        Patches(Gaussian(1.0), 0)
