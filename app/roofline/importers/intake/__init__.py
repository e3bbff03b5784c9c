"""What happens to a file before its format is known: unpacking, and naming what it is not."""
