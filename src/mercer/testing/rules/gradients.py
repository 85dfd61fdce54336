"""The law of gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...domains import Similarities
from ...errors import ParameterError
from ...kernel import Gradient, Kernel
from ..trial import Skip, Trial, broken
from .table import law

#: Step and agreement of central differences in a log-parameter, relative to the size of block and gradient.
STEP, GRADIENT_TOL = 1e-5, 1e-6

#: What the rounding of terms of size one leaves in a central difference where the block itself vanishes.
CANCELLATION = 8 * float(np.finfo(np.float64).eps) / STEP


@law
def gradient(t: Trial) -> None:
    """Gradients agree with central differences of the block in every log-parameter."""
    k, Y = t.kernel, t.pick(range(0, t.n, 2))
    try:
        G = k.gradient(t.samples)
    except ParameterError as error:
        if "no closed-form gradient" in str(error) and k.parameters:
            raise Skip("no closed-form gradient is offered") from None
        broken(f"gradient raised {error}")
    parameters = k.parameters
    if set(G) - set(parameters):
        broken(f"gradient with respect to {sorted(set(G) - set(parameters))}, which are not parameters")
    missing = [p for p, q in parameters.items() if q.scale == "log" and p not in G]
    if missing:
        broken(f"no gradient with respect to {missing}")
    if not G:
        raise Skip("no log-parameters")
    GY = {} if isinstance(k.domain, Similarities) else k.gradient(t.samples, Y)
    d, Gd = k._diagonal_gradient(t.prepared(t.samples))
    _same(d, t.block.diagonal(), "the diagonal that comes with the diagonal gradient", t)
    for name, g in G.items():
        want = _differences(k, name, lambda c: c.block(t.samples))
        _same(g, want, f"gradient with respect to {name}", t)
        if GY:
            want = _differences(k, name, lambda c: c.block(t.samples, Y))
            _same(GY[name], want, f"gradient of block(X, Y) with respect to {name}", t)
        _same(Gd[name], np.einsum("ii...->i...", g), f"diagonal gradient with respect to {name}", t)
    _adjoint(t, G, None)
    if GY:
        _adjoint(t, GY, Y)


def _adjoint(t: Trial, G: Gradient, Y: Any) -> None:
    """Sums of the gradient with weights agree with those of the adjoint."""
    X = t.prepared(t.samples)
    K, adjoint = t.kernel._adjoint(X, None if Y is None else t.prepared(Y))
    W = np.cos(np.add.outer(np.arange(K.shape[0]), np.arange(K.shape[1])) ** 2.0)
    sums = adjoint(W)
    if sums.keys() != G.keys():
        broken(f"the adjoint is of {sorted(sums)} instead of {sorted(G)}")
    for name, g in G.items():
        want, size = np.tensordot(W, g, axes=2), np.tensordot(np.abs(W), np.abs(g), axes=2)
        if np.shape(sums[name]) != want.shape:
            broken(f"the adjoint of {name} has shape {np.shape(sums[name])} instead of {want.shape}")
        if not (np.abs(sums[name] - want) <= GRADIENT_TOL * (size + CANCELLATION)).all():
            broken(f"the adjoint of {name} is {sums[name]!r} instead of {want!r}")


def _same(got: np.ndarray, want: np.ndarray, what: str, t: Trial) -> None:
    if got.shape != want.shape:
        broken(f"{what} has shape {got.shape} instead of {want.shape}")
    scale = max(float(np.abs(t.block).max()), float(np.abs(want).max()))
    allowed = GRADIENT_TOL * scale + CANCELLATION
    if not (np.abs(got - want) <= allowed).all():
        i = tuple(int(v) for v in np.argwhere(~(np.abs(got - want) <= allowed))[0])
        broken(f"{what} is {got[i]!r} instead of {want[i]!r} at {i}", [t.points[j] for j in i[:1]])


def _differences(k: Kernel, name: str, block: Callable[[Kernel], np.ndarray]) -> np.ndarray:
    parameter = k.parameters[name]
    value = np.asarray(parameter.value, dtype=np.float64)

    def moved(h: float, i: tuple[int, ...]) -> np.ndarray:
        v = value.copy()
        v[i] = v[i] * np.exp(h) if parameter.scale == "log" else v[i] + h
        return block(k.replace(**{name: v if v.ndim else float(v)}))

    def slope(i: tuple[int, ...]) -> np.ndarray:
        for h in (STEP, -STEP):  # at an end of the range only one side exists
            try:
                near, far = moved(h, i) - moved(-h, i), moved(2 * h, i) - moved(-2 * h, i)
                return np.asarray((8 * near - far) / (12 * h))
            except ParameterError:
                try:
                    return np.asarray((4 * moved(h, i) - moved(2 * h, i) - 3 * moved(0.0, i)) / (2 * h))
                except ParameterError:
                    continue
        raise Skip(f"{name} cannot be moved")

    slopes = [slope(i) for i in np.ndindex(value.shape)]
    return np.stack(slopes, axis=-1).reshape(*slopes[0].shape, *value.shape) if value.ndim else slopes[0]
