"""Kernel expressions given as text.

The text is parsed by Python's own grammar and evaluated here, node by node.  Only what is listed below
exists: numbers, strings and collections of them, the four operations and powers, the names of kernels, and
the methods that make kernels from kernels.  Nothing else can be reached from an expression: no attributes, no
functions, no imports, no names of Python.
"""

from __future__ import annotations

import ast
import inspect
import operator
from collections.abc import Callable
from typing import Any, NoReturn

from ..errors import MercerError
from ..kernel import Kernel

__all__ = ["ExpressionError", "evaluate"]


METHODS = frozenset({
    "assume", "centered", "distance", "exp", "gaussian", "log1p", "normalized", "polynomial", "power_series",
    "replace", "schoenberg", "shifted", "sqrt", "warped",
})  # fmt: skip

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {ast.USub: operator.neg, ast.UAdd: lambda x: x}


class ExpressionError(MercerError, ValueError):
    """The text is not an expression of kernels."""


def evaluate(text: str) -> Kernel:
    """Return the kernel that an expression describes.

    Examples
    --------
    >>> evaluate("Gaussian(2.0) + 0.5 * Linear()")
    Gaussian(sigma=2.0) + 0.5 * Linear()
    >>> evaluate("open('file')")
    Traceback (most recent call last):
    mercer.cli.expressions.ExpressionError: there is no kernel called `open`; `mercer kernels` lists them
    """
    if len(text) > (most := 10_000):
        raise ExpressionError(f"the expression is longer than {most} characters")
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        detail = getattr(error, "msg", None) or str(error) or type(error).__name__
        raise ExpressionError(f"not an expression: {detail}") from error
    from .. import algebra, kernels

    names: dict[str, Any] = {"direct_sum": algebra.direct_sum, "tensor": algebra.tensor}
    for name in kernels.__all__:
        found = getattr(kernels, name)
        if isinstance(found, type) and issubclass(found, Kernel):
            names[name] = found
    try:
        value = _Evaluator(names).visit(tree.body)
    except ExpressionError:
        raise
    except MercerError as error:
        raise ExpressionError(str(error)) from error
    except (ArithmeticError, AttributeError, TypeError, ValueError) as error:
        raise ExpressionError(f"cannot evaluate the expression: {error}") from error
    if not isinstance(value, Kernel):
        plain = {int: "a number", float: "a number", str: "a string"}
        kind = plain.get(type(value), f"a {type(value).__name__}")
        raise ExpressionError(f"the expression is not a kernel but {kind}")
    return value


class _Evaluator:
    """Evaluates the nodes that are allowed; everything else is an error that shows the text."""

    def __init__(self, names: dict[str, Any]) -> None:
        self._names = names
        self._depth = 0

    def visit(self, node: ast.AST) -> Any:
        handler = getattr(self, f"_{type(node).__name__}", None)
        if handler is None:
            self._refuse(node)
        self._depth += 1
        if self._depth > (deepest := 100):
            raise ExpressionError(f"the expression is nested deeper than {deepest}")
        try:
            return handler(node)
        finally:
            self._depth -= 1

    def _refuse(self, node: ast.AST) -> NoReturn:
        text = ast.unparse(node)
        shown = text if len(text) <= 60 else text[:57] + "..."
        raise ExpressionError(
            f"`{shown}` is not allowed: write kernels, numbers, strings, lists, + - * / ** and methods"
        )

    # -- values -------------------------------------------------------------------------------
    def _Constant(self, node: ast.Constant) -> Any:
        if node.value is None or isinstance(node.value, bool | int | float | str):
            return node.value
        self._refuse(node)

    def _List(self, node: ast.List) -> list[Any]:
        return [self.visit(item) for item in node.elts]

    def _Tuple(self, node: ast.Tuple) -> tuple[Any, ...]:
        return tuple(self.visit(item) for item in node.elts)

    def _Set(self, node: ast.Set) -> set[Any]:
        return {self.visit(item) for item in node.elts}

    def _Dict(self, node: ast.Dict) -> dict[Any, Any]:
        if any(key is None for key in node.keys):
            self._refuse(node)
        return {
            self.visit(key): self.visit(value)
            for key, value in zip(node.keys, node.values, strict=True)
            if key is not None
        }

    def _Name(self, node: ast.Name) -> NoReturn:
        if node.id in self._names:
            raise ExpressionError(f"`{node.id}` needs its parentheses: {node.id}(...)")
        self._unknown(node.id)

    def _unknown(self, name: str) -> NoReturn:
        raise ExpressionError(f"there is no kernel called `{name}`; `mercer kernels` lists them")

    # -- operators ----------------------------------------------------------------------------
    def _UnaryOp(self, node: ast.UnaryOp) -> Any:
        function = _UNARY.get(type(node.op))
        value = self.visit(node.operand)
        if function is None or not _operand(value):
            self._refuse(node)
        return function(value)

    def _BinOp(self, node: ast.BinOp) -> Any:
        function = _BINARY.get(type(node.op))
        left, right = self.visit(node.left), self.visit(node.right)
        if function is None or not (_operand(left) and _operand(right)):
            self._refuse(node)
        numbers = not isinstance(left, Kernel) and not isinstance(right, Kernel)
        largest = 64  # between two plain numbers: 9 ** 9 ** 9 would fill the memory
        if numbers and isinstance(node.op, ast.Pow) and abs(right) > largest:
            raise ExpressionError(f"`{ast.unparse(node)}`: the exponent of a number may be at most {largest}")
        value = function(left, right)
        if isinstance(value, int) and value.bit_length() > 1024:
            raise ExpressionError(f"`{ast.unparse(node)}` is too large a number")
        return value

    # -- calls --------------------------------------------------------------------------------
    def _Call(self, node: ast.Call) -> Any:
        function = self._function(node.func)
        if any(isinstance(a, ast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords):
            self._refuse(node)
        arguments = [self.visit(a) for a in node.args]
        keywords = {k.arg: self.visit(k.value) for k in node.keywords if k.arg is not None}
        value = function(*arguments, **keywords)
        if not isinstance(value, Kernel):
            self._refuse(node)
        return value

    def _function(self, node: ast.expr) -> Callable[..., Any]:
        if isinstance(node, ast.Name):
            if node.id not in self._names:
                self._unknown(node.id)
            found: Callable[..., Any] = self._names[node.id]
            return found
        if not isinstance(node, ast.Attribute):
            self._refuse(node)
        name = node.attr
        if isinstance(node.value, ast.Name) and node.value.id in self._names:  # Gaussian.from_gamma(...)
            owner = self._names[node.value.id]
            if name.startswith("_") or not isinstance(inspect.getattr_static(owner, name, None), classmethod):
                raise ExpressionError(f"`{node.value.id}` has no constructor called `{name}`")
            constructor: Callable[..., Any] = getattr(owner, name)
            return constructor
        owner = self.visit(node.value)
        if not isinstance(owner, Kernel) or name not in METHODS:
            allowed = ", ".join(sorted(METHODS))
            raise ExpressionError(f"`.{name}` is not a method that makes a kernel; there are: {allowed}")
        method: Callable[..., Any] = getattr(owner, name)
        return method


def _operand(value: Any) -> bool:
    return isinstance(value, Kernel | int | float) and not isinstance(value, bool)
