"""Probability models: immutable values with likelihoods, scores and samples.

===============  =========================================================
``base``         ``Model``, the contract; scores of probabilities
``multinomial``  ``Multinomial``: counts
``normal``       ``Normal`` and ``Mixture``: vectors
``markov``       ``MarkovChain``: sequences of symbols
``hmm``          ``HMM``: sequences with hidden states
``chains``       what these two share
``log_paths``    sums over hidden paths in logarithms
``domain``       ``Distributions``: histograms and models as points of kernels
``conversion``   ``as_model``: fitted models of scikit-learn and hmmlearn
``priors``       ``Dirichlet`` and ``NormalMean``: priors with closed integrals
===============  =========================================================
"""

from .base import Model
from .conversion import as_model
from .domain import Distributions
from .hmm import HMM, Expected
from .markov import MarkovChain
from .multinomial import Multinomial
from .normal import Mixture, Normal
from .priors import Dirichlet, NormalMean, Prior

__all__ = [
    "HMM",
    "Dirichlet",
    "Distributions",
    "Expected",
    "MarkovChain",
    "Mixture",
    "Model",
    "Multinomial",
    "Normal",
    "NormalMean",
    "Prior",
    "as_model",
]
