"""Kernel graphs: sums over the paths of a graph whose edges carry kernels."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any, NoReturn

import numpy as np

from ..algebra.nodes import prefixed, times
from ..arithmetic import Arithmetic
from ..automata import EPSILON, Transducer
from ..automata import Builder as AutomatonBuilder
from ..automata.semirings import SLACK
from ..certificate import Certificate
from ..domains import Data
from ..engine import workers
from ..engine.formulas import COMPILER, Term
from ..engine.program import Builder, Value
from ..errors import DivergenceError
from ..intervals import Interval
from ..kernel import Gradient, Kernel, Prepared
from .labelled_graphs import LabelledGraph

__all__ = ["KernelGraph"]


class KernelGraph(LabelledGraph):
    r"""Sum over the paths of a directed graph of the products of the kernels on their edges.

    .. math:: k(x, y) = \sum_{p \,:\, s \to t} \; \prod_{e \in p} k_e(x, y)

    The sum is over all paths from the source :math:`s` to the sink :math:`t`; a path may pass a vertex again.
    Parallel edges are different paths, so their kernels add up.  Where vertices carry kernels too, a path is
    multiplied by those of all its vertices, first and last included.

    Positive definite if all kernels on such paths are, and all numbers are nonnegative, by sums and Schur
    products; strictly, if on some path one kernel is strict and the others have a positive diagonal.  With
    loops the sum is infinite, and a limit of such sums where it converges.

    Without loops a block costs those of its kernels, once for equal ones, and O(n m E) for E edges.  Loops
    cost one Gaussian elimination per pair, O(n m V^3) for a strongly connected part of V vertices.

    A sum over infinitely many paths, which have no order, has a value only if it converges absolutely: for
    every pair, the matrix of the absolute values on the edges between source and sink must have a spectral
    radius below 1.  Else there is a :class:`~mercer.errors.DivergenceError` with the pair and the radius,
    even where the linear equations of the graph have a solution.

    Parameters
    ----------
    edges : sequence of (u, v, label)
        Edge from ``u`` to ``v``; vertices are any hashable values.  A label is a kernel, a number, or a name
        of ``kernels``.  With ``vertices``, a pair ``(u, v)`` stands for ``(u, v, 1)``.
    source, sink : hashable
        Vertices of the graph.  If they are the same, the path without edges counts, with value 1.  Without
        any path from source to sink the kernel is 0.  Edges that are on no such path do not count.
    kernels : mapping of str to Kernel, optional
        Kernels by name.  A named kernel has one set of parameters, ``name__sigma``, on however many edges it
        stands; a kernel that is written on an edge has its own, ``edge3__sigma`` on the fourth.
    vertices : mapping of vertex to label, optional
        What vertices carry; 1 where nothing is said.

    Notes
    -----
    The all-subsets, polynomial and ANOVA kernels are kernel graphs, and so is every regular expression over
    kernels.

    Examples
    --------
    >>> from mercer.kernels import Gaussian, Linear
    >>> k = KernelGraph([("s", "a", Linear()), ("s", "a", 1), ("a", "t", Linear())], "s", "t")
    >>> k([2.0], [3.0]), 6.0 * (6.0 + 1.0)
    (42.0, 42.0)

    A loop: :math:`1 / (1 - k)`.

    >>> KernelGraph([("s", "s", "k")], "s", "s", kernels={"k": 0.5 * Gaussian(1.0)})([0.0], [0.0])
    2.0
    """

    def _validate(self) -> None:
        super()._validate()
        self._sum(self._values(lambda j: 0.0))  # loops of numbers that diverge are refused here

    # -- values -------------------------------------------------------------------------------
    def _values(
        self, of: Callable[[int], Any], number: Callable[[float], Any] = float
    ) -> Callable[[int], Any]:
        """Values of the inputs: ``of(j)`` for the j-th distinct kernel, called once, and those of numbers."""
        places, once = self._distinct[1], cache(of)
        return lambda i: number(c) if isinstance(c := self._inputs[i], float) else once(places[i])

    def _sum(self, values: Callable[[int], Any]) -> Any:
        """The sum over paths of numbers or arrays, if it converges absolutely."""
        if not self._paths.is_looped:
            return self._paths.run(values, _geometric)
        found = {i: values(i) for i in self._paths.inputs}

        def checked(a: Any) -> Any:
            # The pivots 1 - a of I - W, W >= 0, are positive exactly if the spectral radius of W is below 1.
            if not np.all(a < 1 - SLACK):
                self._refuse_divergence(found, ~np.asarray(a < 1 - SLACK))
            return _geometric(a)

        if any(np.any(found[i] < 0) for i in self._paths.looped):
            self._paths.run(lambda i: abs(found[i]), checked)
            return self._paths.run(found.__getitem__, _geometric)
        return self._paths.run(found.__getitem__, checked)

    def _refuse_divergence(self, values: dict[int, Any], diverges: np.ndarray) -> NoReturn:
        """Raise the error of the first pair for which the sum diverges."""
        pair = tuple(int(i) for i in np.argwhere(diverges)[0])
        edges = self._between(lambda inputs: True)
        vertices = list(dict.fromkeys(vertex for u, v, _ in edges for vertex in (u, v)))
        W = np.zeros((len(vertices), len(vertices)))
        for u, v, inputs in edges:
            sizes = [abs(float(values[i][pair] if np.ndim(values[i]) else values[i])) for i in inputs]
            W[vertices.index(u), vertices.index(v)] += math.prod(sizes)
        radius = np.abs(np.linalg.eigvals(W)).max() if np.isfinite(W).all() else math.inf
        error = DivergenceError(
            "KernelGraph: the sum over all paths must converge absolutely: the absolute values on the edges "
            f"must have a spectral radius below 1. Got {radius:.6g}. Scale the kernels on loops: 0.5 * k."
        )
        if pair:
            workers.mark(error, pair[0], pair[-1], symmetric=True)
        raise error

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        kernels, _ = self._distinct
        return m.real(1) * self._sum(self._values(lambda j: kernels[j]._define(x, y, m), m.real))

    @property
    def _tile_size(self) -> int:
        # Numbers that the arrays of one tile may hold: 64 MiB.
        return min(super()._tile_size, max(16, math.isqrt((1 << 23) // self._paths.width)))

    def _prepare(self, X: Data) -> Prepared:
        return Prepared(tuple(k._prepare(X) for k in self._distinct[0]))

    def _block(self, X: Prepared, Y: Prepared | None) -> np.ndarray:
        kernels, _ = self._distinct
        other = X if Y is None else Y
        return self._filled(
            lambda j: kernels[j]._block(X.parts[j], None if Y is None else Y.parts[j]), (len(X), len(other))
        )

    def _diagonal(self, X: Prepared) -> np.ndarray:
        kernels, _ = self._distinct
        return self._filled(lambda j: kernels[j]._diagonal(X.parts[j]), (len(X),))

    def _filled(self, values: Callable[[int], np.ndarray], shape: tuple[int, ...]) -> np.ndarray:
        """The sum of arrays of values of the distinct kernels; in double precision until it is done."""
        blocks = cache(values)
        total = self._sum(self._values(lambda j: blocks(j).astype(np.float64, copy=False)))
        dtype = np.result_type(*(blocks(j) for j in self._used)) if self._used else np.float64
        return np.array(np.broadcast_to(total, shape), dtype=dtype)

    def _compile(self, b: Builder, X: Prepared, Y: Prepared | None) -> Value | None:
        kernels, _ = self._distinct
        bounds = self._values(lambda j: kernels[j].bounds, _point)
        if not all(bounds(i).is_nonnegative for i in self._paths.looped):
            return None  # the check of convergence needs absolute values

        def compiled(j: int) -> Term:
            return Term(b, b.kernel(kernels[j], X.parts[j], None if Y is None else Y.parts[j]))

        def checked(a: Any) -> Any:
            return _geometric(COMPILER.within(a, 0.0, 1 - SLACK, ArithmeticError))

        total = self._paths.run(self._values(compiled), checked)
        return total.value if isinstance(total, Term) else b.constant(total)

    def _gradient(self, X: Prepared, Y: Prepared | None) -> tuple[np.ndarray, Gradient]:
        columns: Any = [None] * len(X.parts) if Y is None else Y.parts
        kernels, _ = self._distinct
        pieces = [k._gradient(a, b) for k, a, b in zip(kernels, X.parts, columns, strict=True)]
        return self._chained(pieces)

    def _diagonal_gradient(self, X: Prepared) -> tuple[np.ndarray, Gradient]:
        kernels, _ = self._distinct
        return self._chained([k._diagonal_gradient(a) for k, a in zip(kernels, X.parts, strict=True)])

    def _chained(self, pieces: list[tuple[np.ndarray, Gradient]]) -> tuple[np.ndarray, Gradient]:
        """The sum and its gradient, from those of the distinct kernels."""
        shape = pieces[0][0].shape
        K = self._filled(lambda j: pieces[j][0], shape)
        _, slopes = self._paths.gradient(self._values(lambda j: pieces[j][0]), _geometric)
        gradient: Gradient = {}
        for i, (name, _) in enumerate(self._children):
            slope = np.broadcast_to(np.asarray(slopes.get(i, 0.0)), shape)
            inner = pieces[self._distinct[1][i]][1]
            gradient |= prefixed(name, {key: times(slope, g) for key, g in inner.items()})
        return K, gradient

    # -- what is known ------------------------------------------------------------------------
    def _certify(self) -> Certificate:
        premises = [self._distinct[0][j].certificate.positive for j in self._used]
        numbers = [c for i in self._paths.inputs if isinstance(c := self._inputs[i], float)]
        if not all(p.proved for p in premises) or min(numbers, default=0.0) < 0:
            why = "not every kernel on a path is known to be positive definite, or a number is negative"
            return Certificate.unknown(self, why, premises)
        products = "of products of positive definite kernels and nonnegative numbers"
        looped = self._paths.is_looped
        return Certificate.psd(
            self,
            "sums and Schur products",
            f"a limit of sums {products}" if looped else f"a sum {products}",
            strict=self._is_strict(),
            premises=premises,
            conditions=["the sum over all paths converges (checked on every pair)"] if looped else [],
        )

    def _is_strict(self) -> bool:
        """Whether some path has a strict kernel among kernels of positive diagonal."""

        def strict(k: Kernel | float) -> bool:
            return (
                isinstance(k, Kernel)
                and k.certificate.positive.strict
                and self.domain.separated_by([k.domain])
            )

        def positive(inputs: list[int]) -> bool:
            given = [self._inputs[i] for i in inputs]
            return all(
                strict(k) or k.diagonal_bounds.is_positive if isinstance(k, Kernel) else k > 0 for k in given
            )

        start, _ = self._weights
        edges = self._between(positive)
        if not positive(start) or not (edges or self.source == self.sink):
            return False
        return any(strict(self._inputs[i]) for i in [*start, *(i for _, _, inputs in edges for i in inputs)])

    @property
    def bounds(self) -> Interval:
        return self._interval(lambda k: k.bounds)

    @property
    def diagonal_bounds(self) -> Interval:
        return self._interval(lambda k: k.diagonal_bounds)

    def _interval(self, bounds: Callable[[Kernel], Interval]) -> Interval:
        kernels, _ = self._distinct
        values = self._values(lambda j: bounds(kernels[j]), _point)
        total = self._paths.run(values, _geometric_bounds, _point(1.0))
        return total if isinstance(total, Interval) else _point(total)

    # -- pictures -----------------------------------------------------------------------------
    def automaton(self) -> Transducer:
        """The graph as an automaton over the alphabet of its kernels: its words are the products.

        Symbols are the names of the kernels, or their ``repr``; numbers are weights of arcs.  States stand
        for the vertices in the order in which ``edges`` mention them; an edge and a vertex that both carry
        kernels need one more.  :func:`mercer.automata.to_svg` and :func:`mercer.show.automaton` draw it.

        Examples
        --------
        >>> from mercer.kernels import Linear
        >>> edges = [("s", "a", "k"), ("a", "a", 0.5), ("a", "t", "k")]
        >>> KernelGraph(edges, "s", "t", kernels={"k": Linear()}).automaton()(["k", "k"])
        2.0
        """
        names = [name if name in (self.kernels or {}) else repr(k) for name, k in self._children]

        def read(inputs: list[int]) -> tuple[list[str], float]:
            numbers = [c for i in inputs if isinstance(c := self._inputs[i], float)]
            return [names[i] for i in inputs if i < len(names)], math.prod(numbers)

        b = AutomatonBuilder()
        start, edges = self._weights
        symbols, weight = read(start)
        states: dict[Any, int] = {}
        for vertex in dict.fromkeys(vertex for u, v, _ in edges for vertex in (u, v)):
            states[vertex] = b.state(
                initial=weight if vertex == self.source and not symbols else None,
                final=1.0 if vertex == self.sink else None,
            )
        if symbols:
            b.arc(b.state(initial=1.0), states[self.source], symbols[0], weight=weight)
        for u, v, inputs in edges:
            symbols, weight = read(inputs)
            at = states[u]
            for symbol in symbols[:-1]:
                before, at = at, b.state()
                b.arc(before, at, symbol)
            b.arc(at, states[v], symbols[-1] if symbols else EPSILON, weight=weight)
        return b.build()


def _geometric(a: Any) -> Any:
    return 1 / (1 - a)


def _point(c: float) -> Interval:
    return Interval(c, c)


def _geometric_bounds(a: Interval) -> Interval:
    """Bounds of 1 / (1 - t) for -1 < t < 1: a sum that converges has no other pivots."""
    if a.low > -1.0 and a.high < 1.0:
        return (Interval(1.0, 1.0) + a.scale(-1.0)).reciprocal()
    return Interval(0.5, math.inf)
