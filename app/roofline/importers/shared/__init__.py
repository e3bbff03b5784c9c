"""Parts that several formats need: op tables, launches, tables of text, kernel names."""
