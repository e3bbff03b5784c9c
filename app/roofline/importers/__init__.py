"""How bytes become a `Profile`. Formats do not import each other; `registry` knows them all."""
