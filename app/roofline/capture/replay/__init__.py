"""Benchmarks of one operation, each one file: these two are filled in, and run elsewhere."""
