"""A fixed part of the odd inputs; ``make fuzz`` runs more of them."""

import random

import pytest

from .fuzz_inputs import all_cases, failures

ARGUMENTS = ("X", "y", "sample_weight")


@pytest.mark.parametrize("group", [*ARGUMENTS, "parameters"])
def test_odd_inputs(group):
    cases = [
        case
        for case in all_cases()
        if group == case[1] or (group == "parameters" and case[1] not in ARGUMENTS)
    ]
    chosen = random.Random(0).sample(cases, 75)
    assert not list(failures(chosen))
