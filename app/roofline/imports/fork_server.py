"""Loaded once by the fork server, so that a child starts with the kernels already compiled."""

import os

# One thread per child: NumPy's BLAS would otherwise start one per processor in the fork server,
# and threads do not survive a fork. Must be set before NumPy is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from roofline.children import sandbox

# First of all, while there is one thread; children inherit both.
sandbox.give_up_network()
sandbox.forget_environment()

from roofline.importers import registry  # noqa: E402
from roofline.imports import child  # noqa: F401, E402

registry.warm_up()
