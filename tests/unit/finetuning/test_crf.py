"""The CRF against all labellings written out, and the BiLSTM against an instance by itself."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.utils.rnn import pack_sequence

from pubmill.finetuning.heads import BiLstm, LinearChain, packing
from pubmill.finetuning.inputs import Batch
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
    """Of one labelling of one instance."""
    total = chain.start[path[0]] + chain.end[path[-1]]
    for place, label in enumerate(path):
        total = total + scores[place, label]
        if place:
            total = total + chain.transitions[path[place - 1], label]
    return total


def all_scores(chain: LinearChain, scores: torch.Tensor) -> dict[tuple[int, ...], torch.Tensor]:
    paths = product(range(scores.shape[1]), repeat=len(scores))
    return {path: score(chain, scores, path) for path in paths}


@given(LABELS, COUNTS, SEEDS)
def test_likelihood_best_labelling_and_marginals_are_those_of_all_labellings(
    labels: int, counts: list[int], seed: int
) -> None:
    """With the gradients of the likelihood."""
    chain, scores = chain_and_scores(labels, counts, seed)
    gold = torch.randint(labels, (sum(counts),))
    found = chain(scores, counts, gold)
    with torch.inference_mode():
        best, shares = chain.decode(scores, counts), chain.marginals(scores.clone(), counts)
    expected = torch.zeros(())
    for own, right, path, rows in zip(
        *(torch.split(one, counts) for one in (scores, gold, best, shares)), strict=True
    ):
        every = all_scores(chain, own)
        values = torch.stack(list(every.values()))
        expected = expected + values.logsumexp(0) - every[tuple(right.tolist())]
        assert tuple(path.tolist()) == max(every, key=lambda one: float(every[one]))
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


def test_a_chain_that_learnt_nothing_yet_is_a_cross_entropy_per_place() -> None:
    torch.manual_seed(1)
    scores, gold, counts = torch.randn(9, 4), torch.randint(4, (9,)), [2, 6, 1]
    chain = LinearChain(4)
    expected = torch.nn.functional.cross_entropy(scores, gold)
    torch.testing.assert_close(chain(scores, counts, gold), expected)
    assert chain.decode(scores, counts).equal(scores.argmax(1))


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


@given(COUNTS, SEEDS)
def test_an_instance_gets_the_scores_that_it_gets_alone(counts: list[int], seed: int) -> None:
    torch.manual_seed(seed)
    head, places = BiLstm(8, 3, LSTM).eval(), torch.randn(sum(counts), 8)
    with torch.inference_mode():
        together = torch.split(head(places, batch(counts)), counts)
        for rows, scores in zip(torch.split(places, counts), together, strict=True):
            torch.testing.assert_close(head(rows, batch([len(rows)])), scores, atol=1e-6, rtol=1e-5)


def test_the_lstm_reads_both_ways_and_no_other_instance() -> None:
    """A place's gradient reaches every place of its instance, and no place of another."""
    torch.manual_seed(1)
    head, places = BiLstm(8, 3, LSTM).eval(), torch.randn(9, 8, requires_grad=True)
    head(places, batch([2, 4, 3]))[3].sum().backward()
    assert places.grad is not None
    assert places.grad.ne(0).any(1).tolist() == [False] * 2 + [True] * 4 + [False] * 3


def test_the_lstm_stays_in_float32() -> None:
    torch.manual_seed(1)
    head, places = BiLstm(8, 3, LSTM).eval(), torch.randn(5, 8)
    with torch.autocast("cpu", torch.bfloat16):
        mixed = head(places, batch([2, 3]))
    assert mixed.dtype == torch.float32 and mixed.equal(head(places, batch([2, 3])))


@given(st.lists(st.integers(1, 12), min_size=1, max_size=20))
def test_packing_on_the_host_is_that_of_torch(counts: list[int]) -> None:
    rows = [torch.arange(count) + 100 * number for number, count in enumerate(counts)]
    expected = pack_sequence(rows, enforce_sorted=False)
    order, packed, sizes = packing(counts)
    assert expected.sorted_indices is not None
    assert order.tolist() == expected.sorted_indices.tolist()
    assert torch.cat(rows)[torch.from_numpy(packed)].equal(expected.data)
    assert sizes.tolist() == expected.batch_sizes.tolist()
