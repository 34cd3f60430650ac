"""`python -m pubmill.cli`: the `pubmill` command of this checkout, also where it is not installed."""

from pubmill.cli import main

main()
