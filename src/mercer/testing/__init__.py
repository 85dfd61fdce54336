"""Laws that every kernel obeys, for the kernels of the package and for yours.

============  ==============================================================================
``check``     ``check_kernel``: run the laws on a kernel and some points
``laws``      ``LAWS``, the table of all laws
``rules``     the laws themselves, by subject
``trial``     a kernel on trial; ``LawViolation``
``scope``     the names that ``repr`` of a kernel may use
``cases``     ``Case``: a kernel registered with points
``samples``   the cases of every kernel of the package, one module per family
``registry``  all cases, and the kernels that lack one
``mutants``   one broken kernel per law, which that law must catch
============  ==============================================================================

Any layer may be imported here, and no other layer imports this one.
"""

from .cases import Case
from .check import Report, check_kernel
from .laws import LAWS, Law
from .trial import LawViolation

__all__ = ["LAWS", "Case", "Law", "LawViolation", "Report", "check_kernel"]
