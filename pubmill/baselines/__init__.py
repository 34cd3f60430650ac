"""Baselines: predictions that need no model, or a second of learning."""
