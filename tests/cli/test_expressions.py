"""Expressions as text: what they mean, and that nothing else can be said with them."""

import pytest

from mercer.cli.expressions import ExpressionError, evaluate
from mercer.kernels import ChiSquare, Gaussian, Linear, Polynomial, SetIntersection


@pytest.mark.parametrize(
    ("text", "kernel"),
    [
        ("Linear()", Linear()),
        ("Gaussian(2)", Gaussian(2.0)),
        ("Gaussian(sigma=[1.0, 2.5])", Gaussian([1.0, 2.5])),
        ("Gaussian('median')", Gaussian("median")),
        ("Gaussian.from_gamma(0.5)", Gaussian.from_gamma(0.5)),
        ("2 * Linear() + 0.5", 2 * Linear() + 0.5),
        ("Linear() + Gaussian(1.0) * Linear()", Linear() + Gaussian(1.0) * Linear()),
        ("(Linear() + Gaussian(1.0)) * Linear()", (Linear() + Gaussian(1.0)) * Linear()),
        ("-Linear()", -Linear()),
        ("1 - Gaussian(1.0)", 1 - Gaussian(1.0)),
        ("1 / (1 + ChiSquare())", 1 / (1 + ChiSquare())),
        ("Polynomial(1 + 2, offset=2 ** -1) ** 2", Polynomial(3, offset=0.5) ** 2),
        ("(ChiSquare() ** 0.5).log1p().schoenberg(t=3)", (ChiSquare() ** 0.5).log1p().schoenberg(3.0)),
        ("SetIntersection({'a': 1.0, 'b': 2.0})", SetIntersection({"a": 1.0, "b": 2.0})),
        ("  Linear()\n", Linear()),
    ],
)
def test_expressions_mean_what_python_means(text, kernel):
    assert evaluate(text) == kernel


def test_a_repr_can_be_explained():
    k = (Gaussian([1.0, 2.0]) + 0.5 * Linear()).normalized() ** 2 * Polynomial(3).exp()
    assert evaluate(repr(k)) == k


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('true')",
        "open('/etc/passwd')",
        "eval('1')",
        "exec",
        "print(1)",
        "().__class__.__bases__[0].__subclasses__()",
        "Gaussian(1.0).__class__",
        "Gaussian(1.0).__class__()",
        "Gaussian(1.0).__reduce__()",
        "Gaussian.__init__",
        "Gaussian.__subclasses__()",
        "Gaussian.mro()",
        "Gaussian(1.0)._certify()",
        "Gaussian(1.0).certificate",
        "Gaussian(1.0).block([[1.0]])",
        "Gaussian(1.0).on(lambda x: x)",
        "Linear().conformal(print)",
        "(lambda: Linear())()",
        "[Linear() for _ in 'abc'][0]",
        "(x := Linear())",
        "Linear() if 1 else Linear()",
        "Linear() and Linear()",
        "Linear() == Linear()",
        "not Linear()",
        "f'{Linear()}'",
        "Linear(*[])",
        "Gaussian(**{'sigma': 1.0})",
        "Gaussian(1.0)[0]",
        "Linear() @ Linear()",
        "~Linear()",
        "Gaussian(1.0) // 2",
        "{**{}}",
        "b'x'",
        "1j * Linear()",
        "...",
        "import os",
        "Linear(); Linear()",
        "",
        "(",
        "Linear(",
        "Linear()\0",
    ],
)
def test_nothing_else_can_be_said(text):
    with pytest.raises(ExpressionError) as info:
        evaluate(text)
    assert len(str(info.value).splitlines()) == 1


@pytest.mark.parametrize(
    "text",
    [
        "Linear() * 9 ** 9 ** 9",
        "Linear() * (((10 ** 64) ** 64) ** 64) ** 64",
        "Linear() * 10 ** 400",
        "Gaussian([0.0] * 1000000000)",
        "Gaussian('a' * 1000000000)",
        "(" * 5000 + "Linear()" + ")" * 5000,
        "-" * 3000 + "Linear()",
        "Linear()" + "+ Linear()" * 900,
        "Linear() + " * 10_000 + "Linear()",
        "1.0 / 0 * Linear()",
        "1e308 * 10 * Linear()",
    ],
)
def test_what_would_exhaust_the_machine_is_refused(text):
    with pytest.raises(ExpressionError):
        evaluate(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Gausian(1.0)", "no kernel called `Gausian`; `mercer kernels` lists them"),
        ("Linear", r"`Linear` needs its parentheses: Linear\(\.\.\.\)"),
        ("1 + 1", "not a kernel but a number"),
        ("'Linear()'", "not a kernel but a string"),
        ("[Linear()]", "not a kernel but a list"),
        ("Gaussian(-1.0)", "Gaussian: `sigma` must be a finite number"),
        ("Gaussian(1.0, 2.0, 3.0)", "positional argument"),
        ("Gaussian(width=1.0)", "unexpected keyword argument 'width'"),
        ("Linear().block", "is not allowed"),
        ("Linear().frobnicate()", r"`\.frobnicate` is not a method that makes a kernel; there are: assume, "),
        ("Gaussian.nothing()", "`Gaussian` has no constructor called `nothing`"),
        ("'a' + Linear()", "is not allowed"),
        ("True * Linear()", "is not allowed"),
    ],
)
def test_errors_say_what_is_wrong(text, message):
    with pytest.raises(ExpressionError, match=message):
        evaluate(text)
