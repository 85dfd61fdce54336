"""Probability models: immutable values with likelihoods, scores and samples.

===============  =========================================================
``base``         ``Model``, the contract; scores of probabilities
``multinomial``  ``Multinomial``: counts
``normal``       ``Normal`` and ``Mixture``: vectors
``chains``       ``MarkovChain`` and ``HMM``: sequences
===============  =========================================================
"""

from .base import Model
from .chains import HMM, Expected, MarkovChain
from .multinomial import Multinomial
from .normal import Mixture, Normal

__all__ = ["HMM", "Expected", "MarkovChain", "Mixture", "Model", "Multinomial", "Normal"]
