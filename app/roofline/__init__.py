"""Roofline: what bounds an accelerator program, from its profile to the page."""

__version__ = "0.1.0"
