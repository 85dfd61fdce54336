"""Chapter: a kernel that is often called positive definite, and the witness that it is not."""

from __future__ import annotations

from ...certificate import Witness
from ...gram import gram
from ...kernel import Kernel
from ...kernels import Sigmoid
from ...refute import refute
from .data import load_digits
from .stage import Chapter, Stage

__all__ = ["CHAPTER", "ON_DIGITS", "quadratic_form"]

DIGITS = 50
#: On histograms of ink, whose inner products are a few hundredths, this is a usual working range.
ON_DIGITS = Sigmoid(50.0, 0.0)


def _show(stage: Stage) -> None:
    k = Sigmoid(1.0, 0.0)
    stage.text(
        "The sigmoid kernel tanh(a <x, y> + b) is widely used, and widely called positive definite. It is "
        "not, for any a other than 0, and its certificate holds points and coefficients that show it:"
    )
    stage.proof(k)
    witness = k.certificate.witness
    if witness is not None:
        stage.text(f"The same quadratic form, recomputed from the definition with {DIGITS} digits:")
        stage.code(f"c'Kc = {quadratic_form(k, witness)}")

    other = Sigmoid(0.5, 0.3)
    stage.text(
        f"Nothing needs to be known beforehand: `refute` searches for a witness, here against `{other!r}`, "
        "and believes only what survives the recomputation:"
    )
    stage.code(str(refute(other, n_trials=200)))  # the same sets of points on every run

    X = load_digits(stage.quick)[0][:600]
    K = gram(ON_DIGITS, X)
    check = K.check()
    points = 0 if check.witness is None else len(check.witness.points)
    stage.text(
        f"And on data: `gram(k, X).check()` for `{ON_DIGITS!r}` and the first {len(X)} images of digits:"
    )
    stage.code(
        f"verdict           {check.verdict}, by a confirmed witness of {points} images\n"
        f"least eigenvalue  {check.least_eigenvalue:.6g}; rounding explains {-check.tolerance:.1e} at most"
    )


def quadratic_form(k: Kernel, witness: Witness, digits: int = DIGITS) -> str:
    """``c'Kc`` of a witness from the kernel's definition in multiprecision, as text."""
    import mpmath

    with mpmath.workdps(digits + 10):
        value = mpmath.mpf(0)
        for a, x in zip(witness.coefficients, witness.points, strict=True):
            for b, y in zip(witness.coefficients, witness.points, strict=True):
                value += mpmath.mpf(a) * mpmath.mpf(b) * k.precise(x, y, digits + 10)
        return str(mpmath.nstr(value, digits))


CHAPTER = Chapter("A kernel that fails, and the witness", _show)
