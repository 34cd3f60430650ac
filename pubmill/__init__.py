"""pubmill: from PubMed XML to the result tables of papers on biomedical language models."""

__version__ = "0.1.0"
