"""HTTP: routes, uploads, errors as responses."""
