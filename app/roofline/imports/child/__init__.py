"""What runs in the child process of an import. The server never imports it."""
