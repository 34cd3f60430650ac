"""Every family of encoders: read from a folder, fed right, fine-tuned."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from tokenizers.pre_tokenizers import ByteLevel
from transformers import AutoTokenizer, PreTrainedModel

from pubmill.errors import PubmillError
from pubmill.finetuning.encoders import (
    embeddings,
    encoding_size,
    fixed_width,
    forward,
    has_segments,
    layers,
    load_encoder,
    load_encoder_tokenizer,
    longest_input,
)
from pubmill.finetuning.reader import Reader
from pubmill.storage.encoder_checks import check_encoder, longest_text
from tests.unit.finetuning.encoder_families import FAMILIES, LAYERS, SYLLABLES

CPU = torch.device("cpu")
WITH_SEGMENTS = {"bert", "electra", "albert", "megatron-bert"}
every_family = pytest.mark.parametrize("family", FAMILIES)


def load(folder: Path, dropout: float = 0.1) -> PreTrainedModel:
    return load_encoder(folder, dropout, CPU)


def batch_of(encoder: PreTrainedModel) -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    ids = torch.randint(5, int(encoder.config.vocab_size), (4, 12), generator=generator)
    return {"input_ids": ids, "attention_mask": torch.ones_like(ids)}


@every_family
def test_inputs_of_the_longest_length_are_taken(folders: dict[str, Path], family: str) -> None:
    encoder = load(folders[family])
    assert longest_input(encoder) == 64
    pad = load_encoder_tokenizer(folders[family]).pad_token_id
    ids = torch.full((2, 64), 7)
    ids[1, 40:] = pad
    hidden = encoder(input_ids=ids, attention_mask=(ids != pad).long()).last_hidden_state
    assert hidden.shape == (2, 64, 32) and torch.isfinite(hidden).all()


@pytest.mark.parametrize(
    ("config", "described"),
    [
        (transformers.BertConfig(max_position_embeddings=0), "a model for inputs without tokens"),
        (
            transformers.PegasusConfig(),
            "an encoder with a decoder, and transformers has no class that reads texts",
        ),
        (transformers.CanineConfig(), "a model without a vocabulary of pieces"),
        (transformers.CLIPTextConfig(), "no model of text alone"),
        (transformers.NystromformerConfig(num_landmarks=8), "landmarks fewer than segment_means_seq_len"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_model_that_encodes_no_texts_is_refused_with_the_reason(config: Any, described: str) -> None:
    with pytest.raises(PubmillError, match=f"m: config.json .{config.model_type}. describes {described}"):
        check_encoder(config, "m")


@pytest.mark.parametrize(
    ("config", "longest"),
    [
        (transformers.BertConfig(), 512),
        (transformers.LEDConfig(), 1024),
        (transformers.MptConfig(), 2048),
        (transformers.XLNetConfig(), None),
        (transformers.BloomConfig(), None),
        (transformers.T5Config(), None),
    ],
    ids=lambda value: type(value).__name__,
)
def test_the_longest_text_is_that_of_encoder_and_decoder(config: Any, longest: int | None) -> None:
    check_encoder(config, "m")
    assert longest_text(config) == longest


def test_an_encoding_has_the_size_that_the_model_gives() -> None:
    """OPT of 350 million parameters projects its encodings; Reformer's have two streams."""
    shape: Any = {"vocab_size": 9, "hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
    encoder = transformers.OPTModel(
        transformers.OPTConfig(**shape, ffn_dim=8, word_embed_proj_dim=16, max_position_embeddings=16)
    )
    made = forward(encoder, torch.stack([torch.arange(3, 8)[None], torch.ones(1, 5, dtype=torch.int64)]))
    assert made.shape[-1] == encoding_size(encoder) == 16
    axial: Any = {"axial_pos_shape": [8, 8], "axial_pos_embds_dim": [16, 16], "attn_layers": ["local"]}
    settings: Any = {"attention_head_size": 16, "max_position_embeddings": 64, "feed_forward_size": 8}
    twice = transformers.ReformerModel(transformers.ReformerConfig(**shape, **axial, **settings))
    assert fixed_width(twice, 10) == 64
    made = forward(twice, torch.ones(2, 1, 64, dtype=torch.int64))
    assert made.shape[-1] == encoding_size(twice) == 64


@every_family
def test_dropout_is_the_recipes_everywhere_and_without_it_training_computes_what_prediction_does(
    folders: dict[str, Path], family: str
) -> None:
    """Any dropout that the recipe doesn't reach would show here."""
    encoder = load(folders[family], dropout=0.0)
    inputs = batch_of(encoder)
    trained = encoder.train()(**inputs).last_hidden_state
    assert torch.equal(trained, encoder.eval()(**inputs).last_hidden_state)
    noisy = load(folders[family], dropout=0.25).train()
    rates = {module.p for module in noisy.modules() if isinstance(module, torch.nn.Dropout)}
    for module in noisy.modules():  # ModernBERT's attention keeps the number itself
        rates |= {one for name, one in vars(module).items() if "dropout" in name and type(one) is float}
    assert rates == {0.25}
    assert not torch.equal(noisy(**inputs).last_hidden_state, noisy(**inputs).last_hidden_state)


@every_family
def test_texts_are_framed_as_their_tokenizer_frames_them(folders: dict[str, Path], family: str) -> None:
    """With its segments, where the encoder has any."""
    tokenizer, texts = load_encoder_tokenizer(folders[family]), ["ine baco", "nu"]
    assert has_segments(load(folders[family])) == (family in WITH_SEGMENTS)
    reader = Reader(tokenizer, 64, "separate" if family in WITH_SEGMENTS else "none")
    subwords = [found.ids for found in reader.subwords(texts)]
    for number in (1, 2):
        expected = tokenizer(*texts[:number], return_token_type_ids=True)
        ids, segments = reader.framed(*subwords[:number])
        assert ids == expected["input_ids"]
        assert segments == (expected["token_type_ids"] if family in WITH_SEGMENTS else None)


@every_family
@pytest.mark.parametrize("words", [False, True])
def test_texts_are_read_as_in_pretraining(folders: dict[str, Path], family: str, words: bool) -> None:
    """Only for words that are given one by one, and only byte-level BPE, is made to read otherwise."""
    plain, ours = (
        AutoTokenizer.from_pretrained(folders[family]),
        load_encoder_tokenizer(folders[family], words),
    )
    texts = ["ine baco", " Ine  xyz.", "(nu) ge,lo", ""]
    spaced = words and isinstance(ours.backend_tokenizer.pre_tokenizer, ByteLevel)
    assert (ours(texts)["input_ids"] == plain(texts)["input_ids"]) != spaced


@every_family
def test_a_kept_tokenizer_reads_the_same(folders: dict[str, Path], tmp_path: Path, family: str) -> None:
    tokenizer, encoder = load_encoder_tokenizer(folders[family], words=True), load(folders[family])
    tokenizer.save_pretrained(tmp_path)
    encoder.save_pretrained(tmp_path)
    words = [SYLLABLES, ["ineba", "xyz", "Ge"]]
    readers = [
        Reader(load_encoder_tokenizer(folder, words=True), 64, "none")
        for folder in (folders[family], tmp_path)
    ]
    assert readers[0].subwords_of_words(words) == readers[1].subwords_of_words(words)
    inputs = batch_of(encoder)
    again = load(tmp_path).eval()(**inputs).last_hidden_state
    assert torch.equal(again, encoder.eval()(**inputs).last_hidden_state)


def test_positions_win_over_the_tokenizer_s_own_limit(folders: dict[str, Path], tmp_path: Path) -> None:
    for file in folders["bert"].iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    settings = json.loads((tmp_path / "tokenizer_config.json").read_text())
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({**settings, "model_max_length": 8}))
    reader = Reader(load_encoder_tokenizer(tmp_path), longest_input(load(tmp_path)), "none")
    assert reader.max_length == 64 and reader.tokenizer.model_max_length == 8
    assert len(reader.subwords(["ba " * 50])[0].ids) == len(reader.subwords_of_words([["ba"] * 50])[0]) == 50


@every_family
def test_layers_and_what_is_below_them(folders: dict[str, Path], family: str) -> None:
    encoder = load(folders[family])
    if family == "albert":
        with pytest.raises(PubmillError, match="they share weights"):
            layers(encoder)
        return
    assert len(layers(encoder)) == LAYERS
    inside = {id(one) for layer in layers(encoder) for one in layer.parameters()}
    below = {id(one) for module in embeddings(encoder) for one in module.parameters()}
    left = {name for name, one in encoder.named_parameters() if id(one) not in inside | below}
    norms = {"megatron-bert": {"encoder.ln.weight", "encoder.ln.bias"}, "modernbert": {"final_norm.weight"}}
    assert left == norms.get(family, set()) and not inside & below


def test_a_folder_without_safe_weights_is_refused(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "pytorch_model.bin").write_bytes(b"")
    with pytest.raises(PubmillError, match=r"no model folder.*safetensors"):
        load(tmp_path)


def test_embeddings_that_follow_the_layers_are_refused(bert: Path) -> None:
    encoder: Any = load(bert)
    below = encoder.embeddings
    assert embeddings(encoder) == [below]
    del encoder.embeddings
    encoder.embeddings = below
    with pytest.raises(PubmillError, match="^BertModel: its embeddings don't stand before its layers$"):
        embeddings(encoder)
