"""Vocabularies of released models."""

import shutil
from pathlib import Path
from typing import Any

from pubmill.errors import PubmillError
from pubmill.examples.vocab_tokenizers import load_tokenizer
from pubmill.storage.checksums import write_folder_sums
from pubmill.storage.files import write_json, writing_folder
from pubmill.storage.model_folders import TOKENIZER_FILES, VOCABULARY_FILES
from pubmill.vocabs.diagnosis import split_terms

OPTIONAL = (*VOCABULARY_FILES, "special_tokens_map.json")


def take(model: Path, output: Path) -> dict[str, Any]:
    """Copy the tokenizer of a model's folder and write diagnosis.json beside it; return the diagnosis."""
    lacking = [name for name in TOKENIZER_FILES if not (model / name).is_file()]
    if lacking:
        raise PubmillError(f"{model} lacks {', '.join(lacking)}; make the model again")
    tokenizer = load_tokenizer(model)
    diagnosis = {"size": tokenizer.get_vocab_size(), "model": model.name, "terms": split_terms(tokenizer)}
    with writing_folder(output) as temporary:
        for name in (*TOKENIZER_FILES, *OPTIONAL):
            if (model / name).is_file():
                shutil.copyfile(model / name, temporary / name)
        write_json(temporary / "diagnosis.json", diagnosis)
        write_folder_sums(temporary)
    return diagnosis
