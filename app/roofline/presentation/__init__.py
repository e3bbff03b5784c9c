"""The page's columns, styles, roofs and view state. Decides nothing about numbers."""
