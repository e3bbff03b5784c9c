"""Answers for coding agents: short texts that say how sure they are, and tools that give them."""

LIBRARY = "library of the Model Context Protocol"
LATEST = "latest"
"""The name by which a caller asks for the newest profile."""
