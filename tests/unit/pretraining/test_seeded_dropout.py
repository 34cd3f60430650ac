"""Dropout by seeds: its rate, its independence, and its gradient."""

import pytest
import torch

from pubmill.pretraining.seeded_dropout import SeededDropout, draw_seeds, keep_mask, mix

ROWS, COLUMNS = 512, 384
COUNT = ROWS * COLUMNS


def masks(number: int, rate: float = 0.25) -> torch.Tensor:
    """Masks of so many seeds (number, ROWS, COLUMNS), as float."""
    torch.manual_seed(4)
    values = torch.empty(ROWS, COLUMNS)
    seeds = draw_seeds(number, device=values.device)
    return torch.stack([keep_mask(values, rate, seed) for seed, _ in seeds]).double()


def test_mixing_is_a_permutation_that_matches_its_definition() -> None:
    def plainly(number: int) -> int:
        number = (number ^ number >> 16) * 0x7FEB352D % 2**32
        number = (number ^ number >> 15) * 0x846CA68B % 2**32
        return number ^ number >> 16

    numbers = [0, 1, 2, 3, 65_536, 2**31 - 1, 2**31, 2**32 - 1]
    signed = [number - 2**32 * (number >= 2**31) for number in numbers]
    found = mix(torch.tensor(signed, dtype=torch.int32))
    assert found.dtype == torch.int32
    assert [number % 2**32 for number in found.tolist()] == [plainly(number) for number in numbers]


@pytest.mark.parametrize("rate", [0.1, 0.25, 0.9])
def test_elements_rows_and_columns_are_kept_at_the_rate(rate: float) -> None:
    (mask,) = masks(1, rate)
    deviation = (rate * (1 - rate)) ** 0.5
    for mean, count in ((mask.mean(), COUNT), (mask.mean(0), ROWS), (mask.mean(1), COLUMNS)):
        assert (mean - (1 - rate)).abs().max() < 5 * deviation / count**0.5


def test_masks_are_not_correlated() -> None:
    """Neither those of two seeds, shifted or not, nor the neighbours in one."""
    first, second = masks(2) - 0.75
    pairs = {
        "seeds": (first, second),
        "next column": (first[:, :-1], first[:, 1:]),
        "next row": (first[:-1], first[1:]),
        "seeds, next row": (first[:-1], second[1:]),
        "far rows": (first[:256], first[256:]),
    }
    for name, (left, right) in pairs.items():
        correlation = (left * right).mean() / (0.25 * 0.75)
        assert correlation.abs() < 5 / left.numel() ** 0.5, name


def test_seeds_that_differ_in_one_bit_have_other_masks() -> None:
    values, seed = torch.empty(ROWS, COLUMNS), torch.tensor([5, 9], dtype=torch.int32)
    mask = keep_mask(values, 0.5, seed)
    for other in ([4, 9], [5, 8], [5 - 2**31, 9], [9, 5]):
        same = (mask == keep_mask(values, 0.5, torch.tensor(other, dtype=torch.int32))).double().mean()
        assert abs(same - 0.5) < 5 * 0.5 / COUNT**0.5


def test_the_gradient_has_the_mask_of_the_values() -> None:
    torch.manual_seed(1)
    (seed,) = draw_seeds(1, device=torch.device("cpu"))
    values = torch.rand(ROWS, COLUMNS, dtype=torch.float64).add(1).requires_grad_()
    kept = SeededDropout.apply(values, 0.25, seed)
    (slope,) = torch.autograd.grad(kept.sum(), values)
    torch.testing.assert_close(slope * values, kept)
    assert set(slope.unique().tolist()) == {0.0, 1 / 0.75}
    assert torch.equal(kept, SeededDropout.apply(values, 0.25, seed))
