"""Specs of data, models and tables of one's own, described from their files (`pubmill new`)."""
