"""Images as sets of patches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Self

import numpy as np
import scipy.sparse

from ...arithmetic import Arithmetic
from ...certificate import Certificate
from ...contributions import Contribution
from ...domains import Data, Domain, Images, take
from ...engine import pairwise
from ...images.patches import corners, patches_of
from ...intervals import Interval
from ...kernel import Kernel
from ...parameters import parameter
from ..derived import Contracted, Gathered

__all__ = ["Patches"]

#: Images of a tile, and patches of a block of the kernel on patches: 8 MiB of values.
TILE, MOST_PATCHES = 16, 1024


class Patches(Contracted):
    r"""Images as sets of patches: the mean of a kernel over all pairs of patches.

    .. math:: k(x, y) = \frac{1}{|P(x)|\,|P(y)|} \sum_{p \in P(x)} \sum_{q \in P(y)} k_0(p, q)

    :math:`P(x)` are square patches of x, as vectors of their pixels: the convolution kernel of the parts of
    an image, and the inner product of mean maps.  Where patches lie does not matter; images may have any
    sizes.  Positive definite if ``base`` is: the feature vector of an image is the mean of those of its
    patches.  Where ``base`` has finite features, so has the kernel, and a block costs one matrix product;
    else it costs a value of ``base`` for each pair of patches.

    Parameters
    ----------
    base : Kernel
        Kernel on vectors; a parameter such as ``"median"`` is resolved on all patches.
    size : int, default=8
        Side of a patch in pixels; images must be at least that wide and high.
    stride : int, default=4
        Pixels from one patch to the next.  What the last one does not reach belongs to none.
    mean : bool, default=True
        Whether sums are divided by the numbers of patches.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Gaussian
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random((12, 12))
    >>> k = Patches(Gaussian(1.0), size=6, stride=6)
    >>> round(k(x, np.roll(x, 6, axis=0)) / k(x, x), 12)      # the patches have changed places
    1.0
    """

    base: Kernel
    size: int = parameter(default=8, low=1, high=256, integer=True)
    stride: int = parameter(default=4, low=1, high=256, integer=True)
    mean: bool = parameter(default=True, choices=(False, True), kw_only=True)

    @property
    def domain(self) -> Domain:
        return Images(least=self.size)

    _tile_size = TILE

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        domain = self.base.domain
        P, Q = (
            [domain.to_arithmetic(domain.point(p), m) for p in patches_of(image, self.size, self.stride)]
            for image in (x, y)
        )
        total = m.fsum(self.base._define(p, q, m) for p in P for q in Q)
        return total / (len(P) * len(Q)) if self.mean else total

    def _members(self, X: Data) -> tuple[Data, np.ndarray]:
        """All patches, validated, and how many each image has."""
        found = [patches_of(x, self.size, self.stride) for x in X] or [np.empty((0, self.size**2))]
        counts = np.array([len(p) for p in found], dtype=np.intp)[: len(X)]
        return self.base.domain.validate(np.concatenate(found), "the patches of X"), counts

    def _prepare(self, X: Data) -> Gathered:
        members, counts = self._members(X)
        values = np.repeat(1 / counts, counts) if self.mean else np.ones(counts.sum())
        entries = values, np.arange(len(values)), np.concatenate([[0], np.cumsum(counts)])
        weights = scipy.sparse.csr_array(entries, shape=(len(X), len(values)))
        return Gathered(weights, members, self.base._prepare(members))

    def _embedding(self, X: Gathered, like: Gathered | None = None) -> Any:
        weights, used = X.used()
        features = self.base._embedding(take(X.prepared, used), None if like is None else like.prepared)
        return None if features is None else weights @ features

    def _block(self, X: Gathered, Y: Gathered | None) -> np.ndarray:
        features = self._embedding(X)
        if features is not None:
            return pairwise.dot(features, None if Y is None else self._embedding(Y, X))
        out = np.zeros((len(X), len(X if Y is None else Y)))
        for a, left in _chunks(X):
            for b, right in _chunks(X if Y is None else Y):
                out += left @ (right @ self.base._block(a, b).T).T
        return out

    def _resolve(self, X: Data, weight: np.ndarray | None) -> Self:
        members, counts = self._members(X)
        return self.replace(
            base=self.base._resolve(members, None if weight is None else np.repeat(weight, counts))
        )

    def _contributions(self, x: Any, y: Any) -> Iterable[Contribution]:
        """What each patch of ``x`` adds, named by its box: top, left, bottom, right."""
        return self._weighted_contributions([y], np.ones(1), x)

    def _weighted_contributions(
        self, points: Sequence[Any], coefficients: np.ndarray, x: Any
    ) -> Iterable[Contribution]:
        own, others = self._prepare([x]), self._prepare(list(points))
        parts = own.counts.data * np.concatenate(
            [
                sum(self.base._block(a, b) @ (weights.T @ coefficients) for b, weights in _chunks(others))
                for a, _ in _chunks(own)
            ]
        )
        for (top, left), weight in zip(corners(x, self.size, self.stride).tolist(), parts, strict=True):
            yield Contribution((top, left, top + self.size, left + self.size), float(weight))

    def _certify(self) -> Certificate:
        positive = self.base.certificate.positive
        if not positive.proved:
            return Certificate.unknown(self, "the kernel on patches is not known to be PSD", [positive])
        what = "mean" if self.mean else "sum"
        reason = f"the feature vector of an image is the {what} of those of its patches"
        return Certificate.psd(self, f"{what} over patches", reason, premises=[positive])

    @property
    def bounds(self) -> Interval:
        return self.base.bounds if self.mean else super().bounds


def _chunks(X: Gathered) -> Iterator[tuple[Data, Any]]:
    """Some patches at a time, with their columns of the weights."""
    weights, used = X.used()
    columns = weights.tocsc()
    for start in range(0, len(used), MOST_PATCHES):
        part = slice(start, start + MOST_PATCHES)
        yield take(X.prepared, used[part]), columns[:, part].tocsr()
