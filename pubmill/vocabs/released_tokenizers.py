"""The vocabulary that a model was released with."""

import shutil
from pathlib import Path
from typing import Any

from pubmill.annotation.vocab_tokenizers import load_tokenizer
from pubmill.errors import PubmillError
from pubmill.storage.files import write_json, writing_folder
from pubmill.vocabs.diagnosis import split_terms

FILES = ("vocab.txt", "vocab.json", "merges.txt", "spiece.model", "special_tokens_map.json")
NEEDED = ("tokenizer.json", "tokenizer_config.json")


def take(model: Path, output: Path) -> dict[str, Any]:
    """Copy the tokenizer of a model's folder and write diagnosis.json beside it; return the diagnosis."""
    lacking = [name for name in NEEDED if not (model / name).is_file()]
    if lacking:
        raise PubmillError(f"{model} lacks {', '.join(lacking)}; make the model again")
    tokenizer = load_tokenizer(model)
    diagnosis = {"size": tokenizer.get_vocab_size(), "model": model.name, "terms": split_terms(tokenizer)}
    with writing_folder(output) as temporary:
        for name in (*NEEDED, *FILES):
            if (model / name).is_file():
                shutil.copyfile(model / name, temporary / name)
        write_json(temporary / "diagnosis.json", diagnosis)
    return diagnosis
