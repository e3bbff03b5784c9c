"""Peaks of a device, each with its origin: chosen > in the profile > calibrated > catalogue."""

from roofline.devices.choice import PeakChoice
from roofline.devices.resolve import resolve

__all__ = ["PeakChoice", "resolve"]
