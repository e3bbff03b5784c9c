"""The program of the child process of an import. The server never imports it."""
