"""Kernels on time series of any lengths, with one or several channels.

===================  ==================================================================
``alignment``        ``GlobalAlignment``: sums over all alignments of two series
``warping``          ``DTW`` and ``SoftDTW``: Gaussians of warping distances; ``dtw``, ``dtw_path``
``transitions``      ``Transitions``: which states follow each other
``autocorrelation``  ``Autocorrelation``
``common``           what kernels over alignments share
``paths``            tables over alignments, their best path, and its stretches
===================  ==================================================================
"""

from .alignment import GlobalAlignment
from .autocorrelation import Autocorrelation
from .transitions import Transitions
from .warping import DTW, SoftDTW, dtw, dtw_path

__all__ = ["DTW", "Autocorrelation", "GlobalAlignment", "SoftDTW", "Transitions", "dtw", "dtw_path"]
