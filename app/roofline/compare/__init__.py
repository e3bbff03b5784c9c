"""Two runs against each other: which op is which, and what each change of time comes from."""
