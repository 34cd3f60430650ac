"""Floors: predictions that need no learning, or seconds of it, and the room between them and the ceiling."""
