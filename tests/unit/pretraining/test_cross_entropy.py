"""Cross entropy a few positions at a time is torch's own."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from pubmill.pretraining import cross_entropy as module
from pubmill.pretraining.cross_entropy import cross_entropy, cross_entropy_at_once
from pubmill.pretraining.instances import UNLABELLED


def theirs(logits: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    return F.cross_entropy(logits.float(), labels, reduction="sum"), (logits.argmax(-1) == labels).sum()


def computed(function: Callable[..., Any], logits: Tensor, labels: Tensor) -> tuple[Tensor, Tensor, Any]:
    """The loss, the number of right choices, and the gradient of a third of the loss."""
    given = logits.clone().requires_grad_()
    loss, right = function(given, labels)
    (loss / 3).backward()
    return loss, right, given.grad


@pytest.mark.parametrize("few", [1, 40, 1 << 18, 0], ids=["one at a time", "two", "all", "on a GPU"])
@pytest.mark.parametrize("kind", [torch.float32, torch.bfloat16])
def test_loss_gradient_and_right_choices(
    kind: torch.dtype, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "IN_CACHE", few)
    torch.manual_seed(1)
    logits, labels = (torch.randn(9, 17) * 5).to(kind), torch.randint(17, (9,))
    labels[3], labels[[1, 4]] = logits[3].argmax(), UNLABELLED
    loss, right, gradient = computed(cross_entropy if few else cross_entropy_at_once, logits, labels)
    their_loss, their_right, their_gradient = computed(theirs, logits, labels)
    assert right == their_right and right >= 1
    assert loss.dtype == torch.float32 and gradient.dtype == kind
    torch.testing.assert_close(loss, their_loss)
    torch.testing.assert_close(gradient, their_gradient)


def test_without_compilation_another_device_computes_all_positions_at_once() -> None:
    loss, right = cross_entropy(torch.zeros(9, 17, device="meta"), torch.zeros(9, device="meta").long())
    assert loss.is_meta and right.is_meta


def test_odd_logits_have_a_loss_too() -> None:
    """Of equal logits the first is the choice; an impossible label costs what it does, not infinity; no
    positions have no loss, and what is no number is reported."""
    logits = torch.tensor([[0.0, 2.0, 2.0], [0.0, 2.0, 2.0]])
    assert cross_entropy(logits, torch.tensor([1, 2]))[1] == 1
    loss, right, gradient = computed(cross_entropy, torch.tensor([[1e4, -1e4, 0.0]]), torch.tensor([1]))
    assert loss == 2e4 and right == 0
    torch.testing.assert_close(gradient, torch.tensor([[1.0, -1.0, 0.0]]) / 3)
    loss, right, gradient = computed(cross_entropy, torch.zeros(0, 5), torch.zeros(0, dtype=torch.long))
    assert loss == 0 and right == 0 and gradient.shape == (0, 5)
    assert cross_entropy(torch.tensor([[float("nan"), 0.0]]), torch.tensor([1]))[0].isnan()
