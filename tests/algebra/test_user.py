"""Kernels of one's own by a function: its further arguments are parameters."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import cloudpickle
import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

import mercer
from mercer import Kernel, parameter
from mercer.domains import Reals, Vectors
from mercer.errors import ParameterError
from mercer.kernels import Gaussian
from mercer.machines import SVC, KernelRidge
from mercer.testing import check_kernel

BONUS: Any = parameter(0.5, low=0.0)


@mercer.kernel(assume="PSD", reason="sums of indicators", version="1")
def overlap(
    x: str, y: str, *, decay: float = 1.0, bonus: float = parameter(0.5, low=0.0), n: int = 1
) -> float:
    """Shared n-grams, weighted."""
    grams = [{s[i : i + n] for i in range(len(s) - n + 1)} for s in (x, y)]
    return decay * len(grams[0] & grams[1]) + bonus


def _block(X: Any, Y: Any, *, width: float) -> np.ndarray:
    return np.exp(-(((X[:, None] - Y[None]) / width) ** 2).sum(axis=-1))


def _bell(x: np.ndarray, y: np.ndarray, width: float = 2.0) -> float:
    return float(np.exp(-np.sum(((x - y) / width) ** 2)))


WORDS = ["abca", "bcd", "abcd", "", "dd", "abc"]


def test_a_kernel_with_its_defaults_is_a_value() -> None:
    assert overlap("abca", "bcd") == 2.5
    assert overlap.decay == 1.0
    assert repr(overlap) == "overlap"
    assert str(overlap.certificate.verdict) == "PSD"
    check_kernel(overlap, WORDS)


def test_parameters_by_keyword_give_another_kernel() -> None:
    k = overlap(decay=0.3, n=2)
    assert isinstance(k, Kernel)
    assert k == overlap.replace(n=2, decay=0.3) != overlap
    assert hash(k) == hash(overlap(n=2, decay=0.3))
    assert k("abca", "bcd") == 0.3 + 0.5
    assert overlap.decay == 1.0
    assert repr(k) == "overlap(decay=0.3, n=2)"
    assert eval(repr(k)) == k
    assert k(decay=1.0, n=1) == overlap
    assert str(k.certificate.verdict) == "PSD"
    check_kernel(k, WORDS)
    for wrong in (lambda: k("a"), lambda: k("a", "b", decay=2.0), lambda: k(), lambda: k("a", decay=1.0)):
        with pytest.raises(TypeError, match=r"takes two points, k\(x, y\), or parameters by keyword"):
            wrong()


def test_ranges_follow_the_defaults() -> None:
    with pytest.raises(ParameterError, match=r"`decay` must be a finite number > 0\. Got -1"):
        overlap(decay=-1.0)
    with pytest.raises(ParameterError, match=r"`bonus` must be a finite number >= 0\. Got -1"):
        overlap(bonus=-1.0)
    with pytest.raises(ParameterError, match=r"`n` must be an integer\. Got 1\.5"):
        overlap(n=1.5)
    with pytest.raises(ParameterError, match="has no parameter `width`"):
        overlap(width=1.0)
    assert set(overlap.parameters) == {"decay"}  # positive floats are tuned
    shifted = mercer.kernel(lambda x, y, shift=0.0: x * y + shift)
    assert shifted(shift=-3)(1.0, 2.0) == -1.0
    assert not shifted.parameters


def test_what_is_no_parameter() -> None:
    def remembers(x: float, y: float, seen: dict[Any, Any] = {}, *more: Any, _hidden: float = 2.0) -> float:  # noqa: B006
        seen[x, y] = True
        return x * y * _hidden

    assert mercer.kernel(remembers)(2.0, 3.0) == 12.0
    with pytest.raises(ParameterError, match=r"argument `z` of .*needs_z must have a default value"):

        @mercer.kernel
        def needs_z(x: float, y: float, z: float) -> float:
            return x * y * z

    with pytest.raises(ParameterError, match=r"argument `domain` of .*clash must have another name"):

        @mercer.kernel
        def clash(x: float, y: float, *, domain: float = 1.0) -> float:
            return x * y * domain

    with pytest.raises(ParameterError, match=r"`block` must take the parameters of .*lacks width"):
        mercer.kernel(lambda x, y, width=1.0: x * y * width, block=lambda X, Y: X @ Y.T)
    assert mercer.kernel(max)(1.0, 2.0) == 2.0  # of another language, without a signature


def test_blocks_get_the_parameters() -> None:
    X = np.random.default_rng(0).standard_normal((6, 2))
    k = mercer.kernel(_bell, domain=Vectors(dense=True), block=_block)
    assert repr(k(width=0.5)).endswith("block=_block)(width=0.5)")
    np.testing.assert_allclose(k(width=0.5).block(X), Gaussian(0.5 / np.sqrt(2)).block(X), rtol=1e-12)
    check_kernel(k(width=0.5), X)


def test_machines_and_searches_see_the_parameters() -> None:
    X = WORDS * 4
    y = [len(w) for w in X]
    model = KernelRidge(overlap).set_params(kernel__decay=0.3)
    assert model.get_params()["kernel__decay"] == 0.3
    assert model.kernel == overlap(decay=0.3)
    search = GridSearchCV(KernelRidge(overlap), {"kernel__decay": [0.1, 10.0]}, cv=3).fit(X, y)
    assert search.best_params_ in ({"kernel__decay": 0.1}, {"kernel__decay": 10.0})
    both = KernelRidge(overlap + 2.0).set_params(kernel__term0__n=2)
    assert both.kernel == overlap(n=2) + 2.0


def test_digests_see_values_not_claims() -> None:
    assert overlap(decay=0.3).digest() == overlap(decay=0.3).digest() != overlap.digest()
    silent = overlap.replace(verdict=None, reason="")
    assert silent.digest() == overlap.digest()
    assert str(silent.certificate.verdict) == "UNKNOWN"


def test_pickles() -> None:
    for k in (overlap, overlap(decay=0.3), overlap(n=2) + 2.0):
        assert pickle.loads(pickle.dumps(k)) == k
        assert cloudpickle.loads(cloudpickle.dumps(k)) == k
    model = KernelRidge(overlap(decay=0.3)).fit(WORDS, np.arange(6))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(WORDS), model.predict(WORDS))


SCRIPT = """
import pickle, sys
import mercer
from mercer.machines import KernelRidge

@mercer.kernel(assume="PSD", reason="a sum")
def likeness(x, y, *, decay=0.5):
    return decay * len(set(x) & set(y)) + 1.0

words = ["ab", "bc", "cd", "abc"]
model = KernelRidge(likeness(decay=0.25)).fit(words, [1.0, 2.0, 3.0, 4.0])
assert pickle.loads(pickle.dumps(likeness)) == likeness
with open(sys.argv[1], "wb") as file:
    pickle.dump((model, words, model.predict(words)), file)
"""

LOAD = """
import pickle, sys
import numpy as np
model, words, values = pickle.load(open(sys.argv[1], "rb"))
assert np.array_equal(model.predict(words), values)
print(repr(model.kernel), model.kernel.certificate.verdict)
"""


def test_functions_of_a_script_go_along(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    path = str(tmp_path / "model.pickle")
    subprocess.run([sys.executable, tmp_path / "script.py", path], check=True)
    done = subprocess.run([sys.executable, "-c", LOAD, path], check=True, capture_output=True, text=True)
    assert done.stdout == "kernel(likeness, assume='PSD', reason='a sum')(decay=0.25) PSD\n"


def test_a_function_that_is_gone_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    text = pickle.dumps(overlap)
    monkeypatch.delattr(sys.modules[__name__], "overlap")
    with pytest.raises(pickle.UnpicklingError, match="the kernel `overlap` was pickled by its name"):
        pickle.loads(text)


# -- classes ------------------------------------------------------------------------------------
def test_a_default_is_all_that_a_parameter_needs() -> None:
    class Steep(Kernel):
        sigma: float = parameter(1.0)

        def __call__(self, x: float, y: float) -> float:
            return float(np.exp(-abs(x - y) / self.sigma))

    assert Steep() == Steep(1.0)
    assert repr(Steep()).endswith("Steep()")
    assert repr(Steep(2.0)).endswith("Steep(sigma=2.0)")
    with pytest.raises(ParameterError, match="`sigma` must be a finite number"):
        Steep("wide")


def test_a_constructor_is_refused_with_advice() -> None:
    with pytest.raises(
        TypeError, match=r"Steep: a kernel has no __init__ .* `sigma: float = parameter\(1\.0"
    ):

        class Steep(Kernel):
            def __init__(self, sigma: float) -> None:
                self.sigma = sigma


def test_reals_and_models() -> None:
    k = mercer.kernel(lambda s, t, scale=1.0: min(s, t) * scale, domain=Reals())
    assert k(scale=3.0)(1.0, 2.0) == 3.0
    model = SVC(k(scale=3.0).assume("PSD")).fit([[1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 1])
    assert model.predict([[0.5], [5.0]]).tolist() == [0, 1]


class Hits(mercer.Kernel):
    """Number of positive coordinates in common; whole numbers throughout."""

    @property
    def domain(self) -> Vectors:
        return Vectors(dense=True)

    def __call__(self, x: Any, y: Any) -> int:
        return int(np.sum((np.asarray(x) > 0) & (np.asarray(y) > 0)))

    def _block(self, X: np.ndarray, Y: np.ndarray | None) -> np.ndarray:
        Y = X if Y is None else Y
        return (X > 0).astype(int) @ (Y > 0).astype(int).T

    def _diagonal(self, X: np.ndarray) -> np.ndarray:
        return np.asarray((X > 0).sum(axis=1))


@pytest.mark.parametrize(
    "make",
    [
        lambda k: k,
        lambda k: k.normalized(),
        lambda k: k.exp(),
        lambda k: k**2,
        lambda k: k**0.5,
        lambda k: k.distance(),
        lambda k: k.power_series("cosh"),
        lambda k: k.gaussian(1.0),
        lambda k: 1 / (2 + k),
    ],
)
def test_values_may_be_whole_numbers(make: Any) -> None:
    k, X = make(Hits()), np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]])
    pairs = [[k(x, y) for y in X] for x in X]
    np.testing.assert_allclose(k.block(X), pairs, rtol=1e-14)
    np.testing.assert_allclose(k.diagonal(X), np.diagonal(pairs), rtol=1e-14)
