"""Every architecture that transformers loads without remote code goes through every task."""

import re
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
import torch

from pubmill.errors import PubmillError
from pubmill.finetuning.attention_blocks import sees_all_tokens
from pubmill.finetuning.encoders import (
    FUSED,
    attention_mask,
    fixed_width,
    load_encoder,
    load_encoder_tokenizer,
    possible_precision,
)
from pubmill.finetuning.finetuning_job import FinetuningJob
from pubmill.finetuning.reader import PROBE, Reader
from pubmill.finetuning.run import finetune
from pubmill.finetuning.tasks.texts import Text, encode_texts
from pubmill.finetuning.tasks.tokens import Tokens
from pubmill.recipes import FinetuningRecipe
from pubmill.storage.encoder_checks import is_causal
from tests.unit.finetuning.encoder_families import (
    ARCHITECTURES,
    DECODERS,
    FIXED,
    sentence,
)
from tests.unit.toy_tasks import OURS, SPAN, TOKENS

CPU = torch.device("cpu")
AT_END = {"t5", "long-t5", "t5gemma", "xlnet"}
"""Encoders whose texts begin with no token."""


def reader_of(folder: Path) -> Reader:
    encoder = load_encoder(folder, 0.0, CPU)
    return Reader(load_encoder_tokenizer(folder, words=True), 64, "none", causal=is_causal(encoder.config))


RECIPES = [TOKENS, SPAN, *(OURS[name] for name in OURS if name not in ("crf", "bilstm", "mlp"))]


@pytest.mark.parametrize(
    ("family", "recipe"),
    [
        pytest.param(
            family, RECIPES[place % len(RECIPES)], id=f"{family}-{RECIPES[place % len(RECIPES)].task}"
        )
        for number, family in enumerate(ARCHITECTURES)
        for place in (number, number + 3)
    ],
)
def test_a_folder_is_trained_and_predicts(
    family: str, recipe: FinetuningRecipe, folders: dict[str, Path], toy_data: dict[str, Path]
) -> None:
    """Two tasks each; tests/gpu/test_traces.py goes through all of them."""
    recipe = replace(recipe, epochs=1)
    made = finetune(FinetuningJob(recipe, folders[family], toy_data[recipe.task], 1, "test"))
    assert len(made.predictions) > 3 and all(None not in row.values() for row in made.predictions)
    [loss] = made.report["loss_by_epoch"]
    assert 0 < loss < 1000  # A mean squared error of about 12 words


@pytest.mark.parametrize("family", ARCHITECTURES)
def test_words_given_one_by_one_are_read_as_in_their_sentence(family: str, folders: dict[str, Path]) -> None:
    reader = reader_of(folders[family])
    assert reader.misread_words([PROBE, ["ine", "baco", "Longmi"], ["p53-(", "ge"]]) == []


@pytest.mark.parametrize("family", ARCHITECTURES)
def test_padding_changes_nothing(family: str, folders: dict[str, Path]) -> None:
    """Except where all batches have one width."""
    encoder = load_encoder(folders[family], 0.0, CPU).eval()
    assert fixed_width(encoder, 64) == FIXED.get(family)
    if family in FIXED:
        return
    ids = torch.arange(5, 17).expand(2, 12).clone()
    mask = torch.ones_like(ids)
    mask[1, 7:], ids[1, 7:] = 0, 6
    together = encoder(input_ids=ids, attention_mask=mask).last_hidden_state[1, :7]
    alone = encoder(input_ids=ids[1:, :7], attention_mask=mask[1:, :7]).last_hidden_state[0]
    torch.testing.assert_close(together, alone, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("family", ARCHITECTURES)
def test_masks_for_fused_attention_change_nothing(family: str, folders: dict[str, Path]) -> None:
    """Those that GPUs get."""
    encoder = load_encoder(folders[family], 0.0, CPU).eval()
    if sees_all_tokens(encoder) or encoder.config.model_type in FUSED:
        encoder.set_attn_implementation("sdpa")
    width = FIXED.get(family, 12)
    ids = torch.arange(5, 17).repeat(6).reshape(2, 36)[:, :12].repeat(1, 6)[:, :width]
    mask = torch.ones_like(ids)
    mask[1, 7:] = 0
    usual = encoder(input_ids=ids, attention_mask=mask).last_hidden_state
    given = encoder(input_ids=ids, attention_mask=attention_mask(encoder, mask)).last_hidden_state
    torch.testing.assert_close(given[mask > 0], usual[mask > 0], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("family", ARCHITECTURES)
def test_decoders_are_read_where_they_have_seen_all(family: str, folders: dict[str, Path]) -> None:
    """A text at its last token, the end; a word at its last subword. T5's texts begin with no token."""
    reader, causal = reader_of(folders[family]), family in DECODERS
    assert reader.causal == causal
    texts = [Text(example=0, id="a", first="ine baco", second="nu"), Text(example=1, id="b", first="ge")]
    for instance in encode_texts(reader, texts).instances:
        whole = len(instance.ids) - 1 if causal or family in AT_END else 0
        assert instance.places == [whole]
        if whole and family != "xlnet":
            assert instance.ids[whole] == reader.tokenizer.eos_token_id
    words = replace(sentence(Random(3)), words=["longlong", "ba"], labels=["O", "B"])
    [window] = Tokens(TOKENS, reader, ["O", "B"]).encode([words]).instances
    [pieces] = reader.subwords_of_words([words.words])
    begin = len(reader.one.before)
    first, second = (len(one) for one in pieces)
    expected = [first - 1, first + second - 1] if causal else [0, first]
    assert window.places == [begin + place for place in expected]


@pytest.mark.parametrize("family", sorted(DECODERS))
def test_fused_attention_of_decoders_stays_causal(family: str, folders: dict[str, Path]) -> None:
    """A mask in the form of fused attention would let them see what follows."""
    encoder = load_encoder(folders[family], 0.0, CPU)
    mask = torch.ones(2, 5, dtype=torch.int64)
    assert attention_mask(encoder, mask) is mask


def test_the_documentation_names_every_architecture_that_is_tried(root: Path) -> None:
    page = (root / "docs/finetuning.md").read_text(encoding="utf-8")
    table = page.split("| architectures |\n")[1].split("\n\n")[0]
    last = [row.rpartition("subword |")[2] for row in table.splitlines()]
    assert set(re.findall(r"`([\w-]+)`", " ".join(last))) == set(ARCHITECTURES)


def test_fnet_computes_in_float32(folders: dict[str, Path]) -> None:
    config = load_encoder(folders["fnet"], 0.0, CPU).config
    assert possible_precision(config, "auto") == possible_precision(config, "float32") == "float32"
    with pytest.raises(PubmillError, match="FNet cannot compute in bfloat16; ask for float32 or auto"):
        possible_precision(config, "bfloat16")
    assert possible_precision(load_encoder(folders["bert"], 0.0, CPU).config, "bfloat16") == "bfloat16"
