"""`python -m roost`: the same as the program `roost`."""

from roost.cli.main import main

main()
