"""`python -m app` is the `roofline` command."""

from app.cli import main

main()
