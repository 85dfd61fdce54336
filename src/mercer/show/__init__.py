"""Plots, proofs and the HTML report.

=================  =====================================================================================
``matrices``       ``heatmap`` and ``spectrum`` of a Gram matrix
``predictions``    ``prediction``: what a model says against what is true
``decisions``      ``decision_regions``: what a classifier decides over two features
``proofs``         ``proof``: a certificate as an HTML tree with nodes that fold
``report``         ``Report``: a page of text, tables, proofs and figures in one file
``canvas``         figures, colours, and matplotlib, which is imported when something is drawn
``svg``            a matplotlib figure as inline SVG that follows the light or dark theme of its page
=================  =====================================================================================

Plots take a :class:`~mercer.gram.Gram` or an array, draw on ``ax`` (or on a new figure) and return the axes.
What they leave out of a picture, they say under it.
"""

from .canvas import MissingExtraError, canvas
from .decisions import decision_regions
from .matrices import heatmap, spectrum
from .predictions import prediction
from .proofs import Fragment, proof
from .report import Report

__all__ = [
    "Fragment",
    "MissingExtraError",
    "Report",
    "canvas",
    "decision_regions",
    "heatmap",
    "prediction",
    "proof",
    "spectrum",
]
