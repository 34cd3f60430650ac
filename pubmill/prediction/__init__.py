"""New text annotated with a kept task model: formats of documents, words, candidates."""
