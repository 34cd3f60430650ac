"""Snakemake's `--logger pubmill`: the display of a run, which the `pubmill` command uses.

Snakemake finds a plugin by the name of its folder; a module that is no package is not found.
"""

from pubmill.workflow.display import LogHandler

__all__ = ["LogHandler"]
