"""Registered cases, one module per family of kernels, each with a list ``CASES``."""
