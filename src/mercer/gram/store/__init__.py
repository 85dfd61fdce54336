"""Kernel values on disk, for the next run.

=============  =============================================================================================
``store``      ``GramStore``: a directory of kernels, with its limits
``kernel``     ``KernelStore``: the values of one kernel, in memory and on disk, and when to write
``page``       a square of 256 x 256 values that says itself which points it is about
``index``      the list of known points; a point's position in it decides on which page its values are
``files``      write aside, fsync, rename; locks between processes
=============  =============================================================================================

::

    store/
      store.json                       format and version
      locks/<kernel digest>.lock
      <kernel digest>/
        kernel.json                    for people; its time is that of the last use
        points.bin                     digest of each point, in the order of arrival
        pages/<row>-<column>.page      lower triangle of squares

Nothing is pickled.  A page is replaced as a whole by a rename, so that a process killed at any point leaves a
valid store; a page that is damaged anyway is found by its checksum and computed again; and because pages name
their points, no damage to the index can put a value at the wrong pair.
"""

from .kernel import KernelStore
from .store import GramStore, KernelInfo, StoreInfo

__all__ = ["GramStore", "KernelInfo", "KernelStore", "StoreInfo"]
