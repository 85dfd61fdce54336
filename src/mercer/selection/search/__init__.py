"""Search over kernels and penalties, with kernel values that all folds share.

=================  ====================================================================================
``estimator``      ``KernelSearchCV``: reads its arguments, runs the search, fits the best candidate
``grid``           candidates, checked before any work, in groups that differ in one penalty
``splits``         training and test positions
``values``         ``SharedValues``: Gram matrices of all points, each computed once
``held``           ``HeldKernel``: a kernel on positions that looks its values up
``evaluation``     one group in one split: fits along the path of penalties, scores
``known``          support vector machines along C on the values of all points
``leave_one_out``  predictions of each point without it, in closed form
``parallel``       threads that work side by side
``scorers``        what has to be known of a scorer
``racing``         candidates that are dropped
``table``          scores so far, and ``cv_results_``
=================  ====================================================================================
"""

from .estimator import KernelSearchCV

__all__ = ["KernelSearchCV"]
