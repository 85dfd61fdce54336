"""Every law has teeth: it catches a kernel that was broken on purpose, and passes one that was not."""

import numpy as np
import pytest

from mercer.kernels import Gaussian
from mercer.testing import LAWS, LawViolation, check_kernel

from .cases import Case
from .mutants import MUTANTS, POINTS


@pytest.mark.parametrize(
    ("law", "case"), MUTANTS, ids=[f"{law}-{type(case.kernel).__name__}" for law, case in MUTANTS]
)
def test_law_catches_its_mutant(law: str, case: Case) -> None:
    with pytest.raises(LawViolation) as caught:
        check_kernel(case.kernel, case.points, laws=[law])
    assert caught.value.law == law
    assert caught.value.kernel is case.kernel
    assert f"`{law}`" in str(caught.value)
    assert LAWS[law].statement in str(caught.value)


def test_every_law_has_a_mutant() -> None:
    assert {law for law, _ in MUTANTS} == set(LAWS)


def test_every_law_is_named_and_stated() -> None:
    for name, law in LAWS.items():
        assert law.name == name == law.check.__name__
        assert law.statement.endswith(".")
        assert "\n" not in law.statement


def test_a_violation_shrinks_its_counterexample() -> None:
    """tanh<x, y> fails on two points already, and no single point can show it."""
    law, case = next((law, case) for law, case in MUTANTS if law == "positive")
    with pytest.raises(LawViolation) as caught:
        check_kernel(case.kernel, case.points, laws=[law])
    assert 2 <= len(caught.value.points) <= 3
    K = case.kernel.block(np.array(caught.value.points))
    assert np.linalg.eigvalsh(K)[0] < -1e-6


def test_a_sound_kernel_passes_and_the_report_says_what_was_skipped() -> None:
    report = check_kernel(Gaussian(2.0), POINTS)
    assert {*report.held, *report.skipped} == set(LAWS)
    assert set(report.skipped) == {"negative", "refuted"}
    assert "negative does not apply: not certified negative definite" in str(report)


def test_errors_name_the_argument() -> None:
    with pytest.raises(ValueError, match="no law is named 'gravity'"):
        check_kernel(Gaussian(2.0), POINTS, laws=["gravity"])
    with pytest.raises(TypeError, match="`k` must be a Kernel"):
        check_kernel(lambda x, y: 1.0, POINTS)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="`samples` must hold at least one point"):
        check_kernel(Gaussian(2.0), POINTS[:0])


def test_more_points_than_needed_are_drawn_reproducibly() -> None:
    X = np.random.default_rng(0).standard_normal((100, 2))
    reports = [check_kernel(Gaussian(2.0), X, laws=["block"], random_state=3) for _ in range(2)]
    assert reports[0] == reports[1]
