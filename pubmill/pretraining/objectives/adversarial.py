"""Masked language modelling with virtual adversarial training."""

import torch
from torch import Tensor

from pubmill.pretraining.forward import embed, encode
from pubmill.pretraining.micro_batches import Part
from pubmill.pretraining.objectives.learner import Learner, divergence


class AdversarialLearner(Learner):
    """With virtual adversarial training on the embeddings, see `pubmill.recipes.Adversarial`."""

    def forward(self, part: Part) -> dict[str, Tensor]:
        # the same units are dropped in each pass, as else dropout would drown noise as small as this
        seed = int(torch.randint(2**62, ()).item())
        torch.manual_seed(seed)
        embedded = embed(self.model, part.ids, part.segments)
        state = _random_state(embedded)
        vectors = encode(self.model, embedded, part.mask, part.rows, self.recompute)
        logits = self.logits(vectors, part).float()
        noise = self._noise(embedded.detach(), logits.detach(), part, state)
        moved = self._predict(embedded.detach() + noise, part, state)
        loss = divergence(moved, logits.detach()) + divergence(logits, moved.detach())
        return self.masked_lm(logits, part) | self.pair_losses(vectors, part) | {"adversarial_loss": loss}

    def _predict(self, embedded: Tensor, part: Part, state: Tensor) -> Tensor:
        _set_random_state(embedded, state)
        vectors = encode(self.model, embedded, part.mask, part.rows, self.recompute)
        return self.logits(vectors, part).float()

    def _noise(self, embedded: Tensor, logits: Tensor, part: Part, state: Tensor) -> Tensor:
        """Return the step from the embeddings in which the predictions change most; a scale of their slope
        cancels out."""
        wanted = self.objective.adversarial
        assert wanted is not None
        noise = (torch.randn_like(embedded) * wanted.noise).requires_grad_()
        change = divergence(self._predict(embedded + noise, part, state), logits)
        (slope,) = torch.autograd.grad(change, noise, torch.full_like(change, self.slope_scale))
        largest = slope.abs().amax(-1, keepdim=True)
        return wanted.radius * slope / largest.clamp_min(torch.finfo(slope.dtype).tiny)


def _random_state(like: Tensor) -> Tensor:
    return torch.cuda.get_rng_state(like.device) if like.is_cuda else torch.get_rng_state()


def _set_random_state(like: Tensor, state: Tensor) -> None:
    if like.is_cuda:
        torch.cuda.set_rng_state(state, like.device)
    else:
        torch.set_rng_state(state)
