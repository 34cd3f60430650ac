"""Architectures of the sizes that released models have. Loads no torch."""

from collections.abc import Mapping

from pubmill.recipes import Architecture

BASE = Architecture(family="bert", layers=12, hidden_size=768, attention_heads=12, intermediate_size=3072)
LARGE = Architecture(family="bert", layers=24, hidden_size=1024, attention_heads=16, intermediate_size=4096)
XXLARGE = Architecture(
    family="albert",
    layers=12,
    hidden_size=4096,
    attention_heads=64,
    intermediate_size=16384,
    embedding_size=128,
)
"""ALBERT's."""
SIZES: Mapping[str, Architecture] = {"base": BASE, "large": LARGE, "xxlarge": XXLARGE}
"""`size` in a model's spec -> architecture."""
