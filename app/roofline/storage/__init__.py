"""Bytes and digests on disk. The only package that writes there."""
