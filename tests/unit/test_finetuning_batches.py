"""Which inputs are computed together."""

from hypothesis import given
from hypothesis import strategies as st

from pubmill.finetuning.batches import POOL, prediction_batches, training_batches

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
    lengths = [3 + index * 37 % 100 for index in range(POOL * 16)]
    batches = training_batches(lengths, 16, seed=1, epoch=0)
    padded = sum(len(batch) * max(lengths[index] for index in batch) for batch in batches)
    assert sum(lengths) / padded > 0.95


@given(LENGTHS, st.integers(1, 2000))
def test_prediction_batches_hold_everything_once_within_the_budget(lengths: list[int], tokens: int) -> None:
    batches = prediction_batches(lengths, tokens)
    assert sorted(index for batch in batches for index in batch) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch) == 1 or len(batch) * max(lengths[index] for index in batch) <= tokens
