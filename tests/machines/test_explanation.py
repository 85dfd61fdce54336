"""Which patterns spoke for a prediction: their weights add up to the decision."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from mercer import Kernel
from mercer.contributions import Contribution, Contributions
from mercer.domains import Domain, Sequences
from mercer.errors import DomainError, InputError
from mercer.kernels import GappedKmer, GappyNGram, Gaussian, Mismatch, NGram, Spectrum, Wildcard
from mercer.machines import SVC, SVR, KernelLogistic, KernelRidge, NuSVC, OneClassSVM
from mercer.machines.explanation import INTERCEPT


class Letters(Kernel):
    """Inner product of the counts of letters: positive definite."""

    @property
    def domain(self) -> Domain:
        return Sequences()

    def __call__(self, x: Any, y: Any) -> float:
        return float(sum(x.count(a) * y.count(a) for a in sorted(set(x))))

    def _contributions(self, x: Any, y: Any) -> Iterator[Contribution]:
        for a in sorted(set(x) & set(y)):
            places = [tuple((i, i + 1) for i, b in enumerate(s) if a == b) for s in (x, y)]
            yield Contribution(a, float(x.count(a) * y.count(a)), *places)


KERNEL = Letters().assume("PSD")
TEXTS = ["aab", "aba", "abb", "bcc", "ccb", "cbc", "dd", "add", "ddb"]
GROUPS = np.repeat(["first", "second", "third"], 3)
NEW = "abcdda"


def coefficients_of_letters(model: Any, direction: np.ndarray) -> dict[str, float]:
    """What the linear function on counts says, from values of the machine itself: one letter at a time."""
    zero = model._functions_at("")[2] @ direction
    return {a: float(model._functions_at(a)[2] @ direction - zero) * NEW.count(a) for a in "abcd"}


@pytest.mark.parametrize(
    "machine", [SVC(KERNEL, C=10.0), NuSVC(KERNEL, nu=0.3), KernelLogistic(KERNEL)], ids=repr
)
def test_two_classes(machine: Any) -> None:
    model = machine.fit(TEXTS[:6], GROUPS[:6])
    for x, sign in (("aa", -1.0), ("cc", 1.0), (NEW, None)):
        found = model.explain(x)
        value = float(model.decision_function([x])[0])
        assert found.value == pytest.approx(abs(value))
        assert found.total == pytest.approx(found.value)
        assert found.prediction == model.predict([x])[0]
        assert {found.prediction, found.against} == {"first", "second"}
        assert sign is None or np.sign(value) == sign
    expected = coefficients_of_letters(model, np.array([np.sign(model.decision_function([NEW])[0])]))
    weights = {c.pattern: c.weight for c in model.explain(NEW)}
    for letter, weight in expected.items():
        assert weights.get(letter, 0.0) == pytest.approx(weight, abs=1e-9)


@pytest.mark.parametrize(
    "machine",
    [SVC(KERNEL, C=10.0), SVC(KERNEL, C=10.0, multiclass="ovr"), KernelLogistic(KERNEL)],
    ids=["ovo", "ovr", "logistic"],
)
@pytest.mark.parametrize("x", ["aab", "ccb", "dda", "b", "xyz"])
def test_more_classes_are_explained_against_the_closest_rival(machine: Any, x: str) -> None:
    model = machine.fit(TEXTS, GROUPS)
    found = model.explain(x)
    assert found.prediction == model.predict([x])[0] != found.against
    assert found.total == pytest.approx(found.value, abs=1e-12)
    if not isinstance(model, SVC) or model.multiclass == "ovr":
        top = np.sort(model.decision_function([x])[0])
        assert found.value == pytest.approx(top[-1] - top[-2])


def test_places_are_those_of_the_point_itself() -> None:
    found = SVC(KERNEL, C=10.0).fit(TEXTS[:6], GROUPS[:6]).explain("cab")
    places = {c.pattern: c.x_places for c in found if c.pattern is not INTERCEPT}
    assert places == {"c": ((0, 1),), "a": ((1, 2),), "b": ((2, 3),)}
    assert all(c.y_places == () for c in found)


@pytest.mark.parametrize("machine", [KernelRidge(KERNEL), SVR(C=10.0, kernel=KERNEL)], ids=["ridge", "svr"])
def test_functions(machine: Any) -> None:
    y = np.array([text.count("a") - 2.0 * text.count("d") + 1.0 for text in TEXTS])
    model = machine.fit(TEXTS, y)
    found = model.explain(NEW)
    assert found.total == pytest.approx(model.predict([NEW])[0])
    assert found.value == found.prediction == pytest.approx(model.predict([NEW])[0])
    assert found.against is None
    assert str(found).startswith("value ")
    assert (repr(INTERCEPT) in str(found)) == isinstance(machine, SVR)  # ridge has no intercept by default


def test_several_targets() -> None:
    Y = np.array([[text.count("a"), text.count("d")] for text in TEXTS], dtype=float)
    model = KernelRidge(KERNEL).fit(TEXTS, Y)
    for target in (0, 1):
        assert model.explain(NEW, target).total == pytest.approx(model.predict([NEW])[0, target])
    with pytest.raises(InputError, match=r"`target` must be from 0 to 1\. Got 2"):
        model.explain(NEW, 2)


def test_novelty() -> None:
    model = OneClassSVM(KERNEL, nu=0.5).fit(TEXTS)
    assert model.explain(NEW).total == pytest.approx(model.decision_function([NEW])[0])


def test_what_cannot_be_explained() -> None:
    X = np.arange(6.0)[:, None]
    with pytest.raises(DomainError, match=r"Gaussian\(\) does not know"):
        SVC(kernel=Gaussian(1.0)).fit(X, GROUPS[:6]).explain([2.0])
    with pytest.raises(InputError, match=r"X\[0\] must be a string or a sequence"):
        SVC(kernel=KERNEL).fit(TEXTS, GROUPS).explain(3)


DNA = ["GATTACAGATTNACA", "TTAGACATCAGG", "CCAGATTACATT", "ACGTACGTTAGC", "GGGTTTAAACCC"]
PATTERNS: list[Kernel] = [
    NGram(3),
    NGram(3, weights=[1.0, 0.0, 0.5]),
    Spectrum(2, reverse_complement=True),
    Spectrum(2, ambiguity="expand"),
    GappyNGram(2, 0.5),
    GappedKmer(4, 2, reverse_complement=True),
    GappedKmer(4, 1, ambiguity="skip"),
    Wildcard(3, 3),
    NGram(2).on(str.upper),
    (2.0 * NGram(2) + GappedKmer(3, 2, ambiguity="skip")).normalized(),
    NGram(2).assume("PSD") + 0.5 * GappedKmer(3, 2).normalized(),
]


@pytest.mark.parametrize(
    "k", [*PATTERNS, Mismatch(3, 1), Mismatch(3, 1, reverse_complement=True).normalized()], ids=repr
)
def test_many_points_at_once_are_the_sum_over_points(k: Kernel) -> None:
    """Whatever a kernel does to explain many points at once, it is the sum over the points, one by one."""
    letters = [s.replace("N", "") for s in DNA]
    points, x = [k.domain.point(s) for s in letters], k.domain.point("GATTACAGGATTTACAC")
    a = np.array([0.5, -1.25, 2.0, -0.75, 1.0])
    together = Contributions(k._weighted_contributions(points, a, x))
    single = Contributions(
        Contribution(c.pattern, weight * c.weight, c.y_places)
        for point, weight in zip(points, a.tolist(), strict=True)
        for c in k._contributions(point, x)
    )
    assert {c.pattern for c in together} == {c.pattern for c in single}
    found = {c.pattern: c for c in single}
    for c in together:
        assert c.weight == pytest.approx(found[c.pattern].weight, rel=1e-9, abs=1e-12)
        assert set(c.placed()) == set(found[c.pattern].placed())
        for place, part in c.placed().items():
            assert part == pytest.approx(found[c.pattern].placed()[place], rel=1e-9, abs=1e-12)
    assert together.total == pytest.approx(float(a @ [k(p, x) for p in points]), rel=1e-9)
