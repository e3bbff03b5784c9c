"""Loaded once by the fork server, so that a child starts with the kernels already compiled."""

import os

# One thread per child: NumPy's BLAS would otherwise start one per processor in the fork server,
# and threads do not survive a fork. Must be set before NumPy is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from app import confinement

# First of all, while there is one thread; children inherit both.
confinement.give_up_network()
confinement.forget_environment()

from app import worker  # noqa: F401, E402
from app.importers import pytorch, xspace  # noqa: E402

xspace.warm_up()
pytorch.warm_up()
