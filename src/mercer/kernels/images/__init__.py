"""Kernels on images, one file each."""
