"""The engine: tiles of kernel blocks, in parallel, on the native core.

====================  ====================================================================================
``runs``              time budgets, callbacks, progress bars, Ctrl-C
``threads``           the number of threads, and limits on those of BLAS
``tiles``             cuts an n-by-m block into tiles and runs them on several threads
``pairwise``          sums over features (distances, minima, chi-square), dot products, ANOVA
``buffers``           a pool of large buffers, for arrays that come and go
``points``            points as programs read them: dense, compressed or packed
``layouts``           zeros and ones, packed into words
``builder``           how a kernel describes itself: steps over tiles, each distinct one once
``precision``         whether values are in single or in double precision, without computing them
``formulas``          the arithmetic of the compiler: a formula writes the steps of a program
``registers``         the register of each value of such a program
``tables``            steps on counts as a table
``program``           runs the steps: matrices, and products without them
``packed``            packed symmetric matrices: the tiles of the lower half, and products with them
``reduced``           functions of a distance or inner product in single precision throughout
``lapack``            routines of LAPACK on blocks of matrices, in place
``factorizations``    Cholesky factors, eigenvalues and the like, panel by panel
``fourier``           random Fourier features: products with frequencies, cosines and sines
``chebyshev``         functions of sparse symmetric matrices
``series``            sums and minima over the alignments of series
``string_pairs``      recursions over pairs of sequences
``substrings``        common factors and context trees of strings
``tangents``          distances between tangent planes of images
``tree_pairs``        sums over pairs of nodes of two trees
``workers``           Python kernels in worker processes
====================  ====================================================================================

``tiles`` knows nothing of what a tile computes; ``pairwise`` knows nothing of kernels.  Inputs have been
validated by the domains before they come here.
"""
