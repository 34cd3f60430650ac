"""Inspection of sources and results: data check, doctor, damaged results, explanations. Makes no results."""
