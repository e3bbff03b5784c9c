"""Loaded once by the fork server, so that a child starts with the kernels already compiled."""

import os

# One thread per child: NumPy's BLAS would otherwise start one per processor in the fork server,
# and threads do not survive a fork. Must be set before NumPy is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from roofline.sandbox import isolation

# First of all, while there is one thread; children inherit both.
isolation.give_up_network()
isolation.forget_environment()

from roofline.importers import registry  # noqa: E402
from roofline.imports.child import child  # noqa: F401, E402

registry.warm_up()
