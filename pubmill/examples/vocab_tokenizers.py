"""Tokenizers of vocabulary and model folders, as text is counted, diagnosed and packed with them."""

import re
from pathlib import Path

from tokenizers import Tokenizer

from pubmill.errors import PubmillError
from pubmill.storage.files import read_json

UNKNOWN = "\ua66e"
"""A letter that occurs in one manuscript, and so in no vocabulary."""
ASCII_WORD = re.compile("[A-Za-z0-9]+|[^A-Za-z0-9]")
"""Words of printable ASCII as BERT's pre-tokeniser separates them."""


def load_tokenizer(folder: Path) -> Tokenizer:
    """Return the folder's tokenizer, without truncation and padding. "[SEP]" in a text (somatosensory evoked
    potentials) is encoded as text, as in BERT's own pretraining programs, not as the special token. Raises a
    `PubmillError` if the folder has no readable tokenizer."""
    path = folder / "tokenizer.json"
    read_json(path)
    try:
        tokenizer: Tokenizer = Tokenizer.from_file(str(path))
        tokenizer.encode(UNKNOWN)  # fails if the vocabulary lacks the token that stands for it
    except Exception as error:  # tokenizers raises nothing more specific
        raise PubmillError(f"{path}: no readable tokenizer: {error}") from None
    tokenizer.no_padding()
    tokenizer.no_truncation()
    tokenizer.encode_special_tokens = True
    return tokenizer
