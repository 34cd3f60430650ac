"""Prompting of language models: answers for the test examples of a dataset, asked of a server."""
