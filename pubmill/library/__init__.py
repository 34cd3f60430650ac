"""Functions for other programs: readers of PubMed and PMC, converted datasets, metrics, and a tagger.

They are documented on docs/library.md and imported from `pubmill` itself.
"""
