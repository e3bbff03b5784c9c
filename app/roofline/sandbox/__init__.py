"""What processes that read untrusted files may use: limits of the system, and no network."""
