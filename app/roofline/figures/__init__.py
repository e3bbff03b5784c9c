"""The shape of figures, and places on their axes. Knows no profile and no words."""
