"""Processes that read untrusted files: limits of the system, and no network."""
