"""The fixtures of the store's tests: imports need a store."""

from tests.storage.conftest import _quick, capture_bytes, folder, own_postgres, postgres_url

__all__ = ["_quick", "capture_bytes", "folder", "own_postgres", "postgres_url"]
