"""Next tokens and masked tokens of a batch, and the losses of a step with both."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from pubmill.errors import PubmillError
from pubmill.pretraining.instances import Instances, PackedBatch, Stream
from pubmill.pretraining.masking import Draws, read_vocabulary
from pubmill.pretraining.packed_tokens import PackedTokens
from pubmill.pretraining.predicted_tokens import hide
from pubmill.recipes import Causal, RotaryAttention
from tests.unit.pretraining.toy_objectives import MODERN, RECIPES, learner, part_of
from tests.unit.pretraining.toy_pretraining import changed, log, make_data, pretrain, state, weights


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_data(tmp_path_factory.mktemp("data"))


@pytest.mark.parametrize(("share", "causal"), [(1.0, 8), (0.25, 2), (0.01, 1), (0.99, 7)])
def test_positions_predict_the_next_token_or_the_mask_after_them(
    share: float, causal: int, data: Path
) -> None:
    recipe = changed(MODERN, objective={"causal": Causal(share=share)})
    packed = PackedTokens(data / "tokens")
    batch = Instances(packed, recipe).batch(0)
    vocabulary = read_vocabulary(data, packed.special)
    draws = Draws(np.arange(8), 1, Stream.MASKS)
    found = hide(batch, vocabulary, recipe.objective, 0.3, draws, 8)
    assert found.causal == causal
    ends = np.cumsum(batch.lengths)
    tokens = int(ends[causal - 1])
    assert (found.ids[:tokens] == batch.ids[:tokens]).all()
    assert found.next_tokens == tokens - causal and (np.diff(found.positions) > 0).all()
    assert (batch.ids[found.positions + 1] == found.labels).all()
    assert not set(found.positions) & set(ends - 1)
    assert (len(found.labels) > found.next_tokens) == (share < 1)


def test_a_step_with_both_has_the_mean_of_each_by_its_share(data: Path) -> None:
    made, part = learner(RECIPES["both"]), part_of(data, RECIPES["both"])
    found = made(part)
    assert part.causal is not None and part.causal.sum() == 2
    places, width = part.rows[len(part.pair_labels) :], part.ids.shape[1]
    for name, rows in (("clm", part.causal), ("mlm", ~part.causal)):
        chosen = rows[places // width]
        assert isinstance(part.mask, torch.Tensor)
        hidden: Any = torch.finfo(torch.float32).min
        ahead = torch.arange(width)[None] - torch.arange(width)[:, None]
        seen = part.mask[:, None, None] & ((ahead <= 0) | (name == "mlm"))
        masks = {
            "full_attention": torch.where(seen, 0.0, hidden),
            "sliding_attention": torch.where(seen & (ahead.abs() <= 4), 0.0, hidden),
        }
        logits = made.model(input_ids=part.ids, attention_mask=masks).logits.flatten(0, 1)[places[chosen]]
        expected = F.cross_entropy(logits, part.labels[chosen], reduction="sum")
        torch.testing.assert_close(found[f"{name}_loss"], expected, atol=1e-4, rtol=1e-5)
    assert {term.name: (term.weight, term.per) for term in made.terms} == {
        "mlm": (0.75, "masked"), "clm": (0.25, "causal"),
    }  # fmt: skip


def test_phases_keep_weights_and_optimiser_and_may_see_farther(data: Path, tmp_path: Path) -> None:
    """Causal, then masked with longer sequences and other angles; two halves of the second are the whole."""
    causal = changed(MODERN, objective={"causal": Causal()}, steps=10)
    first = pretrain(data, tmp_path / "step-10", 10, recipe=causal)
    longer = {"max_positions": 64, "rotary": RotaryAttention(global_every=2, window=8, global_base=1e6)}
    masked = changed(
        MODERN, objective={"masking_rate": 0.15}, architecture=longer, sequence_length=48, steps=20
    )
    whole = pretrain(data, tmp_path / "whole/step-20", 20, recipe=masked, other=first)
    half = pretrain(data, tmp_path / "step-15", 15, recipe=masked, other=first)
    assert weights(pretrain(data, tmp_path / "step-20", 20, half, recipe=masked)) == weights(whole)
    assert state(whole)["step"] == 20 and "clm_loss" in log(whole)[0] and "mlm_loss" in log(whole)[-1]
    with pytest.raises(PubmillError, match="another architecture"):
        pretrain(data, tmp_path / "x", 20, recipe=changed(masked, architecture={"layers": 3}), other=first)


def test_held_out_documents_are_masked_at_15_percent_whatever_the_recipe(data: Path, tmp_path: Path) -> None:
    counts = []
    for rate in (0.15, 0.6):
        recipe = changed(MODERN, objective={"masking_rate": rate}, steps=1)
        counts.append(
            state(pretrain(data, tmp_path / str(rate), 1, recipe=recipe))["held_out"]["subword"]["masked"]
        )
    assert counts[0] == counts[1] > 5


def test_causal_needs_an_architecture_that_can_be() -> None:
    with pytest.raises(ValueError, match="causal needs family modernbert"):
        changed(
            MODERN,
            architecture={"family": "roberta", "rotary": RotaryAttention()},
            objective={"causal": Causal()},
        )
    with pytest.raises(ValueError, match=r"causal.share must be above 0 and at most 1, found 0"):
        changed(MODERN, objective={"causal": Causal(share=0.0)})


def test_a_process_without_sequences_predicts_nothing(data: Path) -> None:
    nothing: Any = np.zeros(0, np.int64)
    batch = PackedBatch(nothing, nothing, nothing.astype(bool), nothing, nothing, 0)
    recipe = changed(MODERN, objective={"causal": Causal(share=0.25)})
    vocabulary = read_vocabulary(data, PackedTokens(data / "tokens").special)
    found = hide(batch, vocabulary, recipe.objective, 0.3, Draws(nothing, 1, Stream.MASKS), 8)
    assert [len(one) for one in (found.ids, found.positions, found.labels)] == [0, 0, 0]
    assert (found.causal, found.next_tokens) == (0, 0)
