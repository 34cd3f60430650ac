"""Folders with RoBERTa's byte-level byte-pair tokenizer, which `AutoTokenizer` can load.

See Radford et al. (2019) and lewis2020 section 4.1. Every byte is a piece, so no text is unknown and every
text decodes to itself.
"""

from pathlib import Path

from tokenizers import AddedToken, Tokenizer
from tokenizers.decoders import ByteLevel as ByteLevelDecoder
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel
from tokenizers.processors import RobertaProcessing

from pubmill.storage.files import write_json
from pubmill.vocabs.merges import Learnt
from pubmill.vocabs.wordpiece import write_tokenizer

# in fairseq's order; the mask is the last piece of the vocabulary
FIRST, MASK = ("<s>", "<pad>", "</s>", "<unk>"), "<mask>"
SPECIAL = {
    "bos": "<s>",
    "cls": "<s>",
    "pad": "<pad>",
    "eos": "</s>",
    "sep": "</s>",
    "unk": "<unk>",
    "mask": MASK,
}


def byte_alphabet() -> list[str]:
    """Return the 256 characters that represent bytes."""
    return sorted(ByteLevel.alphabet())


def make_tokenizer(learnt: Learnt) -> Tokenizer:
    """Return RoBERTa's tokenizer; the pieces begin with `FIRST`, and the mask is added at the end."""
    pieces = [*learnt.pieces, MASK]
    ids = {piece: number for number, piece in enumerate(pieces)}
    tokenizer = Tokenizer(BPE(vocab=ids, merges=learnt.merges, unk_token=None))
    tokenizer.pre_tokenizer = ByteLevel(add_prefix_space=False)
    tokenizer.decoder = ByteLevelDecoder()
    tokenizer.post_processor = RobertaProcessing(("</s>", ids["</s>"]), ("<s>", ids["<s>"]), True, False)
    marks = [AddedToken(piece, special=True, normalized=False) for piece in FIRST]
    # as in RoBERTa: the mask replaces a word and the space before it
    tokenizer.add_special_tokens([*marks, AddedToken(MASK, lstrip=True, special=True, normalized=False)])
    return tokenizer


def save(tokenizer: Tokenizer, learnt: Learnt, folder: Path) -> None:
    """Write tokenizer.json, vocab.json, merges.txt and tokenizer_config.json."""
    write_json(folder / "vocab.json", tokenizer.get_vocab())
    merges = "".join(f"{left} {right}\n" for left, right in learnt.merges)
    (folder / "merges.txt").write_text(f"#version: 0.2\n{merges}", encoding="utf-8")
    offsets = {"add_prefix_space": False, "trim_offsets": True}
    write_tokenizer(tokenizer, folder, SPECIAL, tokenizer_class="RobertaTokenizer", **offsets)
