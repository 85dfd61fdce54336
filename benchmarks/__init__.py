"""Benchmarks: ours and the peer, side by side in one run, ratios printed.

``python -m benchmarks`` (or ``make bench``) runs all; names select some, as in ``make bench ARGS="ridge"``.
The cases (generators, seeds, parameters) are fixed in ``cases.py``.
"""
