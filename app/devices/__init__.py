"""Peaks of a device: from the profile today, from the catalogue where the profile has none."""
