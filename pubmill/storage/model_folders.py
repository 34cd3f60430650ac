"""What a Hugging Face folder must hold to be a model: looked for before any job, and again at the export."""

from pathlib import Path

COPIED = ("*.safetensors", "*.json", "*.txt", "*.model", "README.md", "LICENSE*")
"""What is taken over of a folder made elsewhere: weights and texts, no code."""
PICKLED = "pytorch_model.bin"
"""Weights as a pickle: only ever read as tensors, and written as safetensors."""
TOKENIZERS = ("tokenizer.json", "vocab.txt", "vocab.json")
"""Files of which a tokenizer has at least one; without any, transformers would make up an empty tokenizer."""


def folder_fault(folder: Path) -> str | None:
    """What keeps a folder from being a model with its tokenizer, with what it holds; None if nothing does."""
    if not folder.is_dir():
        return "is not a folder" if folder.exists() else "does not exist"
    try:
        found = sorted(path.name for path in folder.iterdir() if path.is_file())
    except OSError as error:
        return f"can't be read ({error.strerror})"
    lacking = {
        "config.json": "config.json" in found,
        f"weights (*.safetensors or {PICKLED})": any(
            name == PICKLED or name.endswith(".safetensors") for name in found
        ),
        f"tokenizer ({', '.join(TOKENIZERS[:-1])} or {TOKENIZERS[-1]})": any(
            name in found for name in TOKENIZERS
        ),
    }
    if missing := [part for part, is_there in lacking.items() if not is_there]:
        return f"has no {', no '.join(missing)}; its files: {', '.join(found) or 'none'}"
    return None
