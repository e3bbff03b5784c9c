"""Peaks of a device, each with its origin: chosen > in the profile > calibrated > catalogue."""

from app.devices.choice import PeakChoice
from app.devices.resolve import resolve

__all__ = ["PeakChoice", "resolve"]
