"""Which inputs are computed together, and batches divided into parts: they are learnt like whole padded ones.

By length or for a GPU's memory; a processor computes parts together, with attention in blocks.
"""

from collections import Counter
from contextlib import nullcontext
from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from pubmill.errors import PubmillError
from pubmill.finetuning import inputs, predicting, trainer
from pubmill.finetuning.encoders import SEE_ALL, load_encoder, use_blocks, uses_blocks
from pubmill.finetuning.heads import TaskModel
from pubmill.finetuning.inputs import collate, training_batches
from pubmill.finetuning.predicting import ON_TENSOR_CORES, PLAIN, tokens_at_once
from pubmill.finetuning.tasks.texts import Sequences
from pubmill.finetuning.weight_updates import GroupedAdam, RecordableAdam
from pubmill.recipes import FinetuningRecipe
from tests.gpu.finetuning_cases import RECIPES
from tests.unit.finetuning.encoder_families import ARCHITECTURES
from tests.unit.finetuning.fake_graphs import FakeRecorder, assert_close, learnt, on_gpu, refuse

CPU = torch.device("cpu")
EXACT: dict[str, Any] = {"precision": "float32", "dropout": 0.0, "head_dropout": 0.0}
WAYS = ("in blocks", "on a copy")
MORE = ("one after another", "in little memory")
"""Ways that differ by the task no more than the first ones; tried with a few."""


def compute(way: str, patch: pytest.MonkeyPatch) -> Any:
    """Let a batch be computed in one of the ways, in as many parts as there are lengths, or together."""
    cost = 10**9 if way in ("together", "in little memory") else 1
    patch.setattr(predicting, "choose_execution", lambda *given: replace(PLAIN, part_cost=cost))
    patch.setattr(trainer, "BLOCK_COST", cost)
    if way != "in blocks":
        patch.setattr(trainer, "uses_blocks", lambda encoder: False)
    if way == "in little memory":
        patch.setattr(trainer, "tokens_at_once", lambda *given: 120)
    return on_gpu(refuse, width=1, part_cost=1) if way == "on a copy" else nullcontext()


def first_step(recipe: FinetuningRecipe, cases: Path, way: str) -> tuple[float, dict[str, Tensor], int]:
    """Loss, gradients before they are clipped, and number of parts of a step with all examples."""
    places, found = list[str](), dict[Tensor, Tensor]()
    recipe = replace(recipe, **EXACT, batch_size=100, stop_after=1)
    with pytest.MonkeyPatch.context() as patch:
        finish = GroupedAdam.finish

        def finishing(adam: GroupedAdam, place: Any) -> bool:
            places.append(place)
            return finish(adam, place)

        def update(adam: GroupedAdam) -> bool:
            found.update({one: one.grad.clone() for one in adam.parameters if one.grad is not None})
            return True

        for kind in (GroupedAdam, RecordableAdam):
            patch.setattr(kind, "update", update)
        patch.setattr(GroupedAdam, "finish", finishing)
        with compute(way, patch):
            run = learnt(recipe, cases)
    [loss] = run.report["loss_by_epoch"]
    names = {name: found[one] for name, one in run.model.named_parameters() if one in found}
    return loss, names, len(places)


@pytest.mark.parametrize("case", RECIPES)
def test_gradients_are_those_of_the_batch_padded_together(case: str, cases: Path) -> None:
    loss, expected, parts = first_step(RECIPES[case], cases, "together")
    assert parts == 1
    some = case in ("tokens crf", "sequence mention-max", "regression", "span")
    for way in (*WAYS, *(MORE if some else ())):
        same, found, parts = first_step(RECIPES[case], cases, way)
        assert (parts > 1) == (way != "in blocks") and same == pytest.approx(loss, rel=1e-5), way
        torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-5)


def fail(patch: pytest.MonkeyPatch, most: int) -> None:
    """Let batches of more inputs need too much memory, when they have left gradients behind."""
    loss = Sequences.loss

    def failing(task: Sequences, *given: Any) -> Tensor:
        found, batch = loss(task, *given), given[2]
        if len(batch.ids) > most:
            found.backward()
            raise torch.OutOfMemoryError("CUDA out of memory")
        return found

    patch.setattr(trainer, "uses_blocks", lambda encoder: False)
    patch.setattr(Sequences, "loss", failing)


@pytest.mark.parametrize("copied", [False, True])
def test_parts_are_halved_until_the_memory_suffices(
    copied: bool, cases: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe = replace(RECIPES["sequence"], **EXACT, stop_after=3)
    expected = learnt(recipe, cases)
    fail(monkeypatch, 2)
    with on_gpu(FakeRecorder()) if copied else nullcontext():
        assert_close(learnt(recipe, cases), expected, atol=2e-4)
    assert capsys.readouterr().err.count("too little memory for 4 inputs") == 1


def test_a_single_input_that_does_not_fit_is_an_error(cases: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fail(monkeypatch, 0)
    with pytest.raises(PubmillError, match="too little memory for 1 inputs of up to .* more memory"):
        learnt(RECIPES["sequence"], cases)


def test_half_of_a_gpus_memory_is_for_activations(cases: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder, gpu = load_encoder(cases / "bert", 0.0, CPU), torch.device("cuda", 0)
    kept = encoder.config.hidden_size * encoder.config.num_hidden_layers
    properties = SimpleNamespace(total_memory=2 * 1000 * 52 * kept)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device: properties)
    assert tokens_at_once(encoder, gpu, ON_TENSOR_CORES) == 1000
    assert tokens_at_once(encoder, gpu, PLAIN) == 500
    assert tokens_at_once(encoder, CPU, PLAIN) is None


PARTS = [(5, 5, 5), (6, 9), (11,), (30, 28, 30)]
"""Lengths of the inputs of each part."""


def part(lengths: tuple[int, ...], segments: bool) -> list[inputs.Instance]:
    made = []
    for length in lengths:
        places = list(range(length))
        ids, second = [5 + (length + place) % 15 for place in places], [int(2 * at > length) for at in places]
        made.append(inputs.Instance(example=0, ids=ids, segments=second if segments else None, places=places))
    return made


@pytest.mark.parametrize("family", ARCHITECTURES)
def test_encodings_in_blocks_are_those_of_padded_inputs(family: str, folders: dict[str, Path]) -> None:
    encoder = load_encoder(folders[family], 0.0, CPU)
    assert uses_blocks(encoder) == (encoder.config.model_type in SEE_ALL)
    if not uses_blocks(encoder):
        return
    model = TaskModel(encoder, torch.nn.Identity()).eval()
    instances = [part(lengths, family == "bert") for lengths in PARTS]
    whole = collate([one for of_part in instances for one in of_part], 0, CPU)
    blocks = inputs.joined([collate(of_part, 0, CPU) for of_part in instances])
    assert blocks.ids.shape == (1, sum(len(one) * max(one) for one in PARTS))
    expected = whole.read(model.encode(whole.inputs))
    found = blocks.read(model.encode(blocks.inputs, blocks.blocks))
    encoder.set_attn_implementation("eager")
    for one in (found, whole.read(model.encode(whole.inputs))):
        torch.testing.assert_close(one, expected, rtol=1e-4, atol=1e-5)


def test_decoders_do_not_attend_in_blocks(bert: Path) -> None:
    encoder = load_encoder(bert, 0.0, CPU)
    encoder.config.is_decoder = True
    use_blocks(encoder)
    assert not uses_blocks(encoder)


LENGTHS = st.lists(st.integers(3, 512), min_size=1, max_size=300)


@given(st.integers(1, 300), st.integers(1, 40), st.integers(0, 5))
def test_training_batches_hold_everything_once(inputs: int, size: int, epoch: int) -> None:
    """All of them are whole, but for the last."""
    batches = training_batches(inputs, size, seed=1, epoch=epoch)
    assert sorted(index for batch in batches for index in batch) == list(range(inputs))
    assert [len(batch) for batch in batches] == [size] * (inputs // size) + [inputs % size] * (
        inputs % size > 0
    )


def padded(widths: list[int], ends: list[int], cost: int) -> int:
    return sum((end - begin) * widths[end - 1] + cost for begin, end in pairwise([0, *ends]))


@given(st.lists(st.integers(3, 60), min_size=1, max_size=9), st.integers(0, 50), st.integers(1, 4))
def test_no_other_division_of_a_batch_is_cheaper(lengths: list[int], cost: int, step: int) -> None:
    widths = sorted(lengths)
    places = range(step, len(widths), step)
    others = ([*cuts, len(widths)] for n in range(len(places) + 1) for cuts in combinations(places, n))
    ends = inputs.ends_of_parts(widths, cost, step)
    assert ends[-1] == len(widths) and all(end % step == 0 for end in ends[:-1])
    assert padded(widths, ends, cost) == min(padded(widths, other, cost) for other in others)


@given(st.lists(st.integers(0, 4), min_size=1, max_size=200), st.integers(1, 40), st.integers(0, 3))
def test_oversampled_epochs_have_each_class_equally_often(classes: list[int], size: int, epoch: int) -> None:
    batches = training_batches(len(classes), size, seed=1, epoch=epoch, classes=classes)
    chosen = [index for batch in batches for index in batch]
    frequencies = Counter(classes[index] for index in chosen)
    assert set(frequencies) == set(classes)
    assert set(frequencies.values()) == {max(Counter(classes).values())}
    assert len(batches) == -(-len(chosen) // size)
    for one in set(classes):  # no input is there twice more than another of its class
        times = Counter(index for index in chosen if classes[index] == one)
        assert len(times) == classes.count(one) and max(times.values()) - min(times.values()) <= 1


@given(LENGTHS, st.integers(1, 2000))
def test_prediction_batches_hold_everything_once_within_the_budget(lengths: list[int], tokens: int) -> None:
    batches = inputs.prediction_batches(lengths, tokens)
    assert sorted(index for batch in batches for index in batch) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch) == 1 or len(batch) * max(lengths[index] for index in batch) <= tokens
