"""Molecules: SMILES into fingerprints and graphs, with RDKit (``pip install mercer[rdkit]``).

================  =====================================================================
``domain``        ``Molecules``: SMILES or RDKit molecules; ``parse``
``fingerprints``  ``MorganFingerprint``, a map for ``k.on(...)``
``structure``     ``MolecularGraph``, a map for ``k.on(...)``, and ``to_graphs``
================  =====================================================================
"""

from .domain import Molecules, Parsed, parse
from .fingerprints import MorganFingerprint
from .structure import MolecularGraph, to_graphs

__all__ = ["MolecularGraph", "Molecules", "MorganFingerprint", "Parsed", "parse", "to_graphs"]
