"""Which inputs are computed together."""

from collections import Counter
from itertools import combinations, pairwise

from hypothesis import given
from hypothesis import strategies as st

from pubmill.finetuning.inputs import ends_of_parts, prediction_batches, training_batches

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
    ends = ends_of_parts(widths, cost, step)
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
    batches = prediction_batches(lengths, tokens)
    assert sorted(index for batch in batches for index in batch) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch) == 1 or len(batch) * max(lengths[index] for index in batch) <= tokens
