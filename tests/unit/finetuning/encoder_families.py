"""Model folders of every family of encoders: tiny, random, each with a tokenizer as its family has."""

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers

from pubmill.examples.kinds import TokensExample

SYLLABLES = ["ba", "co", "di", "fu", "ge", "lo", "mi", "nu", "ine", "long"]
LAYERS = 3


def sentence(generator: random.Random) -> TokensExample:
    """Words of syllables; one that begins with "ine" is an entity."""
    words = ["".join(generator.choices(SYLLABLES, k=generator.randrange(1, 4))) for _ in range(9)]
    words = words[: generator.randrange(2, 10)]
    labels = ["B" if word.startswith("ine") else "O" for word in words]
    return TokensExample(id=str(generator.random()), document=None, words=words, labels=labels)


def wordpiece(folder: Path) -> Any:
    pieces = [*SYLLABLES, *(f"##{piece}" for piece in SYLLABLES)]
    vocab = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *pieces]
    (folder / "vocab.txt").write_text("\n".join(vocab) + "\n")
    return transformers.BertTokenizer.from_pretrained(folder, do_lower_case=True)


def byte_pairs(special: list[str]) -> Tokenizer:
    """Byte-level BPE, learnt from sentences."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=340, special_tokens=special, initial_alphabet=alphabet, show_progress=False
    )
    generator = random.Random(0)
    tokenizer.train_from_iterator([" ".join(sentence(generator).words) for _ in range(200)], trainer)
    return tokenizer


def byte_level(folder: Path) -> Any:
    byte_pairs(["<s>", "<pad>", "</s>", "<unk>", "<mask>"]).model.save(str(folder))
    return transformers.RobertaTokenizer.from_pretrained(folder)


def of_bytes(single: str, pair: str, **special: str) -> Callable[[Path], Any]:
    """Byte-level BPE of a class for any tokenizer, with these special tokens around one text and two."""

    def made(folder: Path) -> Any:
        tokenizer = byte_pairs([*special.values()])
        if single:
            ids = [(token, number) for number, token in enumerate(special.values())]
            tokenizer.post_processor = processors.TemplateProcessing(
                single=single, pair=pair, special_tokens=ids
            )
        return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **special)

    return made


modernbert_bytes = of_bytes(
    "[CLS] $A [SEP]", "[CLS] $A [SEP] $B [SEP]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]",
    pad_token="[PAD]", mask_token="[MASK]",
)  # fmt: skip
eurobert_bytes = of_bytes(
    "<s> $A </s>", "<s> $A </s> $B </s>", bos_token="<s>", eos_token="</s>", pad_token="<pad>",
    mask_token="<mask>",
)  # fmt: skip
gpt2_bytes = of_bytes("", "", eos_token="<|endoftext|>")
"""As Qwen's, it adds nothing, and has an end only."""
llama_bytes = of_bytes("<s> $A", "<s> $A <s> $B", bos_token="<s>", eos_token="</s>")
"""A beginning before each text, no end, no padding."""


def unigrams(special: list[str]) -> list[tuple[str, float]]:
    starts = [("▁" + piece, -2.0) for piece in SYLLABLES]
    letters = [(letter, -9.0) for letter in "abcdefghijklmnopqrstuvwxyz"]
    pieces = [(piece, -3.0) for piece in SYLLABLES]
    return [*((token, 0.0) for token in special), ("▁", -4.0), *starts, *pieces, *letters]


def of_unigrams(kind: Any, special: list[str], **further: Any) -> Callable[[Path], Any]:
    return lambda folder: kind(vocab=unigrams(special), **further)


albert_unigrams = of_unigrams(transformers.AlbertTokenizer, ["<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]"])
xlm_unigrams = of_unigrams(transformers.XLMRobertaTokenizer, ["<s>", "<pad>", "</s>", "<unk>"])
t5_unigrams = of_unigrams(transformers.T5Tokenizer, ["<pad>", "</s>", "<unk>"], extra_ids=0)
"""</s> after each text, nothing before it."""
xlnet_unigrams = of_unigrams(
    transformers.XLNetTokenizer,
    ["<unk>", "<s>", "</s>", "<cls>", "<sep>", "<pad>", "<mask>", "<eod>", "<eop>"],
)
"""<sep> and <cls> after a text."""
deberta_unigrams = of_unigrams(
    transformers.DebertaV2Tokenizer, ["[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]"]
)


def mpnet_wordpiece(folder: Path) -> Any:
    pieces = [*SYLLABLES, *(f"##{piece}" for piece in SYLLABLES)]
    vocab = {piece: n for n, piece in enumerate(["<s>", "<pad>", "</s>", "[UNK]", "<mask>", *pieces])}
    return transformers.MPNetTokenizer(vocab=vocab)


def pairs_and_merges(splitter: Any, special: list[str]) -> tuple[dict[str, int], Any]:
    """Pieces and merges of BPE within what a splitter leaves together, learnt from sentences."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    tokenizer.pre_tokenizer = splitter
    generator, letters = random.Random(0), pre_tokenizers.ByteLevel.alphabet()
    bytes_ = letters if isinstance(splitter, pre_tokenizers.ByteLevel) else []
    trainer = trainers.BpeTrainer(
        vocab_size=90 + len(bytes_), special_tokens=special, initial_alphabet=bytes_, show_progress=False
    )
    tokenizer.train_from_iterator([" ".join(sentence(generator).words) for _ in range(200)], trainer)
    made = json.loads(tokenizer.to_str())["model"]
    return made["vocab"], [tuple(pair) for pair in made["merges"]]


def of_pairs(kind: Any, special: list[str]) -> Callable[[Path], Any]:

    def made(folder: Path) -> Any:
        vocab, merges = pairs_and_merges(pre_tokenizers.Metaspace(), special)
        return kind(vocab=vocab, merges=merges)

    return made


llama_metaspace_pairs = of_pairs(transformers.LlamaTokenizer, ["<unk>", "<s>", "</s>"])
"""As that of Llama 2 and Mistral: a beginning before each text, no padding."""
gemma_metaspace_pairs = of_pairs(transformers.GemmaTokenizer, ["<pad>", "<eos>", "<bos>", "<unk>", "<mask>"])
DEBERTA: dict[str, Any] = {
    "type_vocab_size": 0, "relative_attention": True, "pos_att_type": ["p2c", "c2p"], "position_buckets": 16,
    "position_biased_input": False, "norm_rel_ebd": "layer_norm", "share_att_key": True,
}  # fmt: skip
T5 = {"d_model": 32, "d_kv": 16, "d_ff": 64, "num_layers": LAYERS, "num_heads": 2}
LONGFORMER = {"attention_window": 8, "type_vocab_size": 1}
MODERNBERT = {"local_attention": 8, "global_attn_every_n_layers": 2}
FAMILIES: dict[str, tuple[str, Callable[[Path], Any], dict[str, Any]]] = {
    "bert": ("Bert", wordpiece, {"type_vocab_size": 2}),
    "roberta": ("Roberta", byte_level, {"type_vocab_size": 1}),
    "roberta-wordpiece": ("Roberta", wordpiece, {"type_vocab_size": 1}),
    "electra": ("Electra", wordpiece, {"embedding_size": 16}),
    "albert": ("Albert", albert_unigrams, {"embedding_size": 16}),
    "megatron-bert": ("MegatronBert", wordpiece, {}),
    "modernbert": ("ModernBert", modernbert_bytes, MODERNBERT),
    "deberta-v2": ("DebertaV2", deberta_unigrams, {**DEBERTA, "conv_kernel_size": 3}),
    "deberta-v3": ("DebertaV2", deberta_unigrams, DEBERTA),
    "distilbert": ("DistilBert", wordpiece, {"hidden_dim": 64}),
}
FURTHER: dict[str, tuple[str, Callable[[Path], Any], dict[str, Any]]] = {
    "xlm-roberta": ("XLMRoberta", xlm_unigrams, {"type_vocab_size": 1}),
    "mpnet": ("MPNet", mpnet_wordpiece, {}), "longformer": ("Longformer", byte_level, LONGFORMER),
    "big-bird": ("BigBird", albert_unigrams, {"attention_type": "original_full"}),
    "nomic-bert": ("NomicBert", wordpiece, {}),
    "jina-v3": ("JinaEmbeddingsV3", xlm_unigrams, {"type_vocab_size": 1}),
    "eurobert": ("EuroBert", eurobert_bytes, {"num_key_value_heads": 2}), "t5": ("T5", t5_unigrams, T5),
    "gpt2": ("GPT2", gpt2_bytes, {}), "llama": ("Llama", llama_bytes, {"num_key_value_heads": 1}),
    "qwen3": ("Qwen3", gpt2_bytes, {"num_key_value_heads": 1, "head_dim": 16}),
}  # fmt: skip
FUNNEL: dict[str, Any] = {"block_sizes": [1, 1, 1], "num_decoder_layers": 1, "d_head": 16, "d_inner": 64}
BART: dict[str, Any] = {
    "encoder_layers": LAYERS, "encoder_ffn_dim": 64, "encoder_attention_heads": 2,
    "decoder_layers": LAYERS, "decoder_ffn_dim": 64, "decoder_attention_heads": 2,
}  # fmt: skip
LED = {"max_encoder_position_embeddings": 64, "max_decoder_position_embeddings": 64, "attention_window": 8}
LONG_T5 = {**T5, "encoder_attention_type": "transient-global", "local_radius": 5, "global_block_size": 4}


def t5_gemma_config(**shape: Any) -> transformers.T5GemmaConfig:
    """A configuration whose sizes are those of its parts."""
    special = {key: shape.pop(key) for key in list(shape) if key.endswith("_token_id")}
    part = {**shape, "num_key_value_heads": 1, "head_dim": 16}
    return transformers.T5GemmaConfig(encoder=part, decoder=part, vocab_size=shape["vocab_size"], **special)


FURTHER |= {
    "t5gemma": ("T5Gemma", gemma_metaspace_pairs, {}),
    "llama-sentencepiece": ("Llama", llama_metaspace_pairs, {"num_key_value_heads": 1}),
    "gemma": ("Gemma", gemma_metaspace_pairs, {"num_key_value_heads": 1, "head_dim": 16}),
    "xlnet": ("XLNet", xlnet_unigrams, {"d_inner": 64, "d_head": 16}),
    "bloom": ("Bloom", gpt2_bytes, {}),
    "mamba": ("Mamba", gpt2_bytes, {"state_size": 4}),
    "bart": ("Bart", byte_level, BART),
    "led": ("LED", byte_level, {**BART, **LED}),
    "long-t5": ("LongT5", t5_unigrams, LONG_T5),
    "funnel": ("Funnel", wordpiece, FUNNEL),
    "layoutlm": ("LayoutLM", wordpiece, {}),
    "fnet": ("FNet", albert_unigrams, {}),
    "convbert": ("ConvBert", wordpiece, {"embedding_size": 16, "conv_kernel_size": 3}),
    "nystromformer": ("Nystromformer", wordpiece, {}),
}
FIXED = {"funnel": 64, "fnet": 64, "convbert": 64, "nystromformer": 64}
"""Width of all batches of encoders that read padding."""
OFFSET = {"roberta", "roberta-wordpiece", "xlm-roberta", "longformer", "mpnet"}
ARCHITECTURES = FAMILIES | FURTHER
"""All that are tried; the further ones only in `test_architectures`."""
DECODERS = {"gpt2", "llama", "qwen3", "llama-sentencepiece", "gemma", "bloom", "mamba", "bart", "led"}
"""Architectures that read a text from left to right, or again so."""


def save_encoder(folder: Path, family: str, length: int = 64) -> Path:
    """Write a random encoder of `family` and its tokenizer; it takes `length` tokens."""
    kind, tokenizer_of, further = ARCHITECTURES[family]
    config = t5_gemma_config if kind == "T5Gemma" else getattr(transformers, f"{kind}Config")
    model = getattr(transformers, f"{kind}EncoderModel" if kind in ("T5", "LongT5") else f"{kind}Model")
    folder.mkdir(parents=True)
    tokenizer = tokenizer_of(folder)
    tokenizer.save_pretrained(folder)
    offset = tokenizer.pad_token_id + 1 if family in OFFSET else 0
    shape = {
        "vocab_size": len(tokenizer), "hidden_size": 32, "num_hidden_layers": LAYERS,
        "num_attention_heads": 2, "intermediate_size": 64, "initializer_range": 0.1,
        "max_position_embeddings": length + offset,
    }  # fmt: skip
    if family == "funnel":
        del shape["num_hidden_layers"]
    if family in {"xlnet", "bloom", "mamba", "led"}:
        del shape["max_position_embeddings"]
    special = {
        "pad_token_id": tokenizer.pad_token_id,
        "bos_token_id": tokenizer.cls_token_id or tokenizer.bos_token_id,
        "eos_token_id": tokenizer.sep_token_id or tokenizer.eos_token_id,
    }
    torch.manual_seed(0)
    model(config(**shape, **special, **further)).save_pretrained(folder)
    return folder
