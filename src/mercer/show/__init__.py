"""Plots, proofs and the HTML report.

==================  =====================================================================================
``matrices``        ``heatmap`` and ``spectrum`` of a Gram matrix
``clusters``        ``clusters``: groups of points in the plane, and the regions that a model gives them
``predictions``     ``prediction`` and ``prediction_band``: what a model says against what is true
``processes``       ``posterior_samples`` and ``relevances`` of Gaussian processes
``intervals``       ``intervals``: prediction intervals, and whether they hold the truth
``shapley``         ``shapley_bars``: how much each coordinate moved a prediction
``bounds``          ``panel``: learning bounds beside the cross-validated error
``significance``    ``null_distribution`` and ``witness`` of a permutation test
``projections``     ``scree`` and ``projections``: what components explain, and points in their plane
``selection``       ``leave_one_out_curve``: how a penalty was chosen
``search``          ``search_surface``: the scores of a search over one or two parameters
``kernel_weights``  ``kernel_weights``: of machines with several kernels
``advice``          ``advice``: errors of feature maps against their cost
``decisions``       ``decision_regions``: what a classifier decides over two features
``automata``        ``automaton``: the states and arcs of a machine
``patterns``        ``plot_contributions`` and ``plot_sequence``: what patterns add to a value or a decision
``graphs``          ``graph``: a graph and what its nodes add to a value or a decision
``regions``         ``regions``: an image and the graph of its regions
``trees``           ``tree``: a tree and what the fragments at its nodes add
``molecules``       ``molecule``: the atoms that spoke
``images``          ``image``: the patches that spoke; ``nested_histogram``: histograms of cells
``tangents``        ``tangents``: an image and its small motions
``proofs``          ``proof``: a certificate as an HTML tree with nodes that fold
``report``          ``Report``: a page of text, tables, proofs and figures in one file
``canvas``          figures, colours, and matplotlib, which is imported when something is drawn
``svg``             a matplotlib figure as inline SVG that follows the light or dark theme of its page
==================  =====================================================================================

Plots take a :class:`~mercer.gram.Gram` or an array, draw on ``ax`` (or on a new figure) and return the axes.
What they leave out of a picture, they say under it.
"""

from .advice import advice
from .automata import automaton
from .bounds import panel
from .canvas import canvas
from .clusters import clusters
from .decisions import decision_regions
from .graphs import graph
from .images import image, nested_histogram
from .intervals import intervals
from .kernel_weights import kernel_weights
from .matrices import heatmap, spectrum
from .molecules import molecule
from .patterns import plot_contributions, plot_sequence
from .predictions import prediction, prediction_band
from .processes import posterior_samples, relevances
from .projections import projections, scree
from .proofs import Fragment, proof
from .regions import regions
from .report import Report
from .search import search_surface
from .selection import leave_one_out_curve
from .shapley import shapley_bars
from .significance import null_distribution, witness
from .tangents import tangents
from .trees import tree

__all__ = [
    "Fragment",
    "Report",
    "advice",
    "automaton",
    "canvas",
    "clusters",
    "decision_regions",
    "graph",
    "heatmap",
    "image",
    "intervals",
    "kernel_weights",
    "leave_one_out_curve",
    "molecule",
    "nested_histogram",
    "null_distribution",
    "panel",
    "plot_contributions",
    "plot_sequence",
    "posterior_samples",
    "prediction",
    "prediction_band",
    "projections",
    "proof",
    "regions",
    "relevances",
    "scree",
    "search_surface",
    "shapley_bars",
    "spectrum",
    "tangents",
    "tree",
    "witness",
]
