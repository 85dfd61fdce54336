from __future__ import annotations

import copy
import dataclasses
import math
import pickle

import numpy as np
import pytest

from mercer.guarantees import (
    Bound,
    enclosing_ball_bound,
    enclosing_ball_complexity,
    fourier_features_error_probability,
    fourier_features_needed,
    margin_bound,
    perceptron_mistake_bound,
    rademacher_lower,
    rademacher_upper,
    rademacher_upper_from_radius,
    sampled_kernel_deviation,
    sampled_kernel_error_probability,
    sampled_kernel_size,
)

ONES = np.ones(50)
BOUNDS = [
    margin_bound(ONES, 0.5, norm_bound=1.0, K=50.0),
    margin_bound(ONES, 0.5, norm_bound=1.0, radius=1.0, rho_max=2.0),
    enclosing_ball_bound(ONES, 0.5, K=50.0, radius=1.0, norm_bound=1.0),
    enclosing_ball_complexity(50.0, radius=1.0, norm_bound=1.0, n=50),
    rademacher_upper(50.0, 1.0, n=50),
    rademacher_lower(50.0, 1.0, n=50),
    rademacher_upper_from_radius(1.0, 1.0, n=50),
    perceptron_mistake_bound(1.0, 0.5),
    fourier_features_error_probability(100, dim=2, radius=1.0, sigma_p=1.0, eps=0.5),
    fourier_features_needed(2, 1.0, 1.0, 0.5, 0.1),
    sampled_kernel_error_probability(100, bound=1.0, eps=0.5),
    sampled_kernel_deviation(100, bound=1.0, delta=0.1),
    sampled_kernel_size(1.0, 0.1, 0.05, 100),
]


@pytest.mark.parametrize("bound", BOUNDS, ids=lambda bound: bound.name)
class TestEveryBound:
    def test_terms_add_up_to_the_value(self, bound: Bound) -> None:
        assert math.fsum(bound.terms.values()) == pytest.approx(bound.value, rel=1e-15)

    def test_float(self, bound: Bound) -> None:
        assert float(bound) == bound.value

    def test_explanation_states_every_assumption_and_the_formula(self, bound: Bound) -> None:
        text = str(bound)
        assert text == bound.explain()
        assert bound.assumptions
        for part in (bound.name, bound.formula, *bound.assumptions, *bound.inputs):
            assert part in text

    def test_explanation_says_whether_it_is_vacuous_and_why(self, bound: Bound) -> None:
        assert ("vacuous: yes, " in str(bound)) == bound.vacuous
        assert bool(bound.vacuous_because) == bound.vacuous
        assert bound.vacuous_because in str(bound)

    def test_is_immutable(self, bound: Bound) -> None:
        with pytest.raises(dataclasses.FrozenInstanceError):
            bound.value = 0.0  # type: ignore[misc]
        with pytest.raises(TypeError):
            bound.terms["x"] = 1.0  # type: ignore[index]
        with pytest.raises(TypeError):
            bound.inputs["x"] = 1.0  # type: ignore[index]

    def test_copies_and_pickles(self, bound: Bound) -> None:
        for twin in (pickle.loads(pickle.dumps(bound)), copy.deepcopy(bound), copy.copy(bound)):
            assert twin == bound
            assert hash(twin) == hash(bound)
            assert str(twin) == str(bound)

    def test_inputs_are_plain_python(self, bound: Bound) -> None:
        assert all(type(v) in (int, float, type(None)) for v in bound.inputs.values())


def test_int_is_for_sample_sizes() -> None:
    assert int(sampled_kernel_size(1.0, 0.1, 0.05, 100)) == 2444
    with pytest.raises(TypeError, match="only a sample size converts to int"):
        int(perceptron_mistake_bound(1.0, 0.3))


def test_confidence_is_stated() -> None:
    assert BOUNDS[0].holds_with_probability == pytest.approx(0.95)
    assert "with probability at least 0.95" in str(BOUNDS[0])
    assert BOUNDS[4].holds_with_probability is None


def test_repr_is_one_line() -> None:
    assert repr(BOUNDS[7]) == "Bound('mistakes of the perceptron', value=4, vacuous=False)"


def test_terms_do_not_alias_the_callers_dict() -> None:
    terms = {"a": 1.0}
    bound = Bound(1.0, "n", "f", ("x",), None, False, terms)
    terms["a"] = 2.0
    assert bound.terms["a"] == 1.0
