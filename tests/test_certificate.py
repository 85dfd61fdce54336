"""Certificates: the two claims, their summary, and how proofs are shown."""

import json

import numpy as np
import pytest

from mercer.algebra import Constant
from mercer.certificate import Certificate, Claim, Property, Status, Verdict, Witness
from mercer.kernels import Gaussian, Linear, Wendland


def claim(about: Property, status: Status, **options: object) -> Claim:
    return Claim(about, status, "k", "rule", **options)  # type: ignore[arg-type]


P, N = Property.POSITIVE, Property.NEGATIVE
PROVED, REFUTED, UNKNOWN = Status.PROVED, Status.REFUTED, Status.UNKNOWN


@pytest.mark.parametrize(
    ("positive", "strict", "negative", "verdict"),
    [
        (PROVED, True, REFUTED, Verdict.STRICT),
        (PROVED, True, UNKNOWN, Verdict.STRICT),
        (PROVED, False, UNKNOWN, Verdict.PSD),
        (PROVED, False, PROVED, Verdict.PSD),
        (REFUTED, False, PROVED, Verdict.NDS),
        (UNKNOWN, False, PROVED, Verdict.NDS),
        (REFUTED, False, REFUTED, Verdict.REFUTED),
        (REFUTED, False, UNKNOWN, Verdict.REFUTED),
        (UNKNOWN, False, REFUTED, Verdict.UNKNOWN),
        (UNKNOWN, False, UNKNOWN, Verdict.UNKNOWN),
    ],
)
def test_verdict_summarises_both_claims(
    positive: Status, strict: bool, negative: Status, verdict: Verdict
) -> None:
    c = Certificate(claim(P, positive, strict=strict), claim(N, negative))
    assert c.verdict is verdict
    assert c.is_psd == (positive is PROVED)
    assert c.is_nds == (negative is PROVED)
    assert c.deciding.about is (N if verdict is Verdict.NDS else P)
    assert str(verdict) == verdict.value
    assert str(c) == f"{verdict}: rule"
    assert str(verdict) in c.explain()
    assert c.to_dict()["verdict"] == verdict.value


def test_constructors() -> None:
    strict = Certificate.psd("k", "Bochner", "why", strict=True, conditions=["x > 0"])
    assert strict.verdict is Verdict.STRICT
    assert strict.negative.refuted
    assert strict.conditions == ("x > 0",)
    assert strict.rule == "Bochner"
    assert Certificate.psd("k", "r", "why").negative.status is UNKNOWN
    nds = Certificate.nds("k", "r", "why", zero_diagonal=True)
    assert nds.positive.refuted
    assert nds.verdict is Verdict.NDS
    assert Certificate.nds("k", "r", "why").positive.status is UNKNOWN
    refuted = Certificate.refuted("k", "r", "why", witness=Witness((0,), (1.0,), -1.0))
    assert refuted.verdict is Verdict.REFUTED
    assert refuted.witness is not None
    unknown = Certificate.unknown("k", "no idea")
    assert unknown.verdict is Verdict.UNKNOWN
    assert unknown.rule == ""
    assert str(unknown) == "UNKNOWN"


def test_constant_is_both() -> None:
    c = Constant(2.0).certificate
    assert c.is_psd
    assert c.is_nds
    assert c.verdict is Verdict.PSD


def test_proof_tree_shows_rule_conditions_and_premises() -> None:
    leaves = [claim(P, PROVED, reason="first", conditions=("x > 0",)), claim(P, PROVED, reason="second")]
    root = Claim(P, PROVED, "a + b", "sum", "of both", tuple(leaves), ("y > 0",))
    assert root.tree().splitlines() == [
        "PSD  a + b",
        "│   sum: of both",
        "│   if y > 0",
        "├─ PSD  k",
        "│      rule: first",
        "│      if x > 0",
        "└─ PSD  k",
        "       rule: second",
    ]
    assert root.all_conditions() == ("y > 0", "x > 0")
    assert [c.subject for c in root.walk()] == ["a + b", "k", "k"]


def test_assertions_are_seen_from_above() -> None:
    word = Linear().distance().on(lambda x: x).assume("NDS", "I say so")
    top = (2.0 * word).schoenberg(1.0)
    assert top.certificate.positive.asserted
    assert "asserted" in top.certificate.explain()
    assert not Gaussian(1.0).certificate.positive.asserted


def test_html_is_escaped() -> None:
    c = Certificate.psd("k", "<script>", "a < b & c")
    text = c._repr_html_()
    assert "<script>" not in text
    assert "a &lt; b &amp; c" in text


def test_to_dict_is_plain_data() -> None:
    w = Witness((np.array([1.0, 2.0]), (np.array([1.0]), frozenset({"b", "a"}))), (1.0, -1.0), -0.5)
    c = Certificate.refuted("k", "r", "why", witness=w)
    data = json.loads(json.dumps(c.to_dict()))
    assert data["positive"]["witness"]["points"] == [[1.0, 2.0], [[1.0], ["a", "b"]]]
    assert data["positive"]["witness"]["refutes"] == "positive definite"


def test_witness_is_evaluated_with_many_digits() -> None:
    """c'Kc of the linear kernel is |sum c_i x_i|^2: here 2^-100, far below the rounding of its terms."""
    w = Witness.of(Linear(), [[1.0 + 2.0**-50], [1.0]], [1.0, -1.0])
    assert w.value == 2.0**-100
    assert w.digits == 50
    assert w.error == 0.0
    assert w.coefficients == (1.0, -1.0)


def test_witness_of_a_float_kernel_says_so() -> None:
    k = Linear().conformal(lambda x: 1.0)
    w = Witness.of(k, [[1.0], [2.0]], [2, -1])
    assert w.digits == 15
    assert 0 < w.error < 1e-12


def test_witness_reads_as_a_sentence() -> None:
    w = Witness(([1.0], [0.1]), (1.0, -2.0), -0.25)
    assert str(w) == "points [[1.0], [0.1]], c = (1, -2): c'Kc = -0.25 < 0"
    assert "sum(c) = 0" in str(Witness(([1.0], [0.1]), (1.0, -1.0), 0.25, N))


def test_witness_needs_one_coefficient_per_point() -> None:
    with pytest.raises(ValueError):
        Witness.of(Linear(), [[1.0], [2.0]], [1.0])


def test_certificates_are_values() -> None:
    assert Gaussian(1.0).certificate == Gaussian(1.0).certificate
    assert hash(Gaussian(1.0).certificate) == hash(Gaussian(1.0).certificate)
    assert Gaussian(1.0).certificate != Gaussian(2.0).certificate


def test_a_refutation_without_a_witness_says_so() -> None:
    alone, shown = Wendland(1, 1, n_features=2).certificate, Wendland(1, 0, n_features=2).certificate
    assert alone.witness is None
    assert "no witness: refuted by the theorem alone" in alone.explain()
    assert "no witness: refuted by the theorem alone" in alone._repr_html_()
    assert "witness: 25 points" in shown.explain() or "witness: points" in shown.explain()
    assert "theorem alone" not in shown.explain() + Gaussian(1.0).certificate.explain()
