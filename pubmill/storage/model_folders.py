"""Names of the files of models and tokenizers; the check of a model folder made elsewhere."""

import fnmatch
from pathlib import Path

CONFIG, WEIGHTS = "config.json", "model.safetensors"
CORPUS_KEY = "pretraining_corpus"
"""Key of the configuration of a model pretrained here: name, day, size and last files of its corpus."""
TOKENIZER_FILES = ("tokenizer.json", "tokenizer_config.json")
"""Files of every tokenizer made here."""
VOCABULARY_FILES = ("vocab.txt", "vocab.json", "merges.txt", "spiece.model")
"""Files that a tokenizer may have beside them, by its kind."""
COPIED = ("*.safetensors", "*.json", "*.txt", "*.model", "README.md", "LICENSE*")
"""Files copied from a model folder made elsewhere: weights and texts, no code."""
PICKLED = "pytorch_model.bin"
"""Weights as a pickle, which are only read as tensors and written as safetensors."""
TOKENIZERS = ("tokenizer.json", "vocab.txt", "vocab.json", "spiece.model")
"""A tokenizer has at least one of these files; without any, transformers would make an empty tokenizer."""


def folder_fault(folder: Path) -> str | None:
    """Return why a folder is not a model with its tokenizer, and which files it holds; None if it is one."""
    if not folder.is_dir():
        return "is not a folder" if folder.exists() else "does not exist"
    try:
        files = sorted(path.name for path in folder.iterdir() if path.is_file())
    except OSError as error:
        return f"can't be read ({error.strerror})"
    parts = {
        CONFIG: {CONFIG},
        f"weights (*.safetensors or {PICKLED})": {PICKLED, *fnmatch.filter(files, "*.safetensors")},
        f"tokenizer ({', '.join(TOKENIZERS[:-1])} or {TOKENIZERS[-1]}; models that read characters or bytes, "
        "as CANINE and ByT5, have none, and fine-tuning needs one)": set(TOKENIZERS),
    }
    if missing := [part for part, names in parts.items() if names.isdisjoint(files)]:
        return f"has no {', no '.join(missing)}; its files: {', '.join(files) or 'none'}"
    return None
