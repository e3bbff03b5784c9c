"""What the page shows: columns, styles, roofs and the view state. Decides nothing about numbers."""
