"""Annotation of new text with a kept fine-tuned model: document formats, words, and relation candidates."""
