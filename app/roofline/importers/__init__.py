"""How bytes become a `Profile`. Formats do not import each other; `registry` knows them all."""

from roofline.importers import kernel_cache

kernel_cache.make_usable()  # before any reader loads numba
