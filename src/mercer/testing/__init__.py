"""Laws that every kernel obeys, to check your own kernel against.

============  ==============================================================================
``check``     ``check_kernel``: run the laws on a kernel and some points
``laws``      ``LAWS``, the table of all laws
``rules``     the laws themselves, by subject
``trial``     a kernel on trial; ``LawViolation``
``scope``     the names that ``repr`` of a kernel may use
============  ==============================================================================

Any layer may be imported here, and no other layer imports this one.
"""

from .check import Report, check_kernel
from .laws import LAWS, Law
from .trial import LawViolation

__all__ = ["LAWS", "Law", "LawViolation", "Report", "check_kernel"]
