"""The command line.

=================  =====================================================================================
``commands``       the arguments, and what each command does
``expressions``    kernel expressions given as text, evaluated without running code
``catalogue``      every public kernel as a row of a table
``tables``         tables for the terminal
``demo``           ``mercer demo``: proofs, a witness, machines and an HTML page
=================  =====================================================================================

Exit codes: 0 done, 1 failed, 2 wrong arguments, 130 interrupted.  Errors are one line on the error stream.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from ..errors import MercerError
from .commands import parse
from .expressions import ExpressionError

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments; those of the process by default.

    Examples
    --------
    >>> main(["explain", "2 * Linear()"])
    PSD  2.0 * Linear()
    │   nonnegative scaling: a positive factor keeps every sign
    └─ PSD  Linear()
         inner product: c'Kc = |sum_i c_i x_i|^2 >= 0
    0
    """
    arguments = parse(argv)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal that cannot draw a tree shows question marks
            stream.reconfigure(errors="replace")
    try:
        code = int(arguments.run(arguments))
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        return _fail("interrupted", 130)
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - Python flushes it at exit
        return 1
    except ExpressionError as error:
        return _fail(str(error), 2)
    except RecursionError:
        return _fail("the expression is nested too deeply", 2)
    except (MercerError, OSError) as error:
        return _fail(str(error), 1)


def _fail(message: str, code: int) -> int:
    print(f"mercer: {' '.join(message.split())}", file=sys.stderr)
    return code
