"""The engine: tiles of kernel blocks, in parallel, on the native core.

Map of the folder::

    runs.py       time budgets, callbacks, progress bars, Ctrl-C
    lapack.py     routines of LAPACK on blocks of matrices, in place
    factorizations.py  Cholesky factors, eigenvalues and the like, panel by panel
    threads.py    how many threads to use, and how to keep BLAS from adding its own
    tiles.py      cuts an n-by-m block into tiles and runs them on several threads
    pairwise.py   sums over features (distances, minima, chi-square...), dot products, ANOVA
    layouts.py    zeros and ones, packed into words
    substrings.py common factors and context trees of strings
    points.py     points as programs read them: dense, compressed or packed
    builder.py    what kernels say of themselves: steps over tiles, each distinct one once
    registers.py  which register each value of such a program lives in
    half.py       symmetric matrices as the tiles of their lower half, and products with them
    program.py    runs the steps: matrices, and products without them
    rough.py      rows of Gaussian kernels in single precision throughout, for solvers that check their result
    workers.py    kernels in Python, in worker processes

``tiles`` knows nothing of what a tile computes; ``pairwise`` knows nothing of kernels.  Inputs have been
validated by the domains before they come here.
"""
