"""Make a model folder that transformers loads, from a checkpoint, at random, a folder, an archive or the hub,
with its card, README.md; readable only by its owner if an input is. `pin`: of weights that the recipe does
not pin."""

from pubmill.pretraining.export import export as main

__all__ = ["main"]
