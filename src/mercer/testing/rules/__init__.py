"""The laws, each a short function of a :class:`~mercer.testing.trial.Trial` with its statement as docstring.

================  =================================================================
``table``         ``LAWS``, in the order in which ``check_kernel`` runs them
``basics``        values: symmetry, blocks, diagonals, bounds, digits
``definiteness``  what certificates claim, against spectra and recomputed witnesses
``gradients``     parameter gradients against finite differences
``identity``      a kernel is a value: representation, pickling, parameters
``storage``       sparse, single precision, memory layout
================  =================================================================

A law reports a counterexample with ``broken``, or raises ``Skip`` where it does not apply.
"""

from . import basics, definiteness, gradients, identity, storage

__all__ = ["basics", "definiteness", "gradients", "identity", "storage"]
