"""Peaks of a device, each with its origin: chosen > in the profile > calibrated > catalogue."""
