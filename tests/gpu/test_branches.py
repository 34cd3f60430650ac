"""What a processor computes in attention is what GPUs compute by torch's own function."""

import torch
import torch.nn.functional as F

from pubmill.pretraining.forward import plain_attention


def test_attention_by_products_is_torchs_attention() -> None:
    """With and without padding, and its gradients."""
    torch.manual_seed(1)
    tensors = [torch.randn(2, 3, 5, 4, requires_grad=True) for _ in range(3)]
    lengths = torch.tensor([5, 3])
    for mask in (None, (torch.arange(5) < lengths[:, None])[:, None, None]):
        found, expected = (
            attend(*tensors, mask, 0.0) for attend in (plain_attention, F.scaled_dot_product_attention)
        )
        torch.testing.assert_close(found, expected)
        slopes, theirs = (torch.autograd.grad(one.square().sum(), tensors) for one in (found, expected))
        torch.testing.assert_close(slopes, theirs)
