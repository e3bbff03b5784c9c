"""`python -m roofline` is the `roofline` command."""

from roofline.cli.main import main

main()
