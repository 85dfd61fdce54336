"""Hypothesis profiles: `quick` is small and fixed; `fuzz` (HYPOTHESIS_PROFILE=fuzz) is large and random."""

import os
import signal
from types import FunctionType

os.environ.setdefault("SCIPY_ARRAY_API", "1")  # before SciPy is imported: scikit-learn's checks ask for it

from hypothesis import HealthCheck, settings

from mercer import Kernel

# A shell starts its background jobs with Ctrl-C ignored, and many tests press it.
signal.signal(signal.SIGINT, signal.default_int_handler)

collect_ignore_glob = [
    "engine/fuzz_*.py",
    "machines/fuzz_*.py",
]  # scripts, which import their neighbours as scripts do


def pytest_make_parametrize_id(val, argname):
    """Name kernels by their expression, functions without their address (it differs between workers)."""
    if isinstance(val, FunctionType):
        return val.__name__
    return repr(val) if isinstance(val, Kernel) else None


settings.register_profile(
    "quick",
    max_examples=40,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "fuzz",
    max_examples=2000,
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))
