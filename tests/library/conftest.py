"""The fixtures of the store's tests: a library needs a store."""

from tests.storage.conftest import _quick, folder

__all__ = ["_quick", "folder"]
