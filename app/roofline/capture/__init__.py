"""Profiles of programs that run: fetched from them, or recorded while a command runs."""
