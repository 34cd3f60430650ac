"""Every architecture that transformers loads without remote code is read, fed right and fine-tuned."""

import json
import re
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
import torch
import transformers
from tokenizers.pre_tokenizers import ByteLevel
from transformers import AutoTokenizer, PreTrainedModel

from pubmill.errors import PubmillError
from pubmill.finetuning import encoders
from pubmill.finetuning.finetuning_job import FinetuningJob
from pubmill.finetuning.reader import PROBE, Reader
from pubmill.finetuning.run import finetune
from pubmill.finetuning.tasks.texts import Text, encode_texts
from pubmill.finetuning.tasks.tokens import Tokens
from pubmill.storage.encoder_checks import check_encoder, is_causal, longest_text
from tests.unit.finetuning import encoder_families
from tests.unit.finetuning.encoder_families import ARCHITECTURES, FAMILIES, FIXED
from tests.unit.toy_tasks import OURS, SPAN, TOKENS

CPU = torch.device("cpu")
WITH_SEGMENTS = {"bert", "electra", "albert", "megatron-bert"}
every_architecture = pytest.mark.parametrize("family", ARCHITECTURES)
every_family = pytest.mark.parametrize("family", FAMILIES)
AT_END = {"t5", "long-t5", "t5gemma", "xlnet"}
"""Encoders whose texts begin with no token."""


def load(folder: Path, dropout: float = 0.0) -> PreTrainedModel:
    return encoders.load_encoder(folder, dropout, CPU)


def reader_of(folder: Path) -> Reader:
    causal = is_causal(load(folder).config)
    return Reader(encoders.load_encoder_tokenizer(folder, words=True), 64, "none", causal=causal)


RECIPES = [TOKENS, SPAN, *(OURS[name] for name in OURS if name not in ("crf", "bilstm", "mlp"))]


@pytest.mark.parametrize("number", range(len(ARCHITECTURES)), ids=ARCHITECTURES)
def test_a_folder_is_trained_and_predicts(
    number: int, folders: dict[str, Path], toy_data: dict[str, Path]
) -> None:
    """One task each; tests/gpu/test_traces.py goes through all of them."""
    family, recipe = list(ARCHITECTURES)[number], replace(RECIPES[number % len(RECIPES)], epochs=1)
    made = finetune(FinetuningJob(recipe, folders[family], toy_data[recipe.task], 1, "test"))
    assert len(made.predictions) > 3 and all(None not in row.values() for row in made.predictions)
    [loss] = made.report["loss_by_epoch"]
    assert 0 < loss < 1000  # A mean squared error of about 12 words


@every_architecture
def test_words_given_one_by_one_are_read_as_in_their_sentence(family: str, folders: dict[str, Path]) -> None:
    reader = reader_of(folders[family])
    assert reader.misread_words([PROBE, ["ine", "baco", "Longmi"], ["p53-(", "ge"]]) == []


@every_architecture
def test_padding_changes_nothing(family: str, folders: dict[str, Path]) -> None:
    encoder = load(folders[family]).eval()
    assert encoders.fixed_width(encoder, 64) == FIXED.get(family)
    if family in FIXED:
        return
    ids = torch.arange(5, 17).expand(2, 12).clone()
    mask = torch.ones_like(ids)
    mask[1, 7:], ids[1, 7:] = 0, 6
    together = encoder(input_ids=ids, attention_mask=mask).last_hidden_state[1, :7]
    alone = encoder(input_ids=ids[1:, :7], attention_mask=mask[1:, :7]).last_hidden_state[0]
    torch.testing.assert_close(together, alone, atol=1e-5, rtol=1e-5)


@every_architecture
def test_masks_for_fused_attention_change_nothing(family: str, folders: dict[str, Path]) -> None:
    """Those that GPUs get. Such a mask would let decoders see what follows."""
    encoder = load(folders[family]).eval()
    if encoders.sees_all_tokens(encoder) or encoder.config.model_type in encoders.FUSED:
        encoder.set_attn_implementation("sdpa")
    width = FIXED.get(family, 12)
    ids = torch.arange(5, 17).repeat(6).reshape(2, 36)[:, :12].repeat(1, 6)[:, :width]
    mask = torch.ones_like(ids)
    mask[1, 7:] = 0
    assert family not in encoder_families.DECODERS or encoders.attention_mask(encoder, mask) is mask
    usual = encoder(input_ids=ids, attention_mask=mask).last_hidden_state
    given = encoder(input_ids=ids, attention_mask=encoders.attention_mask(encoder, mask)).last_hidden_state
    torch.testing.assert_close(given[mask > 0], usual[mask > 0], atol=1e-5, rtol=1e-5)


@every_architecture
def test_decoders_are_read_where_they_have_seen_all(family: str, folders: dict[str, Path]) -> None:
    """A text at its last token, the end; a word at its last subword. T5's texts begin with no token."""
    reader, causal = reader_of(folders[family]), family in encoder_families.DECODERS
    assert reader.causal == causal
    texts = [Text(example=0, id="a", first="ine baco", second="nu"), Text(example=1, id="b", first="ge")]
    for instance in encode_texts(reader, texts).instances:
        whole = len(instance.ids) - 1 if causal or family in AT_END else 0
        assert instance.places == [whole]
        if whole and family != "xlnet":
            assert instance.ids[whole] == reader.tokenizer.eos_token_id
    words = replace(encoder_families.sentence(Random(3)), words=["longlong", "ba"], labels=["O", "B"])
    [window] = Tokens(TOKENS, reader, ["O", "B"]).encode([words]).instances
    [pieces] = reader.subwords_of_words([words.words])
    begin = len(reader.one.before)
    first, second = (len(one) for one in pieces)
    expected = [first - 1, first + second - 1] if causal else [0, first]
    assert window.places == [begin + place for place in expected]


def test_the_documentation_names_every_architecture_that_is_tried(root: Path) -> None:
    page = (root / "docs/finetuning.md").read_text(encoding="utf-8")
    table = page.split("| architectures |\n")[1].split("\n\n")[0]
    last = [row.rpartition("subword |")[2] for row in table.splitlines()]
    assert set(re.findall(r"`([\w-]+)`", " ".join(last))) == set(ARCHITECTURES)


def test_fnet_computes_in_float32(folders: dict[str, Path]) -> None:
    config = load(folders["fnet"]).config
    assert (
        encoders.possible_precision(config, "auto")
        == encoders.possible_precision(config, "float32")
        == "float32"
    )
    with pytest.raises(PubmillError, match="FNet cannot compute in bfloat16; ask for float32 or auto"):
        encoders.possible_precision(config, "bfloat16")
    assert encoders.possible_precision(load(folders["bert"]).config, "bfloat16") == "bfloat16"


@pytest.mark.parametrize(
    ("config", "longest"),
    [
        (transformers.BertConfig(), 512), (transformers.LEDConfig(), 1024), (transformers.MptConfig(), 2048),
        (transformers.XLNetConfig(), None), (transformers.BloomConfig(), None),
        (transformers.T5Config(), None),
        (transformers.BertConfig(max_position_embeddings=0), "a model for inputs without tokens"),
        (transformers.PegasusConfig(), "an encoder with a decoder, and transformers has no class that reads"),
        (transformers.CanineConfig(), "a model without a vocabulary of pieces"),
        (transformers.CLIPTextConfig(), "no model of text alone"),
        (transformers.NystromformerConfig(num_landmarks=8), "landmarks fewer than segment_means_seq_len"),
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_the_longest_text_or_why_a_model_encodes_none(config: Any, longest: int | str | None) -> None:
    """The longest is that of encoder and decoder."""
    if isinstance(longest, str):
        with pytest.raises(PubmillError, match=f"m: config.json .{config.model_type}. describes {longest}"):
            check_encoder(config, "m")
    else:
        check_encoder(config, "m")
        assert longest_text(config) == longest


def test_an_encoding_has_the_size_that_the_model_gives() -> None:
    """OPT of 350 million parameters projects its encodings; Reformer's have two streams."""
    shape: Any = {"vocab_size": 9, "hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
    encoder = transformers.OPTModel(
        transformers.OPTConfig(**shape, ffn_dim=8, word_embed_proj_dim=16, max_position_embeddings=16)
    )
    made = encoders.forward(
        encoder, torch.stack([torch.arange(3, 8)[None], torch.ones(1, 5, dtype=torch.int64)])
    )
    assert made.shape[-1] == encoders.encoding_size(encoder) == 16
    axial: Any = {"axial_pos_shape": [8, 8], "axial_pos_embds_dim": [16, 16], "attn_layers": ["local"]}
    settings: Any = {"attention_head_size": 16, "max_position_embeddings": 64, "feed_forward_size": 8}
    twice = transformers.ReformerModel(transformers.ReformerConfig(**shape, **axial, **settings))
    assert encoders.fixed_width(twice, 10) == 64
    made = encoders.forward(twice, torch.ones(2, 1, 64, dtype=torch.int64))
    assert made.shape[-1] == encoders.encoding_size(twice) == 64


@every_family
def test_dropout_is_the_recipes_everywhere_and_without_it_training_computes_what_prediction_does(
    folders: dict[str, Path], family: str
) -> None:
    """Any dropout that the recipe doesn't reach would show here."""
    encoder = load(folders[family])
    ids = torch.randint(5, encoder.config.vocab_size, (4, 12), generator=torch.Generator().manual_seed(1))
    inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
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
    tokenizer, texts = encoders.load_encoder_tokenizer(folders[family]), ["ine baco", "nu"]
    assert encoders.has_segments(load(folders[family])) == (family in WITH_SEGMENTS)
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
        encoders.load_encoder_tokenizer(folders[family], words),
    )
    texts = ["ine baco", " Ine  xyz.", "(nu) ge,lo", ""]
    spaced = words and isinstance(ours.backend_tokenizer.pre_tokenizer, ByteLevel)
    assert (ours(texts)["input_ids"] == plain(texts)["input_ids"]) != spaced


def test_positions_win_over_the_tokenizer_s_own_limit(folders: dict[str, Path], tmp_path: Path) -> None:
    for file in folders["bert"].iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    settings = json.loads((tmp_path / "tokenizer_config.json").read_text())
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({**settings, "model_max_length": 8}))
    reader = Reader(encoders.load_encoder_tokenizer(tmp_path), encoders.longest_input(load(tmp_path)), "none")
    assert reader.max_length == 64 and reader.tokenizer.model_max_length == 8
    assert len(reader.subwords(["ba " * 50])[0].ids) == len(reader.subwords_of_words([["ba"] * 50])[0]) == 50


@every_family
def test_layers_and_what_is_below_them(folders: dict[str, Path], family: str) -> None:
    encoder = load(folders[family])
    if family == "albert":
        with pytest.raises(PubmillError, match="they share weights"):
            encoders.layers(encoder)
        return
    assert len(encoders.layers(encoder)) == encoder_families.LAYERS
    inside = {id(one) for layer in encoders.layers(encoder) for one in layer.parameters()}
    below = {id(one) for module in encoders.embeddings(encoder) for one in module.parameters()}
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
    assert encoders.embeddings(encoder) == [below]
    del encoder.embeddings
    encoder.embeddings = below
    with pytest.raises(PubmillError, match="^BertModel: its embeddings don't stand before its layers$"):
        encoders.embeddings(encoder)
