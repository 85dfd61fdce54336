"""Random Fourier features: cosines at frequencies drawn from the spectral density of a kernel."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Literal, TypeAlias, get_args

import numpy as np
import scipy.sparse
from sklearn.utils.validation import check_is_fitted

from ..domains import Data, size, take
from ..engine.fourier import fourier_features
from ..errors import ParameterError
from ..guarantees import (
    Bound,
    fourier_features_deviation,
    fourier_features_needed,
    sampled_kernel_deviation,
    sampled_kernel_size,
)
from ..kernel import Kernel
from ..parameters import Checks, check_choice, check_number
from ..spectral_density import SpectralDensity
from .random import RandomMap

__all__ = ["RandomFourier"]

Form: TypeAlias = Literal["paired", "offset"]
Theorem: TypeAlias = Literal["rahimi-recht", "sriperumbudur-szabo", "hoeffding"]

#: In place of a theorem: the error that the training points show.
MEASURED = "measured"


class RandomFourier(RandomMap):
    r"""Random Fourier features of a kernel that depends on :math:`x - y` alone.

    .. math:: \phi(x) = \sqrt{k(x, x) / D} \; (\cos \langle w_1, x \rangle, \dots, \cos \langle w_D, x
              \rangle, \sin \langle w_1, x \rangle, \dots, \sin \langle w_D, x \rangle)

    with frequencies :math:`w_j` drawn from ``kernel.spectral_density`` (Bochner): the mean of
    :math:`\langle \phi(x), \phi(y) \rangle` over the draws is :math:`k(x, y)`, and for :math:`x = y` they are
    equal.  ``form="offset"`` has the features :math:`\sqrt{2 k(x, x) / D} \cos(\langle w_j, x \rangle + b_j)`
    with uniform :math:`b_j`, twice as many frequencies for the same number of features and, for most kernels,
    a larger variance.

    Cost: O(n d D) and D cosines per point, on all cores.

    Parameters
    ----------
    kernel : Kernel
        One with a spectral density: Gaussian, Matern, Laplacian..., sums, products and multiples of them.
        For others there is :class:`Nystrom`.
    n_components : int, optional
        Number of features; 100 by default, or what ``eps`` asks for.  In the paired form a frequency has two,
        and an odd number is rounded up.
    form : {"paired", "offset"}, default="paired"
    orthogonal : bool, default=False
        Draw blocks of d orthogonal frequencies: unbiased too, with a smaller variance.  For functions of the
        Euclidean distance.
    eps : float, optional
        Error in units of k(x, x) that the number of features is chosen for, in place of ``n_components``.
    delta : float, default=0.05
        Probability that the error is larger, in (0, 1).
    theorem : {"rahimi-recht", "sriperumbudur-szabo", "hoeffding", "measured"}, default="rahimi-recht"
        What ``eps`` and :meth:`error_bound` rest on.  The first two hold for all points of a ball that holds
        the training points, for kernels with a finite second moment of frequencies (not the Laplacian) and
        the paired form.  Hoeffding's inequality holds for the pairs of training points, for every kernel.
        ``"measured"`` is no theorem: the number of frequencies is doubled until the largest error over the
        pairs of 500 training points is at most ``eps``, which takes far fewer.
    random_state : int, Generator, RandomState or None, default=0

    Attributes
    ----------
    kernel_ : Kernel
        The kernel with parameters that depend on data resolved.
    frequencies_ : array of shape (D, d)
    offsets_ : array of shape (D,) or None
    radius_ : float
        Largest distance of a training point from their mean.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Gaussian
    >>> X = np.random.default_rng(0).standard_normal((200, 3))
    >>> features = RandomFourier(Gaussian(2.0), 2000).fit(X)
    >>> Z = features.transform(X)
    >>> bool(np.abs(Z @ Z.T - Gaussian(2.0).block(X)).max() < 0.1)
    True
    """

    _drawn = ("frequencies_", "offsets_")

    _checks: ClassVar[Checks] = {
        "form": partial(check_choice, options=get_args(Form)),
        "theorem": partial(check_choice, options=(*get_args(Theorem), MEASURED)),
        "eps": partial(check_number, requirement="a positive finite number", above=0.0, unless=(None,)),
    }

    def __init__(
        self,
        kernel: Kernel,
        n_components: int | None = None,
        *,
        form: Form = "paired",
        orthogonal: bool = False,
        eps: float | None = None,
        delta: float = 0.05,
        theorem: Theorem | Literal["measured"] = "rahimi-recht",
        random_state: Any = 0,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.form = form
        self.orthogonal = orthogonal
        self.eps = eps
        self.delta = delta
        self.theorem = theorem
        self.random_state = random_state

    def _draw(self, X: Data, rng: np.random.Generator) -> int:
        density = self.kernel_.spectral_density
        self.mass_, self._moment = density.mass, density.second_moment(self.n_features_in_)
        self.n_samples_fit_, self.radius_ = size(X), _radius(X)
        if self.eps is not None and self.theorem == MEASURED:
            return self._draw_by_error(X, density, rng)
        per = 2 if self._paired else 1  # features of a frequency
        if self.eps is None:
            frequencies = -(-self._components(self.n_components) // per)
        else:
            needed = self._needed(self._checked_theorem(self.theorem), self._checked_eps())
            frequencies = self._components(needed * per) // per
        self.frequencies_ = self._sampled(density, frequencies, rng)
        self.offsets_ = None if self._paired else rng.uniform(0, 2 * math.pi, frequencies)
        return frequencies * per

    def _draw_by_error(self, X: Data, density: SpectralDensity, rng: np.random.Generator) -> int:
        """Draw twice as many frequencies, until the error on some of the points is small enough."""
        eps, per = self._checked_eps(), 2 if self._paired else 1
        some = take(X, np.linspace(0, size(X) - 1, min(size(X), 500)).astype(np.intp))
        points = np.asarray(some.toarray() if scipy.sparse.issparse(some) else some, dtype=np.float64)
        K, products = self.kernel_.block(some) / self.mass_, np.zeros((len(points),) * 2)
        drawn: list[np.ndarray] = []
        offsets: list[np.ndarray] = []
        total, count = 0, 32  # frequencies
        while True:
            self._components(per * (total + count))  # an error where memory does not do
            drawn.append(self._sampled(density, count, rng))
            offsets.append(np.zeros(count) if self._paired else rng.uniform(0, 2 * math.pi, count))
            phases = points @ drawn[-1].T + offsets[-1]
            cosines = np.cos(phases)
            products += (3 - per) * (cosines @ cosines.T)
            if self._paired:
                sines = np.sin(phases)
                products += sines @ sines.T
            total += count
            if np.abs(products / total - K).max() <= eps:
                break
            count = total
        self.frequencies_ = np.ascontiguousarray(np.vstack(drawn))
        self.offsets_ = None if self._paired else np.concatenate(offsets)
        return total * per

    @property
    def _paired(self) -> bool:
        return self.form == "paired"

    def _sampled(self, density: SpectralDensity, n: int, rng: np.random.Generator) -> np.ndarray:
        W = density.sample(n, self.n_features_in_, rng, orthogonal=bool(self.orthogonal))
        return np.ascontiguousarray(W)

    def _checked_eps(self) -> float:
        if self.n_components is not None:
            raise ParameterError(
                "RandomFourier: `n_components` must be None where `eps` is given, which says how many there "
                f"are. Got {self.n_components!r}."
            )
        assert self.eps is not None
        return float(self.eps)

    def _needed(self, theorem: Theorem, eps: float) -> int:
        if theorem == "hoeffding":
            return int(sampled_kernel_size(self._bound, eps, self.delta, self.n_samples_fit_))
        ball = self._ball()
        if theorem == "rahimi-recht":
            eps = min(eps, 24 * ball["radius"] * ball["sigma_p"])  # up to which the theorem goes
            return int(fourier_features_needed(**ball, eps=eps, delta=self.delta))
        one = float(fourier_features_deviation(1, **ball, delta=self.delta, theorem=theorem))
        return math.ceil((one / eps) ** 2)

    @property
    def _bound(self) -> float:
        """Root of the largest product of the features of one frequency, in units of k(x, x)."""
        return 1.0 if self._paired else math.sqrt(2.0)

    def _ball(self) -> dict[str, Any]:
        return {"dim": self.n_features_in_, "radius": self.radius_, "sigma_p": math.sqrt(self._moment)}

    def _checked_theorem(self, theorem: Any) -> Theorem:
        """The theorem, if it speaks of this map."""
        measured = isinstance(theorem, str) and theorem == MEASURED
        hint = "An error that was measured on some points bounds no other." if measured else ""
        checked: Theorem = check_choice("RandomFourier", "theorem", theorem, get_args(Theorem), hint)
        advice = ""
        if self.orthogonal:
            raise ParameterError(
                "RandomFourier: `orthogonal` must be False for an error bound: theorems assume independent "
                "frequencies. Give `n_components`, and measure the error on data."
            )
        if theorem != "hoeffding":
            if not self._paired:
                advice = "is about the paired form"
            elif math.isinf(self._moment):
                advice = (
                    f"needs frequencies with a finite second moment, which {self.kernel_!r} does not have"
                )
        if advice:
            raise ParameterError(f"RandomFourier: `theorem={theorem!r}` {advice}. Use theorem='hoeffding'.")
        return checked

    def error_bound(
        self, delta: float | None = None, *, theorem: Theorem | None = None, radius: float | None = None
    ) -> Bound:
        r"""Bound on :math:`|k(x, y) - \langle \phi(x), \phi(y) \rangle|`, with probability 1 - delta.

        For all x and y in a ball of the given radius around any point (``"rahimi-recht"``,
        ``"sriperumbudur-szabo"``), or for all pairs of training points (``"hoeffding"``).  The statement is
        about the draw of the frequencies.

        Parameters
        ----------
        delta, theorem : optional
            As given to the map by default.
        radius : float, optional
            By default that of the training points around their mean.
        """
        check_is_fitted(self, "n_components_")
        theorem = self._checked_theorem(self.theorem if theorem is None else theorem)
        delta = self.delta if delta is None else delta
        D = len(self.frequencies_)
        if theorem == "hoeffding":
            found = sampled_kernel_deviation(D, bound=self._bound, delta=delta, n=self.n_samples_fit_)
        else:
            ball = self._ball() | ({} if radius is None else {"radius": radius})
            found = fourier_features_deviation(D, **ball, delta=delta, theorem=theorem)
        value = self.mass_ * float(found)
        return replace(
            found,
            value=value,
            terms={"deviation": value},
            inputs=dict(found.inputs) | {"k(x, x)": self.mass_},
        )

    def _write(self, X: Data, out: np.ndarray) -> None:
        count = len(self.frequencies_)
        scale = math.sqrt(self.mass_ / count * (1 if self._paired else 2))
        fourier_features(X, self.frequencies_, self.offsets_, scale, out)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the features: cosine or sine, and the number of the frequency."""
        check_is_fitted(self, "n_components_")
        kinds = ("cos", "sin") if self._paired else ("cos",)
        names = [f"{kind}{j}" for kind in kinds for j in range(len(self.frequencies_))]
        return np.array(names, dtype=object)


def _radius(X: Data) -> float:
    """Largest distance of a row from their mean."""
    mean = np.asarray(X.mean(axis=0, dtype=np.float64)).ravel()
    if not scipy.sparse.issparse(X):
        height = max(1, (1 << 20) // X.shape[1])
        parts = (X[i : i + height] for i in range(0, len(X), height))
        with np.errstate(over="ignore"):
            return math.sqrt(max(float(((part - mean) ** 2).sum(axis=1).max()) for part in parts))
    squares = np.asarray(X.multiply(X).sum(axis=1)).ravel() - 2 * (X @ mean) + mean @ mean
    return math.sqrt(max(0.0, float(squares.max())))
