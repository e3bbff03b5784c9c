"""The `roofline` command: analyses, serves, uploads, and looks after a data folder."""
