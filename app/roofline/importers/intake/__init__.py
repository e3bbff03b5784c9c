"""The steps before a file's format is known: unpacking, and naming what it is not."""
