"""Which inputs are computed together."""

from collections import Counter
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pubmill.examples.kinds import SequenceExample, write_examples
from pubmill.finetuning.finetuning_job import FinetuningJob
from pubmill.finetuning.inputs import POOL, POOLS, epoch_size, prediction_batches, training_batches
from pubmill.finetuning.run import finetune
from pubmill.recipes import FinetuningRecipe
from tests.unit.finetuning.encoder_families import save_encoder

LENGTHS = st.lists(st.integers(3, 512), min_size=1, max_size=300)


@given(LENGTHS, st.integers(1, 40), st.integers(0, 5))
def test_training_batches_hold_everything_once(lengths: list[int], size: int, epoch: int) -> None:
    batches = training_batches(lengths, size, seed=1, epoch=epoch)
    assert sorted(index for batch in batches for index in batch) == list(range(len(lengths)))
    assert len(batches) == -(-len(lengths) // size)
    assert all(0 < len(batch) <= size for batch in batches)


def test_training_batches_follow_from_seed_and_epoch() -> None:
    lengths = [3 + index * 7 % 50 for index in range(500)]
    first = training_batches(lengths, 16, seed=1, epoch=0)
    assert first == training_batches(lengths, 16, seed=1, epoch=0)
    assert first != training_batches(lengths, 16, seed=1, epoch=1)
    assert first != training_batches(lengths, 16, seed=2, epoch=0)


def test_training_batches_are_grouped_by_length() -> None:
    lengths = [3 + index * 37 % 100 for index in range(POOLS * POOL * 16)]
    batches = training_batches(lengths, 16, seed=1, epoch=0)
    padded = sum(len(batch) * max(lengths[index] for index in batch) for batch in batches)
    assert sum(lengths) / padded > 0.95


@given(st.lists(st.integers(0, 4), min_size=1, max_size=200), st.integers(1, 40), st.integers(0, 3))
def test_oversampled_epochs_have_each_class_equally_often(classes: list[int], size: int, epoch: int) -> None:
    lengths = [3 + index * 7 % 50 for index in range(len(classes))]
    batches = training_batches(lengths, size, seed=1, epoch=epoch, classes=classes)
    chosen = [index for batch in batches for index in batch]
    frequencies = Counter(classes[index] for index in chosen)
    assert set(frequencies) == set(classes)
    assert set(frequencies.values()) == {max(Counter(classes).values())}
    assert len(chosen) == epoch_size(len(classes), classes)
    assert len(batches) == -(-len(chosen) // size)
    for one in set(classes):  # no input is there twice more than another of its class
        times = Counter(index for index in chosen if classes[index] == one)
        assert len(times) == classes.count(one) and max(times.values()) - min(times.values()) <= 1


def test_oversampling_follows_from_seed_and_epoch() -> None:
    classes = [0] * 50 + [1] * 30 + [2] * 7
    lengths = list(range(3, 3 + len(classes)))
    first = training_batches(lengths, 8, seed=1, epoch=0, classes=classes)
    assert first == training_batches(lengths, 8, seed=1, epoch=0, classes=classes)
    others = [training_batches(lengths, 8, *which, classes=classes) for which in ((1, 1), (2, 0))]

    def extra(batches: list[list[int]]) -> Counter[int]:
        return Counter(index for batch in batches for index in batch)

    assert all(extra(first) != extra(other) for other in others)


def test_classes_equally_frequent_are_left_alone() -> None:
    assert epoch_size(6, None) == epoch_size(6, [0, 1, 2, 0, 1, 2]) == 6
    assert epoch_size(4, [0, 0, 0, 1]) == 6


@given(LENGTHS, st.integers(1, 2000))
def test_prediction_batches_hold_everything_once_within_the_budget(lengths: list[int], tokens: int) -> None:
    batches = prediction_batches(lengths, tokens)
    assert sorted(index for batch in batches for index in batch) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch) == 1 or len(batch) * max(lengths[index] for index in batch) <= tokens


def test_an_oversampled_run_makes_the_steps_that_its_epochs_have(tmp_path: Path) -> None:
    """13 examples of one label and 5 of the other are epochs of 26 inputs: 7 steps of 4."""
    examples = [
        SequenceExample(id=str(n), document=None, text="ba " * (1 + n % 5), label="no" if n < 13 else "yes")
        for n in range(18)
    ]
    for split in ("train", "dev"):
        write_examples(tmp_path / f"data/{split}.jsonl.gz", examples)
    model = save_encoder(tmp_path / "bert", "bert")
    recipe = FinetuningRecipe(
        task="sequence", metric="accuracy", learning_rate=1e-3, batch_size=4, epochs=2, oversample=True
    )
    report = finetune(FinetuningJob(recipe, model, tmp_path / "data", 1, "dev")).report
    assert report["steps"] == 2 * 7
    without = finetune(
        FinetuningJob(replace(recipe, oversample=False), model, tmp_path / "data", 1, "dev")
    ).report
    assert without["steps"] == 2 * 5


@pytest.mark.parametrize(("inputs", "size"), [(64, 16), (64, 8), (450, 16), (1100, 16)])
def test_inputs_of_a_small_dataset_meet_others_in_the_next_epoch(inputs: int, size: int) -> None:
    """Most pairs of a batch don't share one again; sorted in a single pool, up to all of them would."""
    lengths = list(np.random.default_rng(1).integers(3, 512, inputs))
    pairs = [
        {pair for batch in batches for pair in combinations(sorted(batch), 2)}
        for batches in (training_batches(lengths, size, 1, epoch) for epoch in range(2))
    ]
    assert len(pairs[0] & pairs[1]) / len(pairs[0]) < 0.3


def test_the_longest_inputs_are_not_always_those_of_the_smaller_batch() -> None:
    lengths = list(range(3, 3 + 16 * 40 + 2))
    smaller = [min(training_batches(lengths, 16, 1, epoch), key=len) for epoch in range(30)]
    assert {len(batch) for batch in smaller} == {2}
    assert sum(len(lengths) - 1 in batch for batch in smaller) < 10
