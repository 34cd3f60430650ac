"""Boards: scores of a folder of submissions, as a static site."""
