"""Processes that read untrusted files: one protocol, limits of the system, and no network."""
