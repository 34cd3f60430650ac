"""The `pubmill` command: short forms of Snakemake's and the programs' commands, one module per verb.

Each verb prints the command that it stands for and passes further arguments on; nothing is computed here.
"""

from pubmill.cli.app import main

__all__ = ["main"]
