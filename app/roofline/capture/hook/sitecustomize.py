"""What Python runs first in each process of a recorded command.

Puts the hook of `roofline record` in its place, then runs the next `sitecustomize` of the path, as
if this one were not there. Python 3.8 or later, nothing but the standard library.
"""

import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))

try:
    import record_hook  # type: ignore[import-not-found]

    record_hook.install()
except Exception:  # noqa: BLE001 -- nothing of ours may reach the program
    pass

sys.path[:] = [place for place in sys.path if os.path.abspath(place or os.curdir) != _HERE]
_own = sys.modules.pop("sitecustomize", None)
try:
    import sitecustomize  # type: ignore[import-not-found] # noqa: F401 -- the next of the path
except ImportError:
    if _own is not None:
        sys.modules["sitecustomize"] = _own  # the import of this module takes it from there
