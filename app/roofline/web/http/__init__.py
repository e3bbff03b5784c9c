"""Parts that every route needs: guard, sessions, errors, static files."""
