"""Losses and subwords by date of publication: how a model and its vocabulary age."""
