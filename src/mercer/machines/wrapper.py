"""What estimators around another machine have in common."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator, MetaEstimatorMixin, is_classifier
from sklearn.metrics import accuracy_score, r2_score

from .callbacks import CallbackSupport

__all__ = ["MachineWrapper"]


class MachineWrapper(CallbackSupport, MetaEstimatorMixin, BaseEstimator):
    """An estimator of the kind of its parameter ``machine``: a classifier around a classifier, and so on."""

    machine: Any

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy of a classifier, R2 of a regressor."""
        measure = accuracy_score if is_classifier(self.machine) else r2_score
        return float(measure(y, self.predict(X), sample_weight=sample_weight))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = getattr(self.machine, "__sklearn_tags__", None)
        if inner is not None:
            found = inner()
            tags.estimator_type, tags.input_tags = found.estimator_type, found.input_tags
            tags.classifier_tags, tags.regressor_tags = found.classifier_tags, found.regressor_tags
            tags.target_tags = found.target_tags
        return tags
