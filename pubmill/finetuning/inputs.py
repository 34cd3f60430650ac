"""From words to what an encoder reads: subwords, windows, padded tensors (gu2020 section 5.2, NER).

A word's label stands at its first subword. A sentence of more subwords than the encoder takes
becomes several windows, cut between words, so that every word is seen and predicted.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from transformers import PreTrainedTokenizerBase

from pubmill.errors import PubmillError

CHUNK = 1000
"""Sentences given to the tokenizer at once: it uses all cores on a list, and memory stays small."""


@dataclass(frozen=True, slots=True)
class Window:
    """Consecutive words of one sentence between the two special tokens.

    `ids`: subword ids, special tokens included. `words`: the words' places in the sentence, and
    `positions`: the place in `ids` of each one's first subword.
    """

    sentence: int
    ids: list[int]
    words: list[int]
    positions: list[int]


@dataclass(frozen=True, slots=True)
class Windows:
    """All windows of some sentences, and what had to be done to them.

    `split`: sentences that became more than one window. `without_subword`: words of which the
    tokenizer leaves nothing (control characters); they are in no window and are predicted "O".
    `shortened`: words of more subwords than fit into a window, which keep the first of them.
    """

    windows: list[Window]
    split: int
    without_subword: int
    shortened: int


def encode(sentences: Sequence[list[str]], tokenizer: PreTrainedTokenizerBase, max_length: int) -> Windows:
    """Encode sentences (lists of words) as windows of at most `max_length` ids, special tokens included."""
    room = max_length - 2
    if room < 1:
        raise PubmillError(
            f"max_length is {max_length}; it must be at least 3: two special tokens and a subword"
        )
    windows: list[Window] = []
    split = without_subword = shortened = 0
    for number, subwords in enumerate(_subwords(sentences, tokenizer)):
        without_subword += sum(not pieces for pieces in subwords)
        shortened += sum(len(pieces) > room for pieces in subwords)
        cut = _windows(number, [pieces[:room] for pieces in subwords], room, tokenizer)
        split += len(cut) > 1
        windows += cut
    return Windows(windows, split, without_subword, shortened)


def _subwords(sentences: Sequence[list[str]], tokenizer: PreTrainedTokenizerBase) -> list[list[list[int]]]:
    """Subword ids of each word of each sentence."""
    encoded: list[list[list[int]]] = []
    for start in range(0, len(sentences), CHUNK):
        chunk = list(sentences[start : start + CHUNK])
        batch = tokenizer(chunk, is_split_into_words=True, add_special_tokens=False, truncation=False)
        for index, words in enumerate(chunk):
            pieces: list[list[int]] = [[] for _ in words]
            for word, piece in zip(batch.word_ids(index), batch["input_ids"][index], strict=True):
                pieces[word].append(piece)
            encoded.append(pieces)
    return encoded


def _windows(
    sentence: int, subwords: list[list[int]], room: int, tokenizer: PreTrainedTokenizerBase
) -> list[Window]:
    """Fill one window after another with whole words."""
    windows: list[Window] = []
    for word, pieces in enumerate(subwords):
        if not pieces:
            continue
        if not windows or len(windows[-1].ids) - 1 + len(pieces) > room:
            windows.append(Window(sentence, [tokenizer.cls_token_id], [], []))
        windows[-1].words.append(word)
        windows[-1].positions.append(len(windows[-1].ids))
        windows[-1].ids.extend(pieces)
    for window in windows:
        window.ids.append(tokenizer.sep_token_id)
    return windows


@dataclass(frozen=True, slots=True)
class Batch:
    """Padded tensors of some windows.

    `ids`, `mask`: batch x longest window (int64; mask 1 for real tokens). `positions`: the first
    subwords of all words, window by window, as places in the flattened batch x longest.
    """

    ids: torch.Tensor
    mask: torch.Tensor
    positions: torch.Tensor


def collate(windows: Sequence[Window], pad: int, device: torch.device) -> Batch:
    """Pad windows to the longest of them."""
    longest = max(len(window.ids) for window in windows)
    ids = np.full((len(windows), longest), pad, dtype=np.int64)
    mask = np.zeros((len(windows), longest), dtype=np.int64)
    for row, window in enumerate(windows):
        ids[row, : len(window.ids)] = window.ids
        mask[row, : len(window.ids)] = 1
    places = [row * longest + at for row, window in enumerate(windows) for at in window.positions]
    return Batch(
        ids=torch.from_numpy(ids).to(device, non_blocking=True),
        mask=torch.from_numpy(mask).to(device, non_blocking=True),
        positions=torch.tensor(places, dtype=torch.int64).to(device, non_blocking=True),
    )
