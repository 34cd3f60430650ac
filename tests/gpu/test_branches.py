"""What a processor computes in attention is what GPUs compute by torch's own function."""

import torch
import torch.nn.functional as F

from pubmill.pretraining.forward import plain_attention


def test_attention_by_products_is_torchs_attention() -> None:
    """With and without padding, and its gradients."""
    torch.manual_seed(1)
    query, key, value = (torch.randn(2, 3, 5, 4, requires_grad=True) for _ in range(3))
    lengths = torch.tensor([5, 3])
    for mask in (None, (torch.arange(5) < lengths[:, None])[:, None, None]):
        found = plain_attention(query, key, value, mask, 0.0)
        expected = F.scaled_dot_product_attention(query, key, value, mask, 0.0)
        torch.testing.assert_close(found, expected)
        both, given = (found, expected), (query, key, value)
        slopes, theirs = (torch.autograd.grad(one.square().sum(), given) for one in both)
        torch.testing.assert_close(slopes, theirs)
