"""Tokenizers of vocabulary and model folders, as text is counted, diagnosed, packed and learnt with them."""

import json
import re
from collections.abc import Iterable
from pathlib import Path

from tokenizers import Tokenizer

from pubmill.errors import PubmillError
from pubmill.storage.checksums import check_folder
from pubmill.storage.files import read_json

UNKNOWN = "\ua66e"
"""A letter that occurs in one manuscript, and so in no vocabulary."""
ASCII_WORD = re.compile("[A-Za-z0-9]+|[^A-Za-z0-9]")
"""Words of printable ASCII as BERT's pre-tokeniser separates them."""


def load_tokenizer(folder: Path) -> Tokenizer:
    """Return the folder's tokenizer, without truncation and padding. "[SEP]" in a text (somatosensory evoked
    potentials) is encoded as text, as in BERT's own pretraining programs, not as the special token; so is
    every other token that tokenizer_config.json names. Raises a `PubmillError` if the folder has no readable
    tokenizer."""
    path = folder / "tokenizer.json"
    check_folder(folder)
    read_json(path)
    try:
        tokenizer: Tokenizer = Tokenizer.from_file(str(path))
        tokenizer.encode(UNKNOWN)  # fails if the vocabulary lacks the token that stands for it
    except Exception as error:  # tokenizers raises nothing more specific
        raise PubmillError(f"{path}: no readable tokenizer: {error}") from None
    tokenizer.no_padding()
    tokenizer.no_truncation()
    special = {token.content for token in tokenizer.get_added_tokens_decoder().values() if token.special}
    named = dict.fromkeys(named_tokens(folder).values())
    new = [token for token in named if token not in special and tokenizer.token_to_id(token) is not None]
    tokenizer.add_special_tokens(new)
    tokenizer.encode_special_tokens = True
    return tokenizer


def named_tokens(folder: Path) -> dict[str, str]:
    """Return the special tokens that tokenizer_config.json names, by their names (`pad`)."""
    path = folder / "tokenizer_config.json"
    settings = read_json(path) if path.is_file() else {}
    named = {key.removesuffix("_token"): value for key, value in settings.items() if key.endswith("_token")}
    tokens = {
        name: token.get("content") if isinstance(token, dict) else token for name, token in named.items()
    }
    return {name: token for name, token in tokens.items() if isinstance(token, str)}


def text_tokenizer(tokenizer: Tokenizer, marks: Iterable[str] = ()) -> Tokenizer:
    """Return a copy that reads all text as text, with equal ids: no special token comes from text, except
    `marks`, which pubmill itself writes into it.

    `encode_special_tokens` alone does not suffice: the models of `tokenizers` know no control pieces, so that
    unigrams or merges make "</s>" from these characters, where SentencePiece makes them from other pieces.
    The copy's special tokens have names that no text has.
    """
    settings = json.loads(tokenizer.to_str())
    added, model = settings["added_tokens"], settings["model"]
    special = {token["content"] for token in added if token["special"]}.difference(marks)
    names = {token: f"\0 {token}" for token in special}
    for token in added:
        token["content"] = names.get(token["content"], token["content"])
    vocab = model["vocab"]
    if isinstance(vocab, dict):
        model["vocab"] = {names.get(piece, piece): number for piece, number in vocab.items()}
    else:
        model["vocab"] = [[names.get(piece, piece), score] for piece, score in vocab]
    if isinstance(model.get("unk_token"), str):
        model["unk_token"] = names.get(model["unk_token"], model["unk_token"])
    if "merges" in model:
        merges = ((one, one.split(" ") if isinstance(one, str) else one) for one in model["merges"])
        model["merges"] = [one for one, pair in merges if special.isdisjoint((*pair, "".join(pair)))]
    copy: Tokenizer = Tokenizer.from_str(json.dumps(settings | {"truncation": None, "padding": None}))
    return copy
