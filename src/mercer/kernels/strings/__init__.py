"""Kernels on strings: sequences of letters or of any hashable symbols.

=================  ====================================================================
``factors``        all common substrings, each once or with its occurrences
``context_tree``   mutual information under a mixture of context-tree models
``words``          bags of words of texts, with tf-idf; ``bags`` counts them
``compression``    what a compressor saves: not positive definite
=================  ====================================================================
"""

from .compression import Compression
from .context_tree import ContextTree
from .factors import Factors
from .words import BagOfWords

__all__ = ["BagOfWords", "Compression", "ContextTree", "Factors"]
