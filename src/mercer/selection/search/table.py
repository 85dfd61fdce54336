"""Scores of all candidates in all splits, and ``cv_results_`` in scikit-learn's form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.stats import rankdata

__all__ = ["Table"]


class Table:
    """What is known so far; NaN stands for what is not.

    Parameters
    ----------
    candidates : list of dict
    n_splits : int
    train : bool
        Whether there are scores of the training points.
    """

    def __init__(self, candidates: Sequence[dict[str, Any]], n_splits: int, train: bool) -> None:
        self.candidates, self.shape = list(candidates), (len(candidates), n_splits)
        self._kinds = ("test", "train") if train else ("test",)
        self._scores: dict[tuple[str, str], np.ndarray] = {}
        self._times = {"fit_time": np.full(self.shape, np.nan), "score_time": np.full(self.shape, np.nan)}
        self.is_known = np.zeros(self.shape, dtype=bool)
        self.is_dropped = np.zeros(len(candidates), dtype=bool)
        self.errors: list[tuple[int, int, str]] = []

    @property
    def metrics(self) -> list[str]:
        """Names of the metrics, in the order of the scorers."""
        return list(dict.fromkeys(metric for _, metric in self._scores))

    def put(
        self, candidate: int, split: int, scores: Mapping[str, Any], fit_time: float, score_time: float
    ) -> None:
        """Enter scores, a dict or a number for each of "test" and "train"."""
        for kind, found in scores.items():
            for metric, value in (found if isinstance(found, Mapping) else {"score": found}).items():
                column = self._scores.setdefault((kind, metric), np.full(self.shape, np.nan))
                column[candidate, split] = value
        self._times["fit_time"][candidate, split] = fit_time
        self._times["score_time"][candidate, split] = score_time
        self.is_known[candidate, split] = True

    def fail(self, candidate: int, split: int, error_score: float, message: str, fit_time: float) -> None:
        """Enter a fit that raised an error: all of its scores are ``error_score``."""
        self.errors.append((candidate, split, message))
        self._times["fit_time"][candidate, split] = fit_time
        self._times["score_time"][candidate, split] = 0.0
        self.is_known[candidate, split] = True
        self._failed = error_score

    def scores(self, metric: str, kind: str = "test") -> np.ndarray:
        """Scores of a metric, a row for each candidate; failed fits have their error score."""
        values = self._scores.get((kind, metric), np.full(self.shape, np.nan)).copy()
        for candidate, split, _ in self.errors:
            values[candidate, split] = self._failed
        return values

    def results(self) -> dict[str, Any]:
        """``cv_results_``."""
        found: dict[str, Any] = {}
        for name, times in self._times.items():
            found[f"mean_{name}"], found[f"std_{name}"] = _mean(times), _deviation(times)
        found.update(_columns(self.candidates))
        found["params"] = self.candidates
        for metric in self.metrics or ["score"]:
            for kind in self._kinds:
                values, name = self.scores(metric, kind), f"{kind}_{metric}"
                for split in range(self.shape[1]):
                    found[f"split{split}_{name}"] = values[:, split]
                found[f"mean_{name}"], found[f"std_{name}"] = _mean(values), _deviation(values)
                if kind == "test":
                    # from 1 on; candidates that are not known in all splits come last
                    means = found[f"mean_{name}"]
                    complete = self.is_known.all(axis=1) & np.isfinite(means)
                    ranks = rankdata(-np.where(complete, means, -np.inf), method="min")
                    found[f"rank_{name}"] = np.asarray(ranks, dtype=np.int32)
        if self.is_dropped.any():
            found["dropped"] = self.is_dropped.copy()
        return found


def _mean(values: np.ndarray) -> np.ndarray:
    """Means of the rows, of what is known of them; NaN where nothing is."""
    counts = np.isfinite(values).sum(axis=1)
    sums = np.where(np.isfinite(values), values, 0.0).sum(axis=1)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def _deviation(values: np.ndarray) -> np.ndarray:
    return np.asarray(np.sqrt(_mean((values - _mean(values)[:, None]) ** 2)))


def _columns(candidates: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """A masked array for each parameter, in alphabetical order as scikit-learn has them."""
    columns: dict[str, Any] = {}
    for name in dict.fromkeys(name for parameters in candidates for name in parameters):
        values = [parameters.get(name) for parameters in candidates]
        is_missing = [name not in parameters for parameters in candidates]
        present = [v for v, missing in zip(values, is_missing, strict=True) if not missing]
        numeric = all(isinstance(v, int | float | np.number) and not isinstance(v, bool) for v in present)
        dtype = np.asarray(present).dtype if numeric else np.dtype(object)
        data = np.ma.empty(len(candidates), dtype=dtype)
        for i, (value, missing) in enumerate(zip(values, is_missing, strict=True)):
            data[i] = np.ma.masked if missing else value
        columns[f"param_{name}"] = data
    return columns
