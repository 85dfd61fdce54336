"""Counts of hidden states, averaged over what they may have been."""

from __future__ import annotations

import math
from dataclasses import field
from functools import cached_property
from typing import Any

import numpy as np

from ...certificate import Certificate
from ...domains import Domain, EncodedSequences
from ...errors import InputError, ParameterError
from ...kernel import Kernel
from ...models import HMM
from ...parameters import parameter
from .scored import Scored, model_of

__all__ = ["Marginalized"]


class Marginalized(Scored):
    r"""Marginalised count kernel of a hidden Markov model.

    .. math:: k(x, y) = \sum_{s, s'} p(s | x) \, p(s' | y) \, \kappa((x, s), (y, s'))

    where s and s' are paths of hidden states, and :math:`\kappa` compares two sequences with their states by
    counts: of pairs (state, symbol) for ``order=1``, of transitions from state to state for ``order=2``, each
    divided by the length of the sequence.  The sums over paths are those of the forward-backward recursion,
    exactly: the kernel is the inner product of posterior expectations of the counts.  A kernel on symbols
    lets different symbols count as alike:
    :math:`\kappa = \sum_{h} \sum_{a, b} c_{ha} c'_{hb} \, \ell(a, b)`.  The empty sequence has no counts.

    Positive definite, as an inner product of explicit features (Tsuda, Kin and Asai, 2002).  Block cost: one
    recursion for each sequence, and a matrix product.

    Parameters
    ----------
    hmm : HMM
        A model of symbols.
    order : {1, 2}, default=1
        Counts of (state, symbol), or of transitions.
    symbols : Kernel, optional
        A positive definite kernel on symbols, for ``order=1``; equality by default.

    Examples
    --------
    >>> from mercer.models import HMM
    >>> hmm = HMM([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], [[1.0, 0.0], [0.0, 1.0]], alphabet="ab")
    >>> Marginalized(hmm)("aab", "ab")  # states are known here: 2/3 of the symbols of one are a
    0.5
    """

    hmm: Any
    order: int = parameter(default=1, low=1, high=2, integer=True, kw_only=True)
    symbols: Any = field(default=None, kw_only=True)

    def _validate(self) -> None:
        model_of(self.hmm, self, "hmm", HMM)
        if not self.hmm.is_discrete:
            raise ParameterError("Marginalized: `hmm` must be a model of symbols. Got emissions of vectors.")
        if self.symbols is not None:
            if not isinstance(self.symbols, Kernel) or self.order == 2:
                raise ParameterError(
                    f"Marginalized: `symbols` must be a kernel on symbols, for order=1. Got {self.symbols!r}."
                )
            if not self.symbols.certificate.is_psd:
                raise ParameterError("Marginalized: `symbols` must be certified to be positive definite.")

    @property
    def domain(self) -> Domain:
        domain: Domain = self.hmm.domain
        return domain

    @cached_property
    def _root(self) -> np.ndarray | None:
        """A root R of the matrix of the symbols, ``R R' = L``."""
        if self.symbols is None:
            return None
        values, vectors = np.linalg.eigh(self.symbols.block(list(self.hmm.alphabet)))
        return np.asarray(vectors * np.sqrt(np.maximum(values, 0)))

    def _features(self, X: EncodedSequences) -> np.ndarray:
        logs, _, moves, shown = self.hmm._path_sums(X, shown=self.order == 1)
        impossible = np.flatnonzero(np.isneginf(logs))
        if len(impossible):
            raise InputError(
                f"Marginalized: sequence {int(impossible[0])} has probability 0 under the model, and so no "
                "posterior. Fit the model with a pseudocount."
            )
        counts = shown if self.order == 1 else moves
        if self._root is not None:
            counts = counts @ self._root
        lengths = np.maximum(X.lengths, 1)
        return np.asarray((counts / lengths[:, None, None]).reshape(len(X), math.prod(counts.shape[1:])))

    def _certify(self) -> Certificate:
        premises = [] if self.symbols is None else [self.symbols.certificate.positive]
        return Certificate.psd(
            self,
            "explicit features",
            "the inner product of posterior expectations of counts",
            premises=premises,
        )
