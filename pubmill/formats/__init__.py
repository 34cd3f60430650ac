"""Text forms of documents, labelled words and rows, each read and written in one place for all rooms."""
