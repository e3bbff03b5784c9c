"""A worker process for tests."""
