"""Cross entropy a few positions at a time is torch's own."""

from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from pubmill.pretraining import cross_entropy as module
from pubmill.pretraining.cross_entropy import cross_entropy
from pubmill.pretraining.instances import UNLABELLED


def theirs(logits: Tensor, labels: Tensor) -> tuple[Tensor, Tensor, Any]:
    given = logits.clone().requires_grad_()
    loss = F.cross_entropy(given.float(), labels, reduction="sum")
    (loss / 3).backward()
    return loss, (logits.argmax(-1) == labels).sum(), given.grad


def ours(logits: Tensor, labels: Tensor) -> tuple[Tensor, Tensor, Any]:
    given = logits.clone().requires_grad_()
    loss, right = cross_entropy(given, labels)
    (loss / 3).backward()
    return loss, right, given.grad


@pytest.mark.parametrize("few", [1, 40, 1 << 18], ids=["one at a time", "two", "all"])
@pytest.mark.parametrize("kind", [torch.float32, torch.bfloat16])
def test_loss_gradient_and_right_choices(
    kind: torch.dtype, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "IN_CACHE", few)
    torch.manual_seed(1)
    logits, labels = (torch.randn(9, 17) * 5).to(kind), torch.randint(17, (9,))
    labels[3], labels[[1, 4]] = logits[3].argmax(), UNLABELLED
    (loss, right, gradient), (their_loss, their_right, their_gradient) = (
        ours(logits, labels),
        theirs(logits, labels),
    )
    assert right == their_right and right >= 1
    assert loss.dtype == torch.float32 and gradient.dtype == kind
    torch.testing.assert_close(loss, their_loss)
    torch.testing.assert_close(gradient, their_gradient)


def test_of_equal_logits_the_first_is_the_choice() -> None:
    logits = torch.tensor([[0.0, 2.0, 2.0], [0.0, 2.0, 2.0]])
    assert cross_entropy(logits, torch.tensor([1, 2]))[1] == 1


def test_an_impossible_label_costs_what_it_does_and_not_infinity() -> None:
    logits, labels = torch.tensor([[1e4, -1e4, 0.0]]), torch.tensor([1])
    loss, right, gradient = ours(logits, labels)
    assert loss == 2e4 and right == 0
    torch.testing.assert_close(gradient, torch.tensor([[1.0, -1.0, 0.0]]) / 3)


def test_what_is_no_number_is_reported() -> None:
    loss, _ = cross_entropy(torch.tensor([[float("nan"), 0.0]]), torch.tensor([1]))
    assert loss.isnan()


def test_nothing_is_asked() -> None:
    loss, right, gradient = ours(torch.zeros(0, 5), torch.zeros(0, dtype=torch.long))
    assert loss == 0 and right == 0 and gradient.shape == (0, 5)


def test_without_compilation_a_gpu_computes_all_positions_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same numbers as a processor's, by torch's own functions."""
    torch.manual_seed(1)
    logits, labels = torch.randn(9, 17), torch.randint(17, (9,))
    labels[2], labels[5] = logits[2].argmax(), UNLABELLED
    loss, right = module.cross_entropy_at_once(logits.bfloat16(), labels)
    expected, their_right, _ = theirs(logits.bfloat16(), labels)
    assert loss.dtype == torch.float32 and loss == expected and right == their_right >= 1
    there = logits.to("meta")
    taken: list[Tensor] = []
    monkeypatch.setattr(module, "cross_entropy_at_once", lambda *given: taken.append(given[0]))
    cross_entropy(there, labels)
    assert taken[0] is there
    cross_entropy(logits, labels)
    assert len(taken) == 1
