"""Figures as SVG: axes, lines, marks and text, written out. Knows no profile and no words."""
