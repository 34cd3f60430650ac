"""pubmill: from PubMed and PMC XML to the result tables of five papers on biomedical language models."""

__version__ = "0.1.0"
