"""Runs one import: the job's lease, its child process with limits, and its result."""
