"""When slow steps are told. Without NumPy: the server's process draws pages with it, too."""

LEAST_STEPS_FOR_P95 = 20
"""Steps from which on the slowest 5 % are at least one."""
