"""Semi-supervised machines: labelled and unlabelled points.

===================  ============================================================================
``labels``           labels of which some are missing
``base``             what machines share whose norm is warped by a graph
``least_squares``    ``LaplacianRLS``, ``LaplacianRLSClassifier``
``support_vectors``  ``LaplacianSVC``
``propagation``      ``LabelPropagation``, ``LabelSpreading``
===================  ============================================================================
"""

from .least_squares import LaplacianRLS, LaplacianRLSClassifier
from .propagation import LabelPropagation, LabelSpreading
from .support_vectors import LaplacianSVC

__all__ = ["LabelPropagation", "LabelSpreading", "LaplacianRLS", "LaplacianRLSClassifier", "LaplacianSVC"]
