"""Tiny random encoders of two families, for tests: WordPiece with segments, byte-level BPE without."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
from transformers import (
    BertConfig,
    BertModel,
    BertTokenizer,
    PreTrainedTokenizerFast,
    RobertaConfig,
    RobertaModel,
)

SHAPE: dict[str, Any] = {
    "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64,
}  # fmt: skip
POSITIONS = 64


def tiny_bert(
    folder: Path, pieces: Sequence[str], model: type = BertModel, config: type = BertConfig
) -> Path:
    """A BERT, or a model of its kind; its tokenizer, without case, knows the pieces at the beginning of words
    and inside of them."""
    folder.mkdir(parents=True)
    vocab = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *pieces, *(f"##{piece}" for piece in pieces)]
    (folder / "vocab.txt").write_text("\n".join(vocab) + "\n")
    BertTokenizer.from_pretrained(folder, do_lower_case=True).save_pretrained(folder)
    torch.manual_seed(0)
    made = config(vocab_size=len(vocab), max_position_embeddings=POSITIONS, initializer_range=0.1, **SHAPE)
    model(made).save_pretrained(folder)
    return folder


def tiny_roberta(folder: Path, positions: int = POSITIONS) -> Path:
    """A RoBERTa whose tokenizer has a subword for each byte, and no other."""
    folder.mkdir(parents=True)
    bytes_ = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocab = {piece: at for at, piece in enumerate(["<s>", "<pad>", "</s>", "<unk>", "<mask>", *bytes_])}
    tokenizer = Tokenizer(models.BPE(vocab=vocab, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), trim_offsets=True)
    special = {"bos_token": "<s>", "cls_token": "<s>", "eos_token": "</s>", "sep_token": "</s>"}
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, **special, pad_token="<pad>", unk_token="<unk>", mask_token="<mask>"
    ).save_pretrained(folder)
    torch.manual_seed(0)
    config = RobertaConfig(
        vocab_size=len(vocab), max_position_embeddings=positions + 2, pad_token_id=1, type_vocab_size=1,
        initializer_range=0.1, **SHAPE,
    )  # fmt: skip
    RobertaModel(config).save_pretrained(folder)
    return folder
