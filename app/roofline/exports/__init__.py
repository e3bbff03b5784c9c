"""The forms an analysis is written in: JSON, CSV, text, the generic format, XProf's table."""
