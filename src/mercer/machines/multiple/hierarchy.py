"""Kernels on a directed acyclic graph: a kernel comes in only after its ancestors."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from ...algebra.products import Product
from ...errors import ParameterError, brief
from ...kernel import Kernel
from ...parameters import check_count, check_number
from .members import Members, named_kernels

__all__ = ["KernelHierarchy"]

NAME = "KernelHierarchy"

#: Nodes at most: their matrices are all visited, some times.
MOST = 20_000


@dataclass(frozen=True, eq=False, repr=False)
class KernelHierarchy:
    r"""Kernels on a directed acyclic graph, for machines that learn their weights.

    .. math:: \Omega(f) = \sum_v \delta_v \Bigl( \sum_{w \in D(v)} \|f_w\|_w^2 \Bigr)^{1/2}, \qquad
              \delta_v = g^{\operatorname{depth}(v)}

    replaces the norm of the function in :class:`MultipleKernelRidge`, :class:`MultipleKernelSVC` and the
    other machines: they minimise :math:`\frac12 \Omega(f)^2` and the loss.  D(v) are the descendants of v,
    and v.  So a kernel has a weight only if all its ancestors have (Bach 2008, hierarchical kernel learning),
    and a large family is searched from above: a node that is worth nothing cuts off what is below it.

    Depth counts edges from a node without parents, along the longest path.  Every node's Gram matrix is
    visited some ten times, so the number of nodes counts in time; in memory are those that fit.

    Parameters
    ----------
    kernels : mapping
        From names to kernels, all on the same points.
    parents : mapping
        From names to the names of their parents, or to the one name.  Names that are not in it have none.
    growth : float, default=2.0
        g >= 1.  The larger, the more a deep kernel must be worth.  Without growth (1) large graphs converge
        slowly, because their many deep kernels weigh nothing and add up.

    Attributes
    ----------
    names : tuple of str
        Of the nodes, parents before children.

    See Also
    --------
    KernelHierarchy.products : products of kernels over sets of them.
    KernelHierarchy.subtrees : products of kernels over the leaves of subtrees.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Linear
    >>> from mercer.machines import KernelHierarchy, MultipleKernelRidge
    >>> powers = {"line": Linear(), "square": Linear() ** 2, "cube": Linear() ** 3}
    >>> hierarchy = KernelHierarchy(powers, {"square": ["line"], "cube": ["square"]})
    >>> X = np.linspace(-1, 2, 20)[:, None]
    >>> model = MultipleKernelRidge(hierarchy, alpha=0.1).fit(X, X[:, 0] + X[:, 0] ** 2)
    >>> [share.pattern for share in model.kernel_weights()]
    ['line', 'square']
    """

    kernels: Mapping[str, Kernel]
    parents: Mapping[str, Iterable[str]] = field(default_factory=dict)
    growth: float = 2.0
    names: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        kernels = dict(zip(*named_kernels(self.kernels, NAME), strict=True))
        if not kernels:
            raise ParameterError(
                f"{NAME}: `kernels` must hold one kernel at least. Got {brief(self.kernels)}."
            )
        given: Any = self.parents
        if not isinstance(given, Mapping) or not all(isinstance(above, Iterable) for above in given.values()):
            raise ParameterError(
                f"{NAME}: `parents` must be a mapping from names to lists of names. Got {brief(given)}."
            )
        parents = {
            str(name): (above,) if isinstance(above, str) else tuple(map(str, above))
            for name, above in given.items()
        }
        for name in itertools.chain(parents, *parents.values()):
            if name not in kernels:
                raise ParameterError(
                    f"{NAME}: `parents` must have names of `kernels`, {', '.join(map(repr, kernels))}. "
                    f"Got {name!r}."
                )
        if len(kernels) > MOST:
            raise ParameterError(
                f"{NAME}: `kernels` must be at most {MOST:,}. Got {len(kernels):,}; a smaller degree or "
                "depth has fewer."
            )
        check_number(NAME, "growth", self.growth, "a finite number >= 1", least=1.0)
        order = _ordered(kernels, parents)
        object.__setattr__(self, "names", tuple(order))
        object.__setattr__(self, "kernels", {name: kernels[name] for name in order})
        object.__setattr__(self, "parents", {name: parents.get(name, ()) for name in order})

    # -- families ---------------------------------------------------------------------------------
    @classmethod
    def products(cls, kernels: Any, *, degree: int | None = None, growth: float = 2.0) -> Self:
        r"""All products :math:`\prod_{j \in J} k_j` of some kernels; the sets J are ordered by inclusion.

        Parameters
        ----------
        kernels : sequence or mapping of kernels, Columns or sum
            As for :class:`MultipleKernelSVC`; for example one for each column of a table.
        degree : int, optional
            The most factors; by default all.
        growth : float, default=2.0

        Examples
        --------
        >>> from mercer.kernels import Gaussian, columns
        >>> KernelHierarchy.products(columns(a=Gaussian(), b=Gaussian(), c=Gaussian()), degree=2).names
        ('a', 'b', 'c', 'a * b', 'a * c', 'b * c')
        """
        names, members = named_kernels(kernels, NAME)
        most = len(names) if degree is None else check_count(NAME, "degree", degree)
        count = sum(math.comb(len(names), size) for size in range(1, min(int(most), len(names)) + 1))
        if count > MOST:
            raise ParameterError(
                f"{NAME}: `degree` must leave at most {MOST:,} products. {len(names)} kernels have {count:,} "
                f"with degree={degree!r}."
            )
        found: dict[str, Kernel] = {}
        parents: dict[str, list[str]] = {}
        for size in range(1, min(int(most), len(names)) + 1):
            for chosen in itertools.combinations(range(len(names)), size):
                name = " * ".join(names[i] for i in chosen)
                found[name] = Product.of(*(members[i] for i in chosen))
                if size > 1:
                    parents[name] = [
                        " * ".join(names[i] for i in fewer)
                        for fewer in itertools.combinations(chosen, size - 1)
                    ]
        return cls(found, parents, growth)

    @classmethod
    def subtrees(
        cls,
        kernels: Mapping[Any, Kernel],
        children: Mapping[Any, Iterable[Any]],
        *,
        growth: float = 2.0,
    ) -> Self:
        r"""The kernels :math:`k_t = \prod_{v \in \text{leaves of } t} k_v` of the subtrees t of a tree.

        A subtree has the root, and of each node all children or none.  One is the parent of another if that
        follows when a leaf is replaced by its children.  (Cuturi and Fukumizu 2007 give the weights in
        advance: :class:`~mercer.kernels.NestedHistograms`.)

        Parameters
        ----------
        kernels : mapping
            From the nodes of the tree to kernels.
        children : mapping
            From nodes to their children.  Nodes that are not in it are leaves.
        growth : float, default=2.0

        Examples
        --------
        >>> from mercer.kernels import Gaussian, columns
        >>> parts = {"image": Gaussian(), "left": Gaussian(2.0), "right": Gaussian(3.0)}
        >>> KernelHierarchy.subtrees(parts, {"image": ["left", "right"]}).names
        ('image', 'left * right')
        """
        named = dict(zip(*named_kernels(kernels, NAME), strict=True))
        below = {str(v): tuple(map(str, some)) for v, some in dict(children).items() if some}
        root = _root(named, below)
        found: dict[tuple[str, ...], list[tuple[str, ...]]] = {(root,): []}
        queue: list[tuple[str, ...]] = [(root,)]
        while queue:
            leaves = queue.pop(0)
            for i, v in enumerate(leaves):
                if v not in below:
                    continue
                larger = (*leaves[:i], *below[v], *leaves[i + 1 :])
                if larger not in found:
                    queue.append(larger)
                found.setdefault(larger, []).append(leaves)
                if len(found) > MOST:
                    raise ParameterError(
                        f"{NAME}: `children` must give at most {MOST:,} subtrees. This tree has more; leave "
                        "out its lowest nodes."
                    )
        products = {" * ".join(t): Product.of(*(named[v] for v in t)) for t in found}
        parents = {" * ".join(t): [" * ".join(s) for s in above] for t, above in found.items() if above}
        return cls(products, parents, growth)

    # -- what machines ask ------------------------------------------------------------------------
    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        edges = sum(len(tuple(above)) for above in self.parents.values())
        return f"<KernelHierarchy: {len(self)} kernels, {edges} edges, growth {self.growth:g}>"

    def members(self) -> Members:
        """The kernels with their names."""
        return Members(self.names, tuple(self.kernels.values()))

    def above(self) -> scipy.sparse.csr_array:
        """A matrix whose row w has ones at the ancestors of w, and at w."""
        place = {name: i for i, name in enumerate(self.names)}
        ancestors: list[set[int]] = []
        for i, name in enumerate(self.names):
            ancestors.append({i}.union(*(ancestors[place[v]] for v in self.parents[name])))
        columns = np.array(list(itertools.chain.from_iterable(map(sorted, ancestors))), dtype=np.intp)
        starts = np.cumsum([0, *map(len, ancestors)])
        return scipy.sparse.csr_array((np.ones(len(columns)), columns, starts), shape=(len(self), len(self)))

    def prices(self) -> NDArray[np.float64]:
        """The delta of the nodes."""
        depth: dict[str, int] = {}
        for name in self.names:
            depth[name] = 1 + max((depth[v] for v in self.parents[name]), default=-1)
        return np.array([float(self.growth) ** depth[name] for name in self.names])


def _ordered(names: Iterable[str], parents: Mapping[str, tuple[str, ...]]) -> list[str]:
    """Parents before children, else as given; a cycle is an error."""
    order: dict[str, None] = {}
    waiting = list(names)
    while waiting:
        ready = [name for name in waiting if all(v in order for v in parents.get(name, ()))]
        if not ready:
            raise ParameterError(
                f"{NAME}: `parents` must have no cycle. {', '.join(map(repr, waiting[:8]))} are their own "
                "ancestors, or below such."
            )
        order.update(dict.fromkeys(ready))
        waiting = [name for name in waiting if name not in order]
    return list(order)


def _root(kernels: Mapping[str, Kernel], below: Mapping[str, tuple[str, ...]]) -> str:
    """The one node that is no child; anything but a tree is an error."""
    seen: dict[Hashable, int] = {}
    for v in itertools.chain.from_iterable(below.values()):
        seen[v] = seen.get(v, 0) + 1
    unknown = [v for v in itertools.chain(below, seen) if v not in kernels]
    roots = [v for v in kernels if v not in seen]
    if unknown or len(roots) != 1 or max(seen.values(), default=1) > 1:
        what = f"{unknown[0]!r} has no kernel" if unknown else f"the nodes without a parent are {roots}"
        if not unknown and len(roots) == 1:
            what = "a node has two parents"
        raise ParameterError(f"{NAME}: `children` must describe a tree whose nodes have kernels; {what}.")
    return roots[0]
