"""Roofline arithmetic: profile and device in, records out."""
