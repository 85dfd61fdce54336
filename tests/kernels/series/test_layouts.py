"""What every kernel on time series does with axes, empty series and missing numbers."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import mercer
from mercer import Kernel
from mercer.errors import DomainError, InputError, ParameterError
from mercer.kernels import DTW, Autocorrelation, GlobalAlignment, SoftDTW, Transitions
from mercer.machines import SVC, KernelRidge

KERNELS = [GlobalAlignment, DTW, SoftDTW, Transitions, Autocorrelation]

#: Fourteen series of three channels and forty steps, as aeon has them.
X = np.random.default_rng(0).standard_normal((14, 3, 40)).cumsum(axis=2)
TURNED = X.transpose(0, 2, 1)


def both(make: Any) -> tuple[Kernel, Kernel]:
    return make(layout="channels_first"), make(layout="time_first")


@pytest.mark.parametrize("make", KERNELS)
def test_values_do_not_depend_on_the_layout(make: Any) -> None:
    first, last = (k.resolve(A) for k, A in zip(both(make), (X, TURNED), strict=True))
    expected = last.block(TURNED)
    np.testing.assert_array_equal(first.block(X), expected)
    np.testing.assert_array_equal(first.block(list(X)), expected)
    np.testing.assert_array_equal(first.block(X[:3], X), last.block(TURNED[:3], TURNED))
    np.testing.assert_array_equal(first.diagonal(X), last.diagonal(TURNED))
    assert first(X[0], X[1]) == last(TURNED[0], TURNED[1])
    np.testing.assert_array_equal(make().replace(**sizes(last)).block(list(TURNED)), expected)
    longer = np.concatenate([X[0], X[1], X[2]], axis=1)  # one value is computed natively
    assert first(longer, X[1]) == last(longer.T, TURNED[1])
    assert first.contributions(X[0], X[1]).total == last.contributions(TURNED[0], TURNED[1]).total
    assert first.certificate.verdict is last.certificate.verdict
    assert first != last
    assert eval(repr(first), {make.__name__: make, "array": np.array}) == first


def sizes(k: Any) -> dict[str, Any]:
    return {name: value for name, value in k.get_params(deep=False).items() if name != "layout"}


@pytest.mark.parametrize("make", KERNELS)
def test_an_array_that_could_be_either_is_refused(make: Any) -> None:
    y = np.arange(14) % 2
    for A in (X, TURNED, X[:, :1]):
        with pytest.raises(InputError, match=r"X must say which axis is time.*layout='channels_first'"):
            KernelRidge(make()).fit(A, y)
    KernelRidge(make()).fit(TURNED[:, :, :1], y)
    with pytest.raises(ParameterError, match="`layout` must be one of"):
        make(layout="aeon")


@pytest.mark.parametrize("make", [GlobalAlignment, Transitions, Autocorrelation])
def test_machines_read_training_and_test_data_alike(make: Any) -> None:
    y = (X[:, 0].mean(axis=1) > X[:, 1].mean(axis=1)).astype(int)
    first, last = (SVC(k, C=10.0).fit(A[:10], y[:10]) for k, A in zip(both(make), (X, TURNED), strict=True))
    expected = last.decision_function(TURNED[10:])
    np.testing.assert_array_equal(first.decision_function(X[10:]), expected)
    np.testing.assert_array_equal(first.decision_function(list(X[10:])), expected)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(first)).decision_function(X[10:]), expected)


def test_sums_and_gram_matrices() -> None:
    k = GlobalAlignment(9.0, layout="channels_first") + DTW(20.0)  # one of them says how
    expected = GlobalAlignment(9.0).block(list(TURNED)) + DTW(20.0).block(list(TURNED))
    np.testing.assert_allclose(k.block(X), expected, rtol=1e-14)
    np.testing.assert_allclose(mercer.gram(k, X) @ np.ones(14), expected.sum(axis=1), rtol=1e-12)
    assert (k + k)(X[0], X[1]) == pytest.approx(2 * expected[0, 1], rel=1e-12)
    with pytest.raises(DomainError, match="channels first"):
        GlobalAlignment(layout="channels_first") + DTW(layout="time_first")


def test_columns_of_a_frame() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"walk": list(X), "age": np.arange(14.0)})
    turned = pandas.DataFrame({"walk": list(TURNED), "age": np.arange(14.0)})
    first, last = (
        mercer.columns({"walk": k, "age": mercer.kernels.Gaussian(3.0)})
        for k in both(lambda layout: GlobalAlignment(9.0, layout=layout))
    )
    np.testing.assert_array_equal(first.block(frame), last.block(turned))
    assert first.block(frame)[0, 1] != first.block(turned)[0, 1]
    frame.at[5, "walk"] = np.zeros((3, 0))
    with pytest.raises(InputError, match=r"\[5\] must have at least one step"):
        first.block(frame)


@pytest.mark.parametrize("make", KERNELS)
def test_empty_and_unfit_series_are_named(make: Any) -> None:
    k = make(missing="drop").resolve([[1.0, 2.0, 4.0], [3.0, 1.0, 2.0]])
    for bad, message in (
        ([], "at least one step"),
        (np.zeros((0, 1)), "at least one step"),
        ([np.nan, np.nan], "a step without missing numbers"),
        ([1.0, np.inf], "finite numbers.* at step 1"),
    ):
        with pytest.raises(InputError, match=rf"X\[1\] must .*{message}"):
            k.block([[1.0, 2.0], bad])
        with pytest.raises(InputError, match=rf"Y\[0\] must .*{message}"):
            k.block([[1.0, 2.0]], [bad])
        with pytest.raises(InputError, match=message):
            k.diagonal([[1.0], bad])
        with pytest.raises(InputError, match=message):
            k([1.0], bad)
        with pytest.raises(InputError, match=message):
            k.contributions(bad, [1.0])
    with pytest.raises(InputError, match=r"X\[1\] must have no missing numbers. Got NaN at step 1"):
        k.replace(missing="error").block([[1.0, 2.0], [1.0, np.nan]])
