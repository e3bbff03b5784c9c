"""The profiles of one server: add, find, open, edit and delete them."""
