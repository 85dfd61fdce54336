"""Expressions found by search: planted structures are recovered, evidence never falls, bad input is named."""

import math

import numpy as np
import pandas as pd
import pytest

from mercer.errors import InputError, ParameterError
from mercer.kernels import Linear, Periodic, Sigmoid, Spectrum
from mercer.selection import discover

RNG = np.random.default_rng(0)
x = RNG.uniform(0, 10, 40)
X = x[:, None]
NOISE = 0.1 * RNG.standard_normal(40)
WAVE = np.sin(2 * np.pi * x / 2.5)


def restricted_evidence(K, y):
    """The density of the targets with a constant of flat prior integrated out, by its definition."""
    P, one = np.linalg.inv(K), np.ones(len(y))
    centre = y @ P @ one / (one @ P @ one)
    r = y - centre
    log_det = np.linalg.slogdet(K)[1] + math.log(one @ P @ one)
    return -0.5 * (r @ P @ r + log_det + (len(y) - 1) * math.log(2 * math.pi))


@pytest.mark.parametrize(
    ("y", "terms"),
    [
        (0.5 * x + WAVE + NOISE, {("Linear",), ("Periodic",)}),
        (x * WAVE + NOISE, {("Linear", "Periodic")}),
        (2 * x + NOISE, {("Linear",)}),
        (NOISE, {("noise",)}),
    ],
    ids=["sum", "product", "linear", "noise"],
)
def test_planted_structures_are_recovered(y, terms):
    found = discover(X, y, kernels=[Linear(), Periodic(2.4)], max_steps=2)
    assert {tuple(sorted(term.split(" * "))) for term in found.structure.split(" + ")} == terms
    evidence = [step.evidence for step in found.history]
    scores = [step.score for step in found.history]
    assert evidence == sorted(evidence)
    assert scores == sorted(scores)
    assert found.evidence == evidence[-1]
    K = found.kernel.block(X) + 1e-6 * y.var() * np.eye(40)
    assert restricted_evidence(K, y) == pytest.approx(found.evidence, rel=1e-6)
    assert found.certificate.is_psd
    assert found.machine.predict(X[:2]).shape == (2,)
    assert str(found).splitlines()[-1].endswith(found.structure)
    assert found.structure in repr(found)


def test_default_kernels_find_a_period():
    y = 0.5 * x + WAVE + NOISE
    found = discover(X, y, max_steps=2)
    assert found.structure in ("Linear + Periodic", "Periodic + Linear")
    values = found.kernel.parameters
    (period,) = [p.value for name, p in values.items() if name.endswith("period")]
    assert period == pytest.approx(2.5, abs=0.03)


def test_columns_of_tables():
    table = pd.DataFrame({"a": x[:30], "kind": ["u", "v", "w"] * 10})
    y = 2.0 * (table["kind"] == "u") + NOISE[:30]
    found = discover(table, y, max_steps=1)
    assert found.structure == "Categorical(kind)"
    assert found.machine.predict(table[:2]).shape == (2,)


def test_strings_and_several_features():
    words = ["ab" * (i % 4) + "c" * (i % 3) for i in range(20)]
    y = np.array([float(w.count("ab")) for w in words]) + NOISE[:20]
    assert discover(words, y, kernels=[Spectrum(2)], max_steps=1).structure == "Spectrum"
    points = RNG.standard_normal((30, 3))
    assert discover(points, points @ [1.0, 2.0, 3.0] + NOISE[:30], max_steps=1).structure == "Linear"


def test_expressions_name_the_kernels_that_were_given():
    words = ["ab" * (i % 4) + "c" * (i % 3) for i in range(20)]
    y = np.array([float(w.count("ab")) for w in words]) + NOISE[:20]
    found = discover(words, y, kernels=[Spectrum(2).normalized() + 1.0], max_steps=1)
    assert found.structure == repr(Spectrum(2).normalized() + 1.0)
    two = discover(words, y, kernels=[Spectrum(3), Spectrum(2)], max_steps=1)
    assert two.structure == "Spectrum [1]"


def test_bad_input_is_named():
    for y, message in (
        (np.ones(40), "two different values"),
        (["a"] * 40, "must be numbers"),
        (np.c_[x, x], r"shape \(n,\)"),
        (np.full(40, np.inf), "finite"),
        ([1.0, 2.0], "n >= 3"),
    ):
        with pytest.raises(InputError, match=f"discover: `y` .*{message}"):
            discover(X, y)
    with pytest.raises(InputError, match="40"):
        discover(X, x[:-1])
    for kernels in (Linear(), "rbf", [], [Linear(), 3], [Sigmoid(1.0, -1.0)]):
        with pytest.raises(ParameterError, match="discover: `kernels` must"):
            discover(X, x, kernels=kernels)
    for steps in (0, 1.5, True):
        with pytest.raises(ParameterError, match="`max_steps` must be an integer >= 1"):
            discover(X, x, max_steps=steps)
    with pytest.raises(InputError, match="column 'a' must hold finite numbers"):
        discover({"a": np.r_[np.nan, x[1:]]}, x)
    with pytest.raises(InputError, match="one column"):
        discover({}, x)
