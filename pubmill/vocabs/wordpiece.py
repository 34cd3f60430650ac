"""Folders with BERT's WordPiece tokenizer, uncased or cased, which `AutoTokenizer` can load."""

import json
from pathlib import Path

from tokenizers import AddedToken, Tokenizer
from tokenizers.decoders import WordPiece as WordPieceDecoder
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer
from tokenizers.processors import BertProcessing

from pubmill.storage.files import write_json

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
MAX_POSITIONS = 512


def make_tokenizer(pieces: list[str], lowercase: bool) -> Tokenizer:
    """Return BERT's tokenizer over `pieces`, whose ids are their indices in the list."""
    ids = {piece: number for number, piece in enumerate(pieces)}
    tokenizer = Tokenizer(WordPiece(ids, unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer = BertNormalizer(lowercase=lowercase)
    tokenizer.pre_tokenizer = BertPreTokenizer()
    tokenizer.decoder = WordPieceDecoder()
    tokenizer.post_processor = BertProcessing(("[SEP]", ids["[SEP]"]), ("[CLS]", ids["[CLS]"]))
    tokenizer.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in SPECIAL])
    return tokenizer


def write_tokenizer(tokenizer: Tokenizer, folder: Path, tokens: dict[str, str], **settings: object) -> None:
    """Write tokenizer.json, with its characters unescaped so that people can read it, and
    tokenizer_config.json: the settings, and the special `tokens` by name (`pad`)."""
    content = json.dumps(json.loads(tokenizer.to_str()), ensure_ascii=False)
    (folder / "tokenizer.json").write_text(content + "\n", encoding="utf-8")
    named = {f"{name}_token": token for name, token in tokens.items()}
    write_json(folder / "tokenizer_config.json", {"model_max_length": MAX_POSITIONS, **named, **settings})


def save(tokenizer: Tokenizer, lowercase: bool, folder: Path) -> None:
    """Write tokenizer.json, vocab.txt, and tokenizer_config.json with the casing."""
    ids = tokenizer.get_vocab()
    pieces = "".join(f"{piece}\n" for piece in sorted(ids, key=ids.__getitem__))
    (folder / "vocab.txt").write_text(pieces, encoding="utf-8")
    tokens = {token.strip("[]").lower(): token for token in SPECIAL}
    casing = {"do_lower_case": lowercase, "strip_accents": None, "tokenize_chinese_chars": True}
    write_tokenizer(tokenizer, folder, tokens, tokenizer_class="BertTokenizer", **casing)
