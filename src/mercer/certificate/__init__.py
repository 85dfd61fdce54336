"""Certificates: what is known about the definiteness of a kernel, and why.

A certificate answers three questions, each with *proved*, *refuted* or *unknown*:

- is ``k`` **positive definite**: ``sum_ij c_i c_j k(x_i, x_j) >= 0`` for all points and coefficients?
- is ``k`` **negative definite**: ``sum_ij c_i c_j k(x_i, x_j) <= 0`` for all points and all
  coefficients with ``sum_i c_i = 0``?
- is ``k`` **conditionally positive definite** of order m: ``sum_ij c_i c_j k(x_i, x_j) >= 0`` for all points
  and all coefficients with ``sum_i c_i p(x_i) = 0`` for every polynomial p of degree below m?  (Order 0 is
  positive definite, order 1 that ``-k`` is negative definite.)

Every answer is a :class:`Claim`: the theorem that gave it, the claims it rests on (a tree), the
conditions on the domain, and, where it is refuted, a :class:`Witness` that anyone can recompute.
Claims are derived from the structure of the expression and from parameters, never from numbers:
numbers can refute, they cannot prove.

===========  ============================================================
``base``     ``Certificate``: the answers, and the ``Verdict``
``claim``    ``Claim``: one of them, with its proof as a tree
``witness``  ``Witness``: points and coefficients that refute
===========  ============================================================
"""

from .base import Certificate, Verdict
from .claim import ASSERTED, Claim, Status, negated
from .witness import Property, Witness

__all__ = ["ASSERTED", "Certificate", "Claim", "Property", "Status", "Verdict", "Witness", "negated"]
