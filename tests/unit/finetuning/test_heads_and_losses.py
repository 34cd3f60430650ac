"""The CRF against all labellings written out, the BiLSTM against an instance by itself, and losses against
their formulas worked out by hand."""

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from pubmill.finetuning.heads import BiLstm, LinearChain
from pubmill.finetuning.inputs import Batch
from pubmill.finetuning.tasks import task as losses
from tests.unit.toy_tasks import TOKENS

COUNTS = st.lists(st.integers(1, 4), min_size=1, max_size=4)
LABELS = st.integers(1, 3)
SEEDS = st.integers(0, 10**6)


def chain_and_scores(labels: int, counts: Sequence[int], seed: int) -> tuple[LinearChain, torch.Tensor]:
    """A chain with random transitions, and scores that want gradients."""
    torch.manual_seed(seed)
    chain = LinearChain(labels)
    for parameter in chain.parameters():
        torch.nn.init.normal_(parameter)
    return chain, torch.randn(sum(counts), labels).requires_grad_()


def score(chain: LinearChain, scores: torch.Tensor, path: Sequence[int]) -> torch.Tensor:
    total = chain.start[path[0]] + chain.end[path[-1]]
    for place, label in enumerate(path):
        total = total + scores[place, label]
        if place:
            total = total + chain.transitions[path[place - 1], label]
    return total


@settings(max_examples=40)
@given(LABELS, COUNTS, SEEDS)
def test_likelihood_best_labelling_and_marginals_are_those_of_all_labellings(
    labels: int, counts: list[int], seed: int
) -> None:
    chain, scores = chain_and_scores(labels, counts, seed)
    gold = torch.randint(labels, (sum(counts),))
    found = chain(scores, counts, gold)
    with torch.inference_mode():
        best, shares = chain.decode(scores, counts), chain.marginals(scores.clone(), counts)
    expected = torch.zeros(())
    for own, right, found_path, rows in zip(
        *(torch.split(one, counts) for one in (scores, gold, best, shares)), strict=True
    ):
        every = {path: score(chain, own, path) for path in product(range(labels), repeat=len(own))}
        values = torch.stack(list(every.values()))
        expected = expected + values.logsumexp(0) - every[tuple(right.tolist())]
        assert tuple(found_path.tolist()) == max(every, key=lambda one: float(every[one]))
        labelled = torch.nn.functional.one_hot(torch.tensor(list(every)), labels) * 1.0
        marginals = torch.einsum("n,npl->pl", values.detach().softmax(0), labelled)
        torch.testing.assert_close(rows.clone(), marginals, atol=1e-4, rtol=0)
    torch.testing.assert_close(found, expected / sum(counts))
    wanted = [scores, *chain.parameters()]
    ours, theirs = (
        torch.autograd.grad(one, wanted, allow_unused=True, materialize_grads=True)
        for one in (found, expected / sum(counts))
    )
    torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-4)


def test_extreme_scores_and_long_instances_have_finite_gradients() -> None:
    chain, _ = chain_and_scores(5, [1], 1)
    scores = (torch.randn(401, 5) * 1e4).requires_grad_()
    chain(scores, [1, 400], torch.randint(5, (401,))).backward()
    assert all(
        parameter.grad is not None and parameter.grad.isfinite().all() for parameter in chain.parameters()
    )
    assert scores.grad is not None and scores.grad.isfinite().all()


def batch(counts: list[int]) -> Batch:
    """One of which a head reads the counts alone."""
    nothing = torch.empty(0)
    return Batch(inputs=nothing, places=nothing, counts=counts, groups=None)


LSTM = replace(TOKENS, head="bilstm", head_sizes=[6], head_dropout=0.5)


@settings(max_examples=40)
@given(COUNTS, SEEDS)
def test_an_instance_gets_the_scores_that_it_gets_alone(counts: list[int], seed: int) -> None:
    torch.manual_seed(seed)
    head, places = BiLstm(8, 3, LSTM).eval(), torch.randn(sum(counts), 8)
    with torch.inference_mode():
        together = torch.split(head(places, batch(counts)), counts)
        for rows, scores in zip(torch.split(places, counts), together, strict=True):
            torch.testing.assert_close(head(rows, batch([len(rows)])), scores, atol=1e-6, rtol=1e-5)


def test_the_lstm_reads_both_ways_and_no_other_instance_and_stays_in_float32() -> None:
    """A place's gradient reaches every place of its instance, and no place of another."""
    torch.manual_seed(1)
    head, places = BiLstm(8, 3, LSTM).eval(), torch.randn(9, 8, requires_grad=True)
    head(places, batch([2, 4, 3]))[3].sum().backward()
    assert places.grad is not None
    assert places.grad.ne(0).any(1).tolist() == [False] * 2 + [True] * 4 + [False] * 3
    with torch.autocast("cpu", torch.bfloat16):
        mixed = head(places, batch([2, 4, 3]))
    assert mixed.dtype == torch.float32 and mixed.equal(head(places, batch([2, 4, 3])))


PROBABILITIES = [[0.5, 0.25, 0.25], [0.1, 0.2, 0.7], [0.3, 0.3, 0.4]]
SCORES = torch.log(torch.tensor(PROBABILITIES, dtype=torch.float64)) + 3.0
TARGETS = torch.tensor([0, 1, 1])


def test_losses_of_classes_are_the_formulas() -> None:
    """Weighted cross-entropy is divided by the number of examples; the dice loss is that of Li et al. (2019),
    section 3.3, with y = 1, alpha = 0.01 and gamma = 1."""
    weights = torch.tensor([0.5, 2.0, 7.0], dtype=torch.float64)
    q = [(1 - p) ** 0.01 * p for p in (0.5, 0.2, 0.3)]
    by_hand = {
        "cross-entropy": -(math.log(0.5) + math.log(0.2) + math.log(0.3)) / 3,
        "weighted": -(0.5 * math.log(0.5) + 2.0 * math.log(0.2) + 2.0 * math.log(0.3)) / 3,
        "dice": sum(1 - (2 * one * 1 + 1) / (one + 1 + 1) for one in q) / 3,
    }
    for name, expected in by_hand.items():
        assert losses.classification_loss(name, SCORES, TARGETS, weights).item() == pytest.approx(expected)


def test_class_weights_are_inverse_to_frequency() -> None:
    assert losses.class_weights([1, 3]) == [2.0, pytest.approx(2 / 3)]
    assert losses.class_weights([2, 0, 2]) == [1.0, 0.0, 1.0]
    absence, presence = losses.label_weights([1, 5, 0, 10], examples=10)
    assert absence == [pytest.approx(10 / 18), 1.0, 1.0, 0.0] and presence == [5.0, 1.0, 0.0, 1.0]


@pytest.mark.parametrize("margin", [0.0, 5.0, 20.0, 100.0, -100.0])
def test_dice_loss_has_finite_gradients_however_sure_the_scores(margin: float) -> None:
    scores = torch.tensor([[margin, 0.0], [0.0, margin]], requires_grad=True)
    loss = losses.dice_loss(scores, torch.tensor([0, 0]))
    loss.backward()
    assert scores.grad is not None and torch.isfinite(scores.grad).all()
    assert 0 <= loss.item() <= 0.5


def test_binary_cross_entropy_is_the_mean_over_examples_and_labels() -> None:
    scores = torch.logit(torch.tensor([[0.5, 0.2], [0.9, 0.4]], dtype=torch.float64))
    targets = torch.tensor([[1.0, 0.0], [0.0, 1.0]], dtype=torch.float64)
    logs = [math.log(0.5), math.log(0.8), math.log(0.1), math.log(0.4)]
    assert losses.multilabel_loss(scores, targets, None).item() == pytest.approx(-sum(logs) / 4)
    weights = torch.tensor([[2.0, 3.0], [5.0, 7.0]], dtype=torch.float64)
    by_hand = -(5 * logs[0] + 3 * logs[1] + 2 * logs[2] + 7 * logs[3]) / 4
    assert losses.multilabel_loss(scores, targets, weights).item() == pytest.approx(by_hand)
